/** What the log contains of an error. */

export interface ErrorFacts {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  /** Its causes, nearest first, by name and code. */
  readonly caused_by?: readonly string[];
}

/** The most causes that are logged; a chain of causes may be circular. */
const mostCauses = 5;

/**
 * The error's message, and of its causes only names and codes: their messages and properties may contain the request, including headers
 * with tokens. The stack is that of the innermost cause, where the fault is.
 */
export function errorFacts(error: unknown): ErrorFacts {
  if (!(error instanceof Error)) return { type: typeof error, message: 'A value that is not an Error was thrown.' };
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

/** The frames of a stack, without the lines that repeat the message. */
function framesOf({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
    .join('\n');
}

function withoutToken(text: string): string {
  return text.replace(/\b(bearer)\s+\S+/gi, '$1 [redacted]');
}
