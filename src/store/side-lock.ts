/** The lock that lets one daemon run on a database. It is held by the process, and falls when the process ends, however it does. */
import { existsSync } from 'node:fs';
import { MirrorError } from '../errors.ts';
import { connectReader, connectWriter, type Sqlite } from './driver.ts';
import { catalogued, isBusy } from './sqlite-errors.ts';

export interface SideLock {
  release(): void;
}

/** Takes the lock beside a database. @throws MirrorError `already_running`, and of files. */
export function takeSideLock(database: string): SideLock {
  const path = besideOf(database);
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectWriter(path);
    // Whoever looks whether a daemon runs is in the way for a moment.
    sqlite.pragma('busy_timeout = 50');
    sqlite.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    sqlite?.close();
    if (isBusy(error)) throw new MirrorError('already_running', `Another daemon works on ${database}.`);
    throw catalogued(error, path);
  }
  const held = sqlite;
  return { release: () => void held.close() };
}

/** Whether a daemon works on a database, this process's own included. Makes no file. @throws MirrorError of files. */
export function isDaemonAt(database: string): boolean {
  const path = besideOf(database);
  if (!existsSync(path)) return false;
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    sqlite.pragma('busy_timeout = 0');
    sqlite.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw catalogued(error, path);
  } finally {
    sqlite?.close();
  }
}

const besideOf = (database: string): string => `${database}.lock`;
