/**
 * A damaged mirror: found without blocking, and moved aside for a new one. Nothing is deleted: the service is the source, and a sweep
 * restores everything but history.
 *
 * Only `serve`, which holds the lock, moves a file aside, and only if it is recognisably a mirror that no other program has open (otherwise
 * it exits with 75); one-shot commands say what to do and exit with 74. Unsettled deliveries in it need not be saved: the first sweep of the
 * new mirror reads every vendor that they named. After an error that puts the file in doubt, the process neither reads nor writes it until
 * it is restarted.
 */
import { execFile } from 'node:child_process';
import {
  closeSync,
  constants as fsConstants,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { constants, setPriority } from 'node:os';
import { dirname } from 'node:path';
import { sleep, timestamp, type Clock } from '../../domain/clock.ts';
import { MirrorError, errorSentence } from '../../domain/errors.ts';
import { driverFolder } from '../sqlite/driver-package.ts';
import { connectAlone, connectReader, connectWriter, type Sqlite } from '../sqlite/driver.ts';
import { schemaFaults, type Migration } from '../sqlite/migrate.ts';
import { catalogued, faultsIn, faultsOf, isBusy, isDamage } from '../sqlite/sqlite-errors.ts';
import { forgetDamage, noteDamage } from './own-files.ts';

export interface Quarantine {
  readonly to: string;
  /** SQLite's description of the damage. */
  readonly faults: readonly string[];
}

/** Table names by which a mirror is recognised; a damaged file may have lost some. */
const ownTables = ['dirty_vendors', 'vendor_versions', '_vendor_versions', '_page_confirmations'];
const enoughOfThem = 2;

/** How long and how often to try while others hold the file, in milliseconds. */
const lockWait = 30_000;
const betweenTries = 1_000;

/** The schema is within this many bytes at the start of the file. */
const headSize = 2 ** 18;

/**
 * Checks the whole mirror at `path`, and moves it aside if it is damaged. Only the holder of the side lock may do so.
 * @returns undefined where it is sound or not a mirror; opening it then reports what it is.
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

/** Whether the mirror at `path` differs from the tables, indexes, triggers and views of its migrations; takes milliseconds. */
export function hasDamagedSchema(path: string, migrations: readonly Migration[]): boolean {
  if (!isMirror(path)) return false;
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    return schemaFaults(sqlite, migrations).length > 0;
  } catch (error) {
    // Opening the file reports other errors.
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

/** Whether a file is a mirror or a copy of one. Checked by its bytes, because SQLite may not be able to read even the schema. */
export function isMirror(path: string): boolean {
  const head = headOf(path);
  const found = ownTables.filter((name) => head.includes(`CREATE TABLE ${name} `));
  return head.startsWith(sqliteHead) && found.length >= enoughOfThem;
}

/** Whether a file is an SQLite database. */
export function isDatabase(path: string): boolean {
  return headOf(path).startsWith(sqliteHead);
}

const sqliteHead = 'SQLite format 3\0';

/** Empty where no regular file is there: another user may just have put a pipe in its place, which would be waited for. */
function headOf(path: string): string {
  const file = openSync(path, fsConstants.O_RDONLY | fsConstants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) return '';
    const head = Buffer.alloc(headSize);
    return head.toString('latin1', 0, readSync(file, head));
  } finally {
    closeSync(file);
  }
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

/** Other programs with the file open would continue to write to it, and use a journal of that name that is not theirs. */
function withExclusiveLock(path: string, work: () => void): void {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectAlone(path);
  } catch (error) {
    // A file that is too damaged to be locked cannot be in use.
    if (!isDamage(error)) throw error;
  }
  try {
    work();
  } finally {
    sqlite?.close();
  }
}

/** The journal is moved first: without its database it would be discarded, while the database is damaged anyway. */
function move(path: string, to: string): void {
  try {
    for (const suffix of ['-wal', '-journal', ''])
      if (existsSync(path + suffix)) renameSync(path + suffix, to + suffix);
    rmSync(`${path}-shm`, { force: true });
    const folder = openSync(dirname(path), 'r');
    fsyncSync(folder);
    closeSync(folder);
  } catch (error) {
    throw new MirrorError('file_unwritable', `${path} cannot be moved aside: ${errorSentence(error)}`, {
      cause: error,
    });
  }
}

/**
 * Checks a large file without blocking. SQLite's check takes minutes, only the end of its process interrupts it, and it may crash on
 * damage: so it runs in a child process.
 */

/** Plain JavaScript, because it is not compiled. Prints the rows of `integrity_check`, or SQLite's error. */
const program = `
  const [driver, path] = process.argv.slice(1);
  try {
    const sqlite = new (require(driver))(path, { readonly: true, fileMustExist: true, timeout: 10000 });
    console.log(JSON.stringify(sqlite.pragma('integrity_check(3)')));
  } catch (error) {
    if (!/^SQLITE_(CORRUPT|NOTADB)/.test(error.code)) throw error;
    console.log(JSON.stringify([{ fault: error.message }]));
  }`;

/**
 * The result of SQLite's check; empty where the file is sound. Damage leaves a marker for the next daemon.
 * @throws MirrorError `interrupted` where the signal was aborted, `database_unusable` where the file could not be checked.
 */
export async function checkWholeFile(path: string, signal: AbortSignal): Promise<string[]> {
  const faults = await new Promise<string[]>((resolve, reject) => {
    // The environment may contain secrets.
    const options = { signal, env: {}, killSignal: 'SIGKILL' } as const;
    const child = execFile(
      process.execPath,
      ['--eval', program, '--', driverFolder, path],
      options,
      (error, stdout) => {
        if (!error) resolve(faultsIn(JSON.parse(stdout)));
        else if (signal.aborted) reject(new MirrorError('interrupted', `The check of ${path} was interrupted.`));
        else reject(new MirrorError('database_unusable', `${path} could not be checked: ${error.message}`));
      },
    );
    lowerPriority(child.pid);
  });
  if (faults.length > 0) noteDamage(path);
  return faults;
}

function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process has ended already, or the system has no priorities.
  }
}
