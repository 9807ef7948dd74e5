/**
 * Processes that work on one mirror know each other by a random name, drawn at each start, and by a locked file of that name beside the
 * mirror. The lock falls when its process ends, however it does. Process numbers would not do: every container counts its own.
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
  /** Whether the process of that name still works on the same mirror. */
  isAlive(name: string): boolean;
  /** The process works on the mirror no more. */
  release(): void;
}

/** Files of processes that died are removed as they are met; a name that nobody can take is drawn again. */
const mostTries = 10;

/**
 * Draws a name for this process and locks its file beside the mirror at `database`, which is the file's real path.
 * @throws MirrorError of files.
 */
export function lockProcess(database: string, random: Pick<Random, 'bytes'>): ProcessLock {
  const pathOf = (name: string): string => `${database}.lock-${name}`;
  for (const name of namesAround(database)) isLocked(pathOf(name));
  for (let tries = 0; tries < mostTries; tries++) {
    const name = Buffer.from(random.bytes(16)).toString('hex');
    const path = pathOf(name);
    const held = lockFile(path);
    // Somebody who met the file before it was locked has removed it.
    if (held && existsSync(path)) {
      return {
        name,
        isAlive: (other) => other === name || isLocked(pathOf(other)),
        release() {
          if (!held.open) return;
          rmSync(path, { force: true });
          held.close();
        },
      };
    }
    held?.close();
  }
  throw new MirrorError('bug', `No name for this process could be locked beside ${database}.`);
}

/** The lock; where it cannot be had, the database is closed again. @throws what locking throws. */
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

/** Whether a process holds this file. One that nobody holds is removed, still locked, so that nobody takes it meanwhile. */
function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  let held: Sqlite | undefined;
  try {
    held = lockFile(path);
    if (held) rmSync(path, { force: true });
    return held === undefined;
  } catch {
    // Of another user, perhaps: who cannot be asked is taken to live.
    return true;
  } finally {
    held?.close();
  }
}
