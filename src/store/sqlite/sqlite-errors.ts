/** What goes wrong in SQLite: errors and what they mean for the file, and SQLite's own checks of it. */
import { RefusedValue } from '../sql/database.ts';
import { MirrorError } from '../../domain/errors.ts';
import { forbiddenText, isDiskFull, localDisk } from './file-systems.ts';
import { SqliteError, type Sqlite } from './driver.ts';
import { lockHolder, lockRemedy } from './lock-holder.ts';

export function isBusy(error: unknown): boolean {
  return (
    error instanceof SqliteError && (error.code.startsWith('SQLITE_BUSY') || error.code.startsWith('SQLITE_LOCKED'))
  );
}

/**
 * Whether a sync failed, so that it is unknown what is on disk: the kernel reports the failure once and forgets it, so only a new start,
 * which reads the file again, knows.
 */
export function isFailedSync(error: unknown): boolean {
  return error instanceof SqliteError && /^SQLITE_IOERR_(DIR_)?FSYNC$/.test(error.code);
}

/** Whether the content of the file is damaged. */
export function isDamage(error: unknown): error is Error {
  if (!(error instanceof SqliteError)) return false;
  // An unknown format in the header is reported without an error code of its own.
  return /^SQLITE_(CORRUPT|NOTADB)/.test(error.code) || error.message === 'unsupported file format';
}

/** Whether an error, or its cause, is damage. */
export function isCausedByDamage(error: unknown): boolean {
  return isDamage(error) || (error instanceof MirrorError && isCausedByDamage(error.cause));
}

/** Whether later writes to the file could not be trusted after this error. */
export function endsTrust(error: unknown): boolean {
  return isDamage(error) || isFailedSync(error);
}

/** Whether an error concerns the record that was written, not the file. */
export function isRecordError(error: unknown): error is Error {
  if (error instanceof SqliteError) return /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)/.test(error.code);
  if (error instanceof RefusedValue) return true;
  if (error instanceof MirrorError) return error.code === 'answer_unreadable' || error.code === 'row_unusable';
  // Errors of the driver about a value, or of our code about a record of unknown shape.
  return error instanceof TypeError || error instanceof RangeError;
}

/** Converts an error of SQLite to a catalogued one that names the file; returns any other unchanged. */
export function catalogued(error: unknown, path: string): unknown {
  if (!(error instanceof SqliteError)) return error;
  const say = (code: ConstructorParameters<typeof MirrorError>[0], what: string): MirrorError =>
    new MirrorError(code, `${path}: ${what} (${error.code}).`, { cause: error });
  if (isBusy(error)) {
    const holder = lockHolder(path);
    const message = `${path}: the database stayed locked by ${holder?.who ?? 'another program'} (${error.code}).`;
    return new MirrorError('database_locked', message, { cause: error, remedy: holder && lockRemedy(holder) });
  }
  // A full disk has no room for the memory that connections share either.
  if (error.code === 'SQLITE_FULL' || (error.code.startsWith('SQLITE_IOERR') && isDiskFull(path)))
    return say('disk_full', 'the disk is full');
  if (error.code.startsWith('SQLITE_IOERR_SHM'))
    return new MirrorError(
      'database_unusable',
      `${path}: the file system gives no memory that connections share (${error.code}), which the journal needs.`,
      { cause: error, remedy: localDisk },
    );
  if (/^SQLITE_(CANTOPEN|READONLY|IOERR|PERM)/.test(error.code))
    return say('database_unusable', `the file cannot be used${forbiddenText(path)}: ${error.message}`);
  if (error.code === 'SQLITE_NOTADB') return say('database_unusable', 'the file is not an SQLite database');
  return isDamage(error) ? say('database_corrupt', 'the file is damaged') : error;
}

const maxFaults = 3;

/** The result of a full check; empty where the file is sound. Reads all of it, and compares indexes with tables. */
export function faultsOf(sqlite: Sqlite): string[] {
  return faultsIn(sqlite.pragma(`integrity_check(${maxFaults})`));
}

/** Like `faultsOf` in half the time, for a file that was written in one go: missing index entries are not found. */
export function coarseFaultsOf(sqlite: Sqlite): string[] {
  return faultsIn(sqlite.pragma(`quick_check(${maxFaults})`));
}

/** The faults in the result rows of such a pragma. */
export function faultsIn(rows: unknown): string[] {
  return (rows as Record<string, string>[]).flatMap((row) => Object.values(row)).filter((fault) => fault !== 'ok');
}
