/**
 * Processes that use the same mirror recognise each other by a random name, drawn at each start, and by a locked file of that name beside
 * the mirror. The lock is released when the process ends, for whatever reason. Process ids would not work: every container counts its own.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { lockFile } from './side-lock.ts';

export interface ProcessLock {
  /** The random name of this process. */
  readonly name: string;
  /** Whether the process of that name still uses the mirror. */
  isAlive(name: string): boolean;
  /** Releases the name of this process. */
  release(): void;
}

/** A name that cannot be taken is drawn again, at most this often. */
const mostTries = 10;

/**
 * Draws a name for this process and locks its file beside the mirror; removes files of dead processes.
 * @param database real path of the mirror
 * @throws MirrorError of files.
 */
export function lockProcess(database: string, random: Pick<Random, 'bytes'>): ProcessLock {
  const pathOf = (name: string): string => `${database}.lock-${name}`;
  for (const name of namesAround(database)) isLocked(pathOf(name));
  for (let tries = 0; tries < mostTries; tries++) {
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

function namesAround(database: string): string[] {
  const prefix = `${basename(database)}.lock-`;
  return readdirSync(dirname(database))
    .filter((file) => file.startsWith(prefix))
    .map((file) => file.slice(prefix.length))
    .filter((name) => /^[0-9a-f]{32}$/.test(name));
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
