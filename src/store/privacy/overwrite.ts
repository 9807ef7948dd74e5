/** Overwrites deleted data in the file and its journal. */
import { dirname } from 'node:path';
import { MirrorError } from '../../domain/errors.ts';
import type { Database } from '../sqlite/database.ts';
import { SqliteError, type Sqlite } from '../sqlite/driver.ts';
import { freeBytes } from '../sqlite/file-systems.ts';

/** The rebuilt file is in the journal and in a temporary file while the old one still exists. */
const copies = 2;

/** @throws MirrorError `disk_full` where there is no room to rebuild the file. */
export function assertRoom(database: Database): void {
  const needed = copies * (database.fileSizes()?.databaseBytes ?? 0);
  const free = freeBytes(dirname(database.path));
  if (free < needed)
    throw new MirrorError(
      'disk_full',
      `To overwrite what is forgotten, ${database.path} is rebuilt, which needs ${megabytes(needed)} MB of free space beside it; only ${megabytes(free)} MB are free. Nothing was changed.`,
    );
}

const megabytes = (bytes: number): number => Math.ceil(bytes / 1024 ** 2);

/** Makes this connection overwrite what it deletes with zeros, also in the file that VACUUM writes. */
export function overwriteDeleted(sqlite: Sqlite): void {
  sqlite.pragma('secure_delete = ON');
}

/**
 * Rebuilds the file, because earlier deletions left their bytes in free pages and gaps; then copies the journal into the file, which
 * replaces all pages, and truncates the journal.
 * @throws MirrorError `database_locked` where another program reads the file, and so keeps the journal.
 */
export async function rebuild(database: Database): Promise<void> {
  const { sqlite, path } = database;
  await database.retryWhileLocked(() => sqlite.exec('VACUUM'));
  try {
    await database.retryWhileLocked(() => emptyJournal(sqlite));
  } catch (error) {
    if (!(error instanceof MirrorError) || error.code !== 'database_locked') throw error;
    throw new MirrorError(
      'database_locked',
      `What was to be forgotten was removed from ${path}, but its journal still contains it while another program reads the file: end that program, and run this again.`,
      { cause: error },
    );
  }
}

function emptyJournal(sqlite: Sqlite): void {
  const [result] = sqlite.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  if (result?.busy !== 0) throw new SqliteError('The journal is in use.', 'SQLITE_BUSY');
}
