/** Replaces and checks copies, although other programs may have opened the earlier one. */
import { existsSync, rmSync } from 'node:fs';
import { MirrorError } from '../../domain/errors.ts';
import { connectAlone, connectReader, type Sqlite } from '../sqlite/driver.ts';
import { coarseFaultsOf } from '../sqlite/integrity.ts';
import { catalogued, isBusy, isDamage } from '../sqlite/sqlite-errors.ts';

/** Files that SQLite would treat as part of a new file of that name. */
const companions = ['-wal', '-journal', '-shm'];

/**
 * Replaces the file at `path` while no other program has it open and no journal is beside it: a journal would be applied to the new file.
 * Where there is none, readers of the old file may continue.
 * @throws MirrorError `database_locked` where another program uses the file.
 */
export function withoutCompanions(path: string, swap: () => void): void {
  if (!companions.some((suffix) => existsSync(path + suffix))) {
    swap();
    return;
  }
  let sqlite: Sqlite | undefined;
  try {
    sqlite = lockedWithoutJournal(path);
    for (const suffix of companions) rmSync(path + suffix, { force: true });
    swap();
  } catch (error) {
    if (isBusy(error))
      throw new MirrorError('database_locked', `${path} is open in another program, which keeps a journal beside it.`, {
        cause: error,
      });
    throw catalogued(error, path);
  } finally {
    sqlite?.close();
  }
}

/** An exclusive connection to a file, which then has no journal; undefined where the file is damaged. */
function lockedWithoutJournal(path: string): Sqlite | undefined {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectAlone(path);
    sqlite.exec('COMMIT');
    sqlite.pragma('journal_mode = DELETE');
    sqlite.exec('BEGIN EXCLUSIVE');
    return sqlite;
  } catch (error) {
    sqlite?.close();
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/** Opens and checks the copy at `path`. @throws MirrorError `file_unwritable` where it is damaged. */
export function readBack(path: string): void {
  let sqlite: Sqlite | undefined;
  const faults: string[] = [];
  try {
    sqlite = connectReader(path);
    faults.push(...coarseFaultsOf(sqlite));
  } catch (error) {
    // Another program uses it already.
    if (isBusy(error)) return;
    faults.push(error instanceof Error ? error.message : String(error));
  } finally {
    sqlite?.close();
  }
  if (faults.length > 0)
    throw new MirrorError('file_unwritable', `${path} was written and cannot be read back: ${faults.join('; ')}.`);
}
