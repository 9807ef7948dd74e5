/** The log: structured, on standard error, human-readable on a terminal. Secrets have a type that cannot be printed. */
import { pino, type DestinationStream, type Logger } from 'pino';
import { codeOf, exitStatus, MirrorError } from './errors.ts';

export type Log = Logger;

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Keys whose values are redacted, at the top level of an entry or one level down. */
const secretKeys = [
  'authorization',
  'accessToken',
  'access_token',
  'refresh_token',
  'client_secret',
  'verifier',
  'signature',
];

/** A logger that writes JSON lines to `stream`. */
export function createLog(level: LogLevel, stream: DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorFacts },
      redact: { paths: secretKeys.flatMap((key) => [key, `*.${key}`]), censor: '[redacted]' },
    },
    stream,
  );
}

/** A formatter for terminals: takes an entry as parsed from its JSON line, returns text that ends with a line break. */
export async function prettyEntries(colors: boolean): Promise<(entry: object) => string> {
  const { prettyFactory } = (await import('pino-pretty')).default;
  return prettyFactory({
    singleLine: true,
    colorize: colors,
    translateTime: 'SYS:HH:MM:ss',
    errorLikeObjectKeys: ['err'],
  });
}

export const silentLog: Log = pino({ level: 'silent' });

/** The most causes that are logged; a chain of causes may be circular. */
const maxCauses = 5;

/**
 * The error's message, and of its causes only names and codes: their messages and properties may contain the request, including headers
 * with tokens. The stack is that of the innermost cause, where the fault is, unless it is in what a person wrote.
 */
function errorFacts(error: unknown) {
  if (!(error instanceof Error)) return { type: typeof error, message: 'A value that is not an Error was thrown.' };
  const causes: Error[] = [];
  for (let at = error.cause; at instanceof Error && causes.length < maxCauses; at = at.cause) causes.push(at);
  const code = codeOf(error);
  const frames = isFaultOfCode(error) ? framesOf(causes.at(-1) ?? error) : '';
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

/** Whether the place in the program could say anything: not of a command line or settings that are refused. */
function isFaultOfCode(error: Error): boolean {
  return !(error instanceof MirrorError) || (error.exit !== exitStatus.usage && error.exit !== exitStatus.settings);
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
