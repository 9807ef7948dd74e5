/** The log: structured, on standard error, human-readable on a terminal. Secrets have a type that cannot be printed. */
import { pino, type DestinationStream, type Logger } from 'pino';
import { errorFacts } from './error-facts.ts';

export { Secret } from './secret.ts';

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

/** Logs nothing. */
export const silentLog: Log = pino({ level: 'silent' });
