/** What goes wrong while a mirror is read, as programs see it. */
import { MirrorError, type ErrorCode } from '../domain/errors.ts';

/**
 * - `usage`: a wrong argument, a query that is not one SELECT, or a mirror that was closed
 * - `database_unusable`: no file, no mirror, or a file that may not be read
 * - `database_older`: a mirror of an older version than this package
 * - `database_newer`: a mirror of a newer version than this package
 * - `database_corrupt`: a damaged file
 * - `database_locked`: another program kept the file locked
 * - `history_gone`: changes after this cursor are not known any more; `oldest` and `latest` say where to begin
 * - `driver_unusable`: the SQLite driver cannot be loaded
 * - `bug`: anything else
 */
export type ReaderErrorCode =
  | 'usage'
  | 'database_unusable'
  | 'database_older'
  | 'database_newer'
  | 'database_corrupt'
  | 'database_locked'
  | 'history_gone'
  | 'driver_unusable'
  | 'bug';

/** The message says what happened, the hint what to do. */
export class ReaderError extends Error {
  override readonly name: string = 'ReaderError';
  readonly code: ReaderErrorCode;
  readonly hint: string;
  /** With `history_gone`: the cursor after which nothing is missing. */
  readonly oldest: string | undefined;
  /** With `history_gone`: the latest cursor; everything before it is in the vendors themselves. */
  readonly latest: string | undefined;

  constructor(
    code: ReaderErrorCode,
    message: string,
    more: { hint?: string; oldest?: string; latest?: string; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.code = code;
    this.hint = more.hint ?? '';
    this.oldest = more.oldest;
    this.latest = more.latest;
  }
}

const codes: Partial<Record<ErrorCode, ReaderErrorCode>> = {
  usage: 'usage',
  database_unusable: 'database_unusable',
  // A file whose migrations are not ours.
  migration_failed: 'database_unusable',
  database_older: 'database_older',
  database_newer: 'database_newer',
  database_corrupt: 'database_corrupt',
  database_locked: 'database_locked',
  driver_unusable: 'driver_unusable',
};

/** Any thrown thing, as a reader's error. @internal */
export function asReaderError(error: unknown): ReaderError {
  if (error instanceof ReaderError) return error;
  if (!(error instanceof MirrorError))
    return new ReaderError('bug', error instanceof Error ? error.message : String(error), { cause: error });
  const { code, message, hint } = error;
  return new ReaderError(codes[code] ?? 'bug', message, { hint: code === 'usage' ? '' : hint, cause: error });
}
