/** SQLite's errors in the words of the catalogue. */
import { SqliteError } from './driver.ts';
import { MirrorError } from '../../domain/errors.ts';

/** Whether another connection holds the lock that was wanted. */
export function isBusy(error: unknown): boolean {
  return (
    error instanceof SqliteError && (error.code.startsWith('SQLITE_BUSY') || error.code.startsWith('SQLITE_LOCKED'))
  );
}

/**
 * Whether, by this error, it is unknown what has reached the disk: the kernel reports a failed sync once and then forgets it, so that only
 * a new start, which reads the file anew, tells.
 */
export function isFailedSync(error: unknown): boolean {
  return error instanceof SqliteError && /^SQLITE_IOERR_(DIR_)?FSYNC$/.test(error.code);
}

/** Whether SQLite cannot make sense of what stands in the file. */
export function isDamage(error: unknown): error is Error {
  if (!(error instanceof SqliteError)) return false;
  // A header that names a format no SQLite ever had is reported without a code of its own.
  return /^SQLITE_(CORRUPT|NOTADB)/.test(error.code) || error.message === 'unsupported file format';
}

/** Whether an error, or what caused it, is damage. */
export function isCausedByDamage(error: unknown): boolean {
  return isDamage(error) || (error instanceof MirrorError && isCausedByDamage(error.cause));
}

/** Whether nothing that is written after this error could be relied on. */
export function endsTrust(error: unknown): boolean {
  return isDamage(error) || isFailedSync(error);
}

/** Whether an error says something about the record that was being written, and nothing about the file. */
export function isRecordError(error: unknown): error is Error {
  if (error instanceof SqliteError) return /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)/.test(error.code);
  if (error instanceof MirrorError) return error.code === 'answer_unreadable' || error.code === 'row_unusable';
  // The driver's own complaints about a value, and what a record of an unknown shape makes of our code.
  return error instanceof TypeError || error instanceof RangeError;
}

/** An error of SQLite as a catalogued one that names the file; any other as it is. */
export function catalogued(error: unknown, path: string): unknown {
  if (!(error instanceof SqliteError)) return error;
  const say = (code: ConstructorParameters<typeof MirrorError>[0], what: string): MirrorError =>
    new MirrorError(code, `${path}: ${what} (${error.code}).`, { cause: error });
  if (isBusy(error)) return say('database_locked', 'the database stayed locked by another program');
  if (error.code === 'SQLITE_FULL') return say('disk_full', 'the disk is full');
  if (/^SQLITE_(CANTOPEN|READONLY|IOERR|PERM)/.test(error.code))
    return say('database_unusable', `the file cannot be used: ${error.message}`);
  if (error.code === 'SQLITE_NOTADB') return say('database_unusable', 'the file is no SQLite database');
  return isDamage(error) ? say('database_corrupt', 'the file is damaged') : error;
}
