/**
 * A damaged mirror makes room for a new one: the service is the source, and a sweep brings back everything but history. Nothing is
 * deleted, and nothing is moved that cannot be recognised as a mirror, or that another program still has open.
 */
import { closeSync, existsSync, fsyncSync, openSync, readSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { sleep, timestamp, type Clock } from '../../domain/clock.ts';
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import { forgetDamage } from './damage-note.ts';
import { connectAlone, connectReader, connectWriter, type Sqlite } from '../sqlite/driver.ts';
import { faultsOf } from '../sqlite/integrity.ts';
import type { Migration } from '../sqlite/migrate.ts';
import { schemaFaults } from '../sqlite/schema-faults.ts';
import { catalogued, isBusy, isDamage } from '../sqlite/sqlite-errors.ts';

export interface Quarantine {
  /** Where the damaged file is now. */
  readonly to: string;
  /** What is wrong with it, in SQLite's words. */
  readonly faults: readonly string[];
}

/** Names that no other program's file holds; a damaged one may have lost some of them. */
const ownTables = ['dirty_vendors', 'vendor_versions', '_vendor_versions', 'page_confirmations'];
const enoughOfThem = 2;

/** How long to try while others hold the file, and how often, in milliseconds. */
const lockWait = 30_000;
const betweenTries = 1_000;

/** The schema stands at the head of the file, in bytes. */
const headSize = 2 ** 18;

/**
 * Looks through the mirror at `path`, all of it, and moves it aside if it is damaged. Only who holds the side lock may do so.
 * @returns undefined where it is sound, or is none of ours: then whoever opens it says what it is.
 * @throws MirrorError `database_locked` where another program has the damaged file open, `file_unwritable`.
 */
export async function quarantineIfDamaged(
  path: string,
  clock: Clock,
  migrations: readonly Migration[],
): Promise<Quarantine | undefined> {
  const aside = isMirror(path) ? await examineAndMove(path, clock, migrations) : undefined;
  forgetDamage(path);
  return aside;
}

/** Whether the mirror at `path` has other tables, indexes, triggers or views than its migrations made; costs milliseconds. */
export function hasDamagedSchema(path: string, migrations: readonly Migration[]): boolean {
  if (!isMirror(path)) return false;
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    return schemaFaults(sqlite, migrations).length > 0;
  } catch (error) {
    // Whoever opens the file says what else it is.
    return isDamage(error);
  } finally {
    sqlite?.close();
  }
}

async function examineAndMove(
  path: string,
  clock: Clock,
  migrations: readonly Migration[],
): Promise<Quarantine | undefined> {
  const deadline = clock.monotonic() + lockWait;
  for (;;) {
    try {
      const faults = examine(path, migrations);
      if (faults.length === 0) return undefined;
      const to = `${path}.corrupt-${timestamp(clock.now()).replace(' ', 'T').replaceAll(':', '-')}`;
      withExclusiveLock(path, () => move(path, to));
      return { to, faults };
    } catch (error) {
      if (!isBusy(error) || clock.monotonic() >= deadline) throw catalogued(error, path);
      await sleep(clock, betweenTries);
    }
  }
}

/** Whether a file is a mirror or a copy of one. By its bytes: SQLite may not be able to read even the schema any more. */
export function isMirror(path: string): boolean {
  const head = headOf(path);
  const found = ownTables.filter((name) => head.includes(`CREATE TABLE ${name} `));
  return head.startsWith(sqliteHead) && found.length >= enoughOfThem;
}

/** Whether a file is one of SQLite's, whoever it belongs to. */
export function isDatabase(path: string): boolean {
  return headOf(path).startsWith(sqliteHead);
}

const sqliteHead = 'SQLite format 3\0';

function headOf(path: string): string {
  const head = Buffer.alloc(headSize);
  const file = openSync(path, 'r');
  const size = readSync(file, head);
  closeSync(file);
  return head.toString('latin1', 0, size);
}

function examine(path: string, migrations: readonly Migration[]): string[] {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectWriter(path);
    const faults = faultsOf(sqlite);
    return faults.length > 0 ? faults : schemaFaults(sqlite, migrations);
  } catch (error) {
    if (isDamage(error)) return [error.message];
    throw error;
  } finally {
    sqlite?.close();
  }
}

/** Others who have the file open would go on writing to it, and find a journal that is not theirs under its name. */
function withExclusiveLock(path: string, work: () => void): void {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectAlone(path);
  } catch (error) {
    // Too damaged to be locked is too damaged to be worked with.
    if (!isDamage(error)) throw error;
  }
  try {
    work();
  } finally {
    sqlite?.close();
  }
}

/** The journal first: without its database it would be thrown away, while the database is damaged either way. */
function move(path: string, to: string): void {
  try {
    for (const suffix of ['-wal', '-journal', ''])
      if (existsSync(path + suffix)) renameSync(path + suffix, to + suffix);
    rmSync(`${path}-shm`, { force: true });
    const folder = openSync(dirname(path), 'r');
    fsyncSync(folder);
    closeSync(folder);
  } catch (error) {
    throw new MirrorError('file_unwritable', `${path} cannot be moved aside: ${asMirrorError(error).message}.`, {
      cause: error,
    });
  }
}
