/** Copies of the mirror for others: written beside their place under another name, and swapped in whole. */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Dice } from '../clock.ts';
import { asMirrorError, MirrorError } from '../errors.ts';
import type { Database } from './database.ts';
import { isFailedSync } from './sqlite-errors.ts';

const copyMode = 0o640;

/** A draft that nobody has written to for so long, in milliseconds, was left by a process that was killed. */
const abandoned = 3_600_000;

/**
 * Puts a consistent, self-contained copy of the mirror (one file, no WAL beside it) at `target`, mode 0640.
 * @throws MirrorError `file_unwritable`, `disk_full`, `database_locked`, `usage` where `target` is the mirror itself.
 */
export async function copyMirror(mirror: Database, target: string, dice: Dice): Promise<void> {
  await swapIn(mirror, target, dice, (path) => mirror.patiently(() => fill(mirror, path)));
}

function fill({ sqlite }: Database, path: string): void {
  try {
    sqlite.prepare('VACUUM INTO ?').run(path);
  } catch (error) {
    // It is the copy that was not synced; the mirror is as sound as before.
    if (isFailedSync(error)) throw new MirrorError('file_unwritable', `${path}: ${asMirrorError(error).message}.`);
    throw error;
  }
}

/**
 * Lets `write` fill a new file, and swaps it in at `target` when it is whole and on disk; where anything fails, what was
 * at `target` stays, and nothing is left beside it.
 * @throws MirrorError `file_unwritable`, `usage` where `target` is the mirror itself; whatever `write` throws.
 */
export async function swapIn(
  mirror: Database,
  target: string,
  dice: Dice,
  write: (path: string) => void | Promise<void>,
): Promise<void> {
  const folder = dirname(target);
  const draft = join(folder, `.${basename(target)}.${Buffer.from(dice.bytes(6)).toString('hex')}`);
  try {
    refuseMirror(mirror, target);
    closeSync(openSync(draft, 'wx', copyMode));
    chmodSync(draft, copyMode);
    sweepUp(draft, target);
    await write(draft);
    sync(draft);
    renameSync(draft, target);
    sync(folder);
  } catch (error) {
    if (error instanceof MirrorError) throw error;
    throw new MirrorError('file_unwritable', `${target} cannot be written: ${asMirrorError(error).message}.`, {
      cause: error,
    });
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Removes what killed processes left of earlier drafts for `target`, by the age of a new one. */
function sweepUp(draft: string, target: string): void {
  const folder = dirname(target);
  const now = statSync(draft).mtimeMs;
  const start = `.${basename(target)}.`;
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(start) || !/^[0-9a-f]{12}(-journal)?$/.test(name.slice(start.length))) continue;
    const path = join(folder, name);
    const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - written > abandoned) rmSync(path, { force: true });
  }
}

function refuseMirror(mirror: Database, target: string): void {
  const real = existsSync(target) ? realpathSync(target) : join(realpathSync(dirname(target)), basename(target));
  const own = realpathSync(mirror.path);
  if (['', '-wal', '-shm', '-journal'].some((suffix) => real === own + suffix))
    throw new MirrorError('usage', `${target} is the mirror itself; name another file.`);
}

function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
