/** Locks on files beside the database. They are released when the process ends, for whatever reason. */
import { existsSync, statSync, utimesSync } from 'node:fs';
import { MirrorError } from '../../domain/errors.ts';
import { resolvedPath } from './own-files.ts';
import { connectReader, connectWriter, type Sqlite } from '../sqlite/driver.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';
import { catalogued, isBusy } from '../sqlite/sqlite-errors.ts';

export interface SideLock {
  release(): void;
}

/** A process that checks for a daemon holds the lock briefly, in milliseconds. */
const probeWait = 50;

/**
 * Takes the lock that allows one daemon for a database, and sets the time of its file to the start.
 * @param now wall time, milliseconds since 1970
 * @throws MirrorError `already_running`, and of files.
 */
export function takeSideLock(database: string, now: number): SideLock {
  const lock = lockFile(lockPathOf(database), probeWait);
  if (!lock) throw new MirrorError('already_running', `Another daemon works on ${database}.`);
  utimesSync(lockPathOf(database), now / 1_000, now / 1_000);
  return { release: () => void lock.close() };
}

/** Whether a daemon uses a database, including this process. Creates no file. @throws MirrorError of files. */
export function isDaemonAt(database: string): boolean {
  const path = lockPathOf(database);
  if (!existsSync(path)) return false;
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    sqlite.pragma('busy_timeout = 0');
    plainStatement(sqlite, 'SELECT count(*) FROM sqlite_schema').get({});
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw catalogued(error, path);
  } finally {
    sqlite?.close();
  }
}

/** When the daemon that uses a database started, milliseconds since 1970; undefined where none runs. */
export function daemonSince(database: string): number | undefined {
  return isDaemonAt(database) ? statSync(lockPathOf(database), { throwIfNoEntry: false })?.mtimeMs : undefined;
}

/** A symbolic link to the database leads to the same lock. */
const lockPathOf = (database: string): string => `${resolvedPath(database)}.lock`;

/**
 * Locks a file, creating it where needed, within `wait` milliseconds.
 * @returns undefined where another process holds it.
 * @throws MirrorError of files.
 */
export function lockFile(path: string, wait = 0): Sqlite | undefined {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectWriter(path, wait);
    // Nothing is ever written, so a journal would only be left behind.
    sqlite.pragma('journal_mode = MEMORY');
    sqlite.exec('BEGIN EXCLUSIVE');
    return sqlite;
  } catch (error) {
    sqlite?.close();
    if (isBusy(error)) return undefined;
    throw catalogued(error, path);
  }
}
