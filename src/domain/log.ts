/** The log: structured, on standard error, pretty on a terminal; secrets are a type that cannot be printed. */
import { pino, type DestinationStream, type Logger } from 'pino';
import { errorFacts } from './error-facts.ts';

export { Secret } from './secret.ts';

export type Log = Logger;

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Keys whose values never reach a log line, at the top of an entry or one level down. */
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

/** Makes entries readable for a person: an entry as parsed from its JSON line, to text with a line break at its end. */
export async function prettyEntries(colors: boolean): Promise<(entry: object) => string> {
  const { prettyFactory } = (await import('pino-pretty')).default;
  return prettyFactory({
    singleLine: true,
    colorize: colors,
    translateTime: 'SYS:HH:MM:ss',
    errorLikeObjectKeys: ['err'],
  });
}

/** For where nothing shall be said. */
export const silentLog: Log = pino({ level: 'silent' });
