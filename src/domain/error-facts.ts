/** Errors as the log shows them. */

export interface ErrorFacts {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  /** The errors behind it, nearest first, by name and code. */
  readonly caused_by?: readonly string[];
}

/** Causes that are told of at most; a chain may be a circle. */
const mostCauses = 5;

/**
 * An error's own words, and of the errors behind it only their names and codes: those carry what was under way, headers with
 * tokens included. The stack is that of the innermost one, for there the fault is.
 */
export function errorFacts(error: unknown): ErrorFacts {
  if (!(error instanceof Error)) return { type: typeof error, message: 'Something was thrown that is no error.' };
  const causes: Error[] = [];
  for (let at = error.cause; at instanceof Error && causes.length < mostCauses; at = at.cause) causes.push(at);
  const code = codeOf(error);
  const frames = framesOf(causes.at(-1) ?? error);
  return {
    type: error.name,
    message: withoutToken(error.message),
    ...(code !== undefined && { code }),
    ...(frames !== '' && { stack: frames }),
    ...(causes.length > 0 && {
      caused_by: causes.map((cause) => [cause.name, codeOf(cause)].filter(Boolean).join(' ')),
    }),
  };
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The lines of a stack that say where, without those that repeat the message. */
function framesOf({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
    .join('\n');
}

function withoutToken(text: string): string {
  return text.replace(/\b(bearer)\s+\S+/gi, '$1 [redacted]');
}
