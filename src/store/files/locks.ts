/**
 * Locks beside the database: one of the daemon, and one of each process that works on the mirror. They are released when the process ends,
 * for whatever reason.
 *
 * The daemon's is a write lock on `vendors.db.lock`, a process's on `vendors.db.lock-` and a random name chosen at its start. Process ids
 * are not used, so containers may share a mirror's folder.
 */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { ProcessesThere, ProcessLock } from '../../domain/processes.ts';
import { connectReader, connectWriter, type Sqlite } from '../sqlite/driver.ts';
import { giveToFolderOwner } from '../sqlite/file-systems.ts';
import { catalogued, isBusy } from '../sqlite/sqlite-errors.ts';
import { resolvedPath } from './own-files.ts';
import { fileStatement } from '../sqlite/connection.ts';

export interface SideLock {
  /** The moment of the start by a clock that was set since, milliseconds since 1970. */
  restamp(startedAt: number): void;
  release(): void;
  /** Releases it, and removes its file where taking it made it. */
  discard(): void;
}

/** A process that checks for a daemon holds the lock briefly, in milliseconds. */
const probeWait = 50;

/** Paths of the locks that this process holds. */
const ownLocks = new Set<string>();

/**
 * Takes the lock that allows one daemon for a database, and sets the time of its file to the start.
 * @param now wall time, milliseconds since 1970
 * @throws MirrorError `already_running`, and of files.
 */
export function takeSideLock(database: string, now: number): SideLock {
  const path = lockPathOf(database);
  const isMade = !existsSync(path);
  const lock = lockedFile(path);
  if (!lock) throw new MirrorError('already_running', `Another daemon works on ${database}.`);
  ownLocks.add(path);
  const restamp = (at: number): void => utimesSync(path, at / 1_000, at / 1_000);
  restamp(now);
  const release = (): void => {
    ownLocks.delete(path);
    lock.close();
  };
  const discard = (): void => {
    if (isMade) rmSync(path, { force: true });
    release();
  };
  return { restamp, release, discard };
}

/** Locks the file that is at the path then: another process may have removed it before it was locked. */
function lockedFile(path: string): Sqlite | undefined {
  for (let tries = 0; tries < maxTries; tries++) {
    closeToOthers(path);
    const before = statSync(path, { throwIfNoEntry: false })?.ino;
    const lock = lockFile(path, probeWait);
    if (!lock || statSync(path, { throwIfNoEntry: false })?.ino === before) return lock;
    lock.close();
  }
  return undefined;
}

/**
 * Refuses to migrate the files of a mirror under the daemon of another process, which knows only the version that it opened.
 * @throws MirrorError `already_running`.
 */
export function refuseMigrationBesideDaemon(database: string): void {
  if (ownLocks.has(lockPathOf(database)) || !isDaemonAt(database)) return;
  throw new MirrorError(
    'already_running',
    `${database} must be migrated first, and an older daemon works on it: nothing was changed.`,
    { remedy: 'Stop the daemon, and start this version of it: the start migrates the files.' },
  );
}

/**
 * Whether a daemon uses a database, including this process. To a user who may not open its lock, it seems to. Creates no file.
 * @throws MirrorError of files.
 */
export function isDaemonAt(database: string): boolean {
  return isHeld(lockPathOf(database)) ?? true;
}

/** Whether a process holds this lock; undefined to a user who may not open it. Creates and changes no file. @throws MirrorError of files. */
function isHeld(path: string): boolean | undefined {
  if (!existsSync(path)) return false;
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    sqlite.pragma('busy_timeout = 0');
    fileStatement(sqlite)`SELECT count(*) FROM sqlite_schema`.get({});
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    if (!mayRead(path)) return undefined;
    throw catalogued(error, path);
  } finally {
    sqlite?.close();
  }
}

function mayRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
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
    closeToOthers(path);
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

/**
 * Makes the file for its owner alone: whoever may open it may hold the lock.
 * @throws MirrorError `file_unwritable` where it is a link, which would give away or make a file elsewhere.
 */
function closeToOthers(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink())
    throw new MirrorError('file_unwritable', `${path} is a link, and no lock.`, { remedy: `Run: rm ${path}` });
  try {
    if (!found) {
      closeSync(openSync(path, 'wx', 0o600));
      giveToFolderOwner(path);
    }
    // By its name: to close the file would release a lock that this process holds.
    else if ((found.mode & 0o077) !== 0 && found.uid === process.geteuid?.()) chmodSync(path, 0o600);
  } catch {
    // Another process made it meanwhile, or SQLite says why it cannot be used.
  }
}

/** A name that cannot be taken is drawn again, at most this often. */
const maxTries = 10;

/**
 * Draws a name for this process and locks its file beside the mirror; removes files of dead processes.
 * @param database real path of the mirror
 * @throws MirrorError of files.
 */
export function lockProcess(database: string, random: Pick<Random, 'bytes'>): ProcessLock {
  const pathOf = (name: string): string => `${database}.lock-${name}`;
  for (const name of namesAround(database)) isLocked(pathOf(name));
  for (let tries = 0; tries < maxTries; tries++) {
    const name = Buffer.from(random.bytes(16)).toString('hex');
    const path = pathOf(name);
    const lock = lockFile(path);
    // Another process may have removed the file before it was locked.
    if (lock && existsSync(path)) {
      return {
        name,
        isAlive: (other) => other === name || isLocked(pathOf(other)),
        release() {
          if (!lock.open) return;
          rmSync(path, { force: true });
          lock.close();
        },
      };
    }
    lock?.close();
  }
  throw new MirrorError('bug', `No lock file for this process could be created beside ${database}.`);
}

/** Takes the lock; where that fails, closes the database. @throws what `lock` throws. */
export async function lockedOrClosed(
  database: { close(): Promise<void> },
  lock: () => ProcessLock,
): Promise<ProcessLock> {
  try {
    return lock();
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Whether processes work on the mirror, besides its daemon; files of dead ones are removed. @param database real path of the mirror */
export function isUsedAt(database: string): boolean {
  return namesAround(database).some((name) => isLocked(`${database}.lock-${name}`));
}

function namesAround(database: string): string[] {
  const prefix = `${basename(database)}.lock-`;
  return readdirSync(dirname(database))
    .filter((file) => file.startsWith(prefix))
    .map((file) => file.slice(prefix.length))
    .filter((name) => drawn.test(name));
}

const drawn = /^[0-9a-f]{32}$/;

/**
 * Whether the process of that name still uses the mirror, for who only reads: nothing is created, removed or held.
 * @param database path of the mirror
 * @returns undefined where that cannot be known, such as to another user.
 */
export function isProcessAlive(database: string, name: string): boolean | undefined {
  if (!drawn.test(name)) return undefined;
  try {
    return isHeld(`${resolvedPath(database)}.lock-${name}`);
  } catch {
    return undefined;
  }
}

/** The processes that use the mirror at that path, for who only reads: each is looked for when it is asked for. */
export function processesAt(database: string): ProcessesThere {
  return { daemonSince: daemonSince(database), isAlive: (name) => isProcessAlive(database, name), serving: null };
}

/** Whether a process holds this file. A stale file is removed while it is locked, so that no other process takes it meanwhile. */
function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  let lock: Sqlite | undefined;
  try {
    lock = lockFile(path);
    if (lock) rmSync(path, { force: true });
    return lock === undefined;
  } catch {
    // It may belong to another user: an unknown process counts as alive.
    return true;
  } finally {
    lock?.close();
  }
}
