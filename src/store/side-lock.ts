/** The lock that lets one daemon run on a database. It is held by the process, and falls when the process ends, however it does. */
import { MirrorError } from '../errors.ts';
import { connectWriter, type Sqlite } from './driver.ts';
import { catalogued, isBusy } from './sqlite-errors.ts';

export interface SideLock {
  release(): void;
}

/** Takes the lock beside a database. @throws MirrorError `already_running`, and of files. */
export function takeSideLock(database: string): SideLock {
  const path = `${database}.lock`;
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectWriter(path);
    sqlite.pragma('busy_timeout = 0');
    sqlite.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    sqlite?.close();
    if (isBusy(error)) throw new MirrorError('already_running', `Another daemon works on ${database}.`);
    throw catalogued(error, path);
  }
  const held = sqlite;
  return { release: () => void held.close() };
}
