/**
 * Files replaced whole: written under a draft name, synced, checked and swapped in, although other programs may have the earlier one open.
 *
 * A new copy has mode 0640 as far as the umask allows; one that replaces a file has that file's mode. (A new mirror has 0640; an existing
 * one keeps its own.) A journal that a program left beside an older copy is removed with it; while that program still has the copy open, the
 * copy stays as it is (75).
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Random } from '../../domain/clock.ts';
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import type { Database } from '../sqlite/database.ts';
import { connectAlone, connectReader, type Sqlite } from '../sqlite/driver.ts';
import { giveToFolderOwner } from '../sqlite/file-systems.ts';
import { catalogued, coarseFaultsOf, isBusy, isDamage } from '../sqlite/sqlite-errors.ts';
import { isDatabase, isMirror } from './damage.ts';
import { isNotRegularFile, ownFileAt, resolvedPath, type OwnFiles } from './own-files.ts';

/** Permissions of a new copy, before the umask. */
const copyMode = 0o640;

/** A draft that was not written for this long, in milliseconds, is from a killed process. */
const abandoned = 3_600_000;

/** What a copy needs besides the mirror. */
export interface CopyOptions {
  readonly random: Random;
  /** Files that a copy must not replace, besides the mirror. */
  readonly own: Pick<OwnFiles, 'secrets' | 'readFrom'>;
}

/**
 * Lets `write` fill a draft, and replaces `target` with it once it is complete and on disk; where anything fails, `target` stays as it was and no
 * draft is left. A symbolic link is followed. The new file gets the mode and owner of the replaced one.
 * @throws MirrorError `file_unwritable`, `usage` where `target` cannot be replaced, `database_locked` where another program uses the
 * copy that is there; whatever `write` throws.
 */
export async function replaceFile(
  mirror: Pick<Database, 'path'>,
  target: string,
  { random, own }: CopyOptions,
  write: (path: string) => void | Promise<void>,
): Promise<void> {
  const refuse = (): void => refuseOthers(target, { ...own, database: mirror.path });
  const place = resolvedPath(target);
  const folder = dirname(place);
  const draft = join(folder, `.${basename(place)}.${Buffer.from(random.bytes(6)).toString('hex')}`);
  try {
    refuse();
    const before = statSync(place, { throwIfNoEntry: false });
    closeSync(openSync(draft, 'wx', before ? 0o600 : copyMode));
    sweepUp(draft, place);
    await write(draft);
    if (before) copyModeAndOwner(draft, before);
    else giveToFolderOwner(draft);
    await syncInBackground(draft);
    refuse();
    withoutCompanions(place, () => renameSync(draft, place));
    await syncInBackground(folder);
  } catch (error) {
    if (error instanceof MirrorError) throw error;
    throw new MirrorError('file_unwritable', `${target} cannot be written: ${asMirrorError(error).message}.`, {
      cause: error,
    });
  } finally {
    for (const left of [draft, `${draft}-journal`]) rmSync(left, { force: true });
  }
}

/** Removes drafts for `target` that killed processes left; ages are compared with the new draft's. */
export function sweepUp(draft: string, target: string): void {
  const folder = dirname(target);
  const now = statSync(draft).mtimeMs;
  const start = `.${basename(target)}.`;
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(start) || !/^[0-9a-f]{12}(-journal|-wal|-shm)?$/.test(name.slice(start.length))) continue;
    const path = join(folder, name);
    const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - written > abandoned) rmSync(path, { force: true });
  }
}

/** Refuses targets that a copy must not replace: our own files, other databases, and anything but a regular file. */
function refuseOthers(target: string, own: OwnFiles): void {
  const no = (what: string): never => {
    throw new MirrorError('usage', `${target} ${what}; name another file.`);
  };
  const ours = ownFileAt(target, own);
  if (ours !== undefined) no(`is ${ours}`);
  if (isNotRegularFile(target)) no('is not a regular file');
  if (!existsSync(target) || !isDatabase(target)) return;
  if (!isMirror(target)) no('is a database of another program');
  if (existsSync(`${resolvedPath(target)}.lock`)) no('is a mirror that a daemon uses');
}

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

/** Writes files so that they survive a power cut, and keep their owner and mode. */

/** Waits until a file, or the names in a folder, are on the disk. */
function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Like `sync`, without blocking: a large file takes long. */
export async function syncInBackground(path: string): Promise<void> {
  const handle = openSync(path, 'r');
  try {
    await promisify(fsync)(handle);
  } finally {
    closeSync(handle);
  }
}

/** Writes a new file that only its owner may read; on disk when this returns. */
export function writePrivately(path: string, content: string | Uint8Array): void {
  writeFileSync(path, content, { flag: 'wx', mode: 0o600 });
  sync(path);
}

/** Renames a file, replacing any file of the new name, whose owner it gets where allowed; on disk when this returns. */
export function rename(from: string, to: string): void {
  const before = statSync(to, { throwIfNoEntry: false });
  if (before) copyOwner(from, before);
  renameSync(from, to);
  sync(dirname(to));
}

/** Gives a draft the mode, and where allowed the owner, of the file that it replaces. */
function copyModeAndOwner(draft: string, before: Stats): void {
  copyOwner(draft, before);
  chmodSync(draft, before.mode & 0o777);
}

function copyOwner(draft: string, { uid, gid }: Stats): void {
  const own = statSync(draft);
  try {
    if (own.uid !== uid || own.gid !== gid) chownSync(draft, uid, gid);
  } catch {
    // Only root may give a file away.
  }
}
