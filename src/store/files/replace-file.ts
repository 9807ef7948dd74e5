/**
 * Files replaced whole: written under a draft name, synced, checked and swapped in, although other programs may have the earlier one open.
 *
 * Others may be allowed to write the folder, and to put a link or a file of theirs under any name there at any moment. So a draft is made anew; it
 * is written, synced, and given its owner and mode through one handle, and swapped in only while its name leads to it. SQLite opens files by
 * name: what it writes is made in a private folder that nobody else can replace, and moved from there; where no such folder can be beside the
 * target, it is copied through a handle.
 *
 * A new copy has mode 0640 as far as the umask allows; one that replaces a file has its owner and mode, unless another user may have put that
 * there. (A new mirror has 0640; an existing one keeps its own.) A journal that a program left beside an older copy is removed with it; while
 * that program still has the copy open, the copy stays as it is (75). So it does where such a journal belongs to another user, or where others could
 * put something else in the place of the copy (74).
 */
import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  write,
  type Stats,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { Random } from '../../domain/clock.ts';
import { asMirrorError, errorSentence, MirrorError, withFullStop, withMessage } from '../../domain/errors.ts';
import { replaceableByOthers } from '../../settings/permissions.ts';
import type { SqliteDatabase } from '../sqlite/database.ts';
import { connectAlone, connectReader, type Sqlite } from '../sqlite/driver.ts';
import { forbiddenText, giveToFolderOwner } from '../sqlite/file-systems.ts';
import { catalogued, coarseFaultsOf, isBusy, isDamage } from '../sqlite/sqlite-errors.ts';
import { isDatabase, isMirror } from './damage.ts';
import { isNotRegularFile, namesFolder, ownFileAt, placeToWrite, withoutFolder, type OwnFiles } from './own-files.ts';

/** Permissions of a new copy, before the umask, and of a file with secrets. */
const [copyMode, secretMode] = [0o640, 0o600];

/** What SQLite writes, in a private folder. */
const draftName = 'draft';

/** A draft that was not written for this long, in milliseconds, is from a killed process. */
const abandoned = 3_600_000;

/** How a file is replaced. */
export interface Replacement {
  readonly random: Pick<Random, 'bytes'>;
  /** Whether only its owner may read it, whatever the mode of the file that is there. */
  readonly isSecret: boolean;
  /** Throws where the file at that place must not be replaced; called before and after the writing. */
  readonly refuse: (place: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Lets `fill` write a new file, and replaces `target` with it once it is complete and on disk; where anything fails, `target` stays as it was and
 * no draft is left. A symbolic link of this user or of root is followed.
 * @throws MirrorError `file_unwritable`, `usage` where `target` cannot be replaced; whatever `fill` throws.
 */
export function replaceFile(
  target: string,
  by: Replacement,
  fill: (handle: number) => void | Promise<void>,
): Promise<void> {
  return replacing(target, by, (place) => writeBeside(place, by, fill, swapIn));
}

/**
 * As `replaceFile`, for a database: `make` gets the path of a file that is there and empty, and leaves nothing else beside it.
 * @throws MirrorError `database_locked` where another program uses the database that is there.
 */
export function replaceDatabase(
  target: string,
  by: Replacement,
  make: (path: string) => void | Promise<void>,
): Promise<void> {
  return replacing(target, by, async (place) => {
    const isSafe = replaceableByOthers(dirname(place)) === undefined;
    const folder = privateFolder(isSafe ? place : join(tmpdir(), basename(place)), by);
    try {
      const draft = openDraft(join(folder, draftName), by);
      try {
        await makeAt(draft.path, target, make);
        if (isSafe) await putInPlace(draft, place, by, swapDatabaseIn);
        else await writeBeside(place, by, (handle) => copyTo(handle, draft.handle, by.signal), swapDatabaseIn);
      } finally {
        discard(draft);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

async function replacing(target: string, by: Replacement, work: (place: string) => Promise<void>): Promise<void> {
  const place = placeToWrite(target);
  try {
    by.refuse(place);
    await work(place);
    await syncInBackground(dirname(place));
  } catch (error) {
    const { code, remedy } = asMirrorError(error);
    if (code === 'disk_full')
      throw new MirrorError('disk_full', `${target} cannot be written: its disk is full.`, {
        cause: error,
        remedy: `Free space on the disk that holds ${dirname(place)}.`,
      });
    if (error instanceof MirrorError) throw error;
    const missing = withoutFolder(target);
    if (missing) throw missing;
    const isReadOnly = error instanceof Error && 'code' in error && error.code === 'EROFS';
    const why = (isReadOnly && forbiddenText(place)) || `: ${errorSentence(error).slice(0, -1)}`;
    throw new MirrorError('file_unwritable', `${target} cannot be written${why}.`, { cause: error, remedy });
  }
}

/** A file that nobody has read yet. Only its handle is sure to lead to it. */
interface Draft {
  readonly path: string;
  readonly handle: number;
}

type Swap = (draft: Draft, place: string) => void;

async function writeBeside(
  place: string,
  by: Replacement,
  fill: (handle: number) => void | Promise<void>,
  swap: Swap,
): Promise<void> {
  const draft = openDraft(draftPath(place, by), by);
  try {
    sweepUp(place, fstatSync(draft.handle));
    await fill(draft.handle);
    await putInPlace(draft, place, by, swap);
  } finally {
    discard(draft);
  }
}

/** A new name beside a place. */
function draftPath(place: string, { random }: Replacement): string {
  return join(dirname(place), `.${basename(place)}.${Buffer.from(random.bytes(6)).toString('hex')}`);
}

function openDraft(path: string, { isSecret }: Replacement): Draft {
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  return { path, handle: openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, isSecret ? secretMode : copyMode) };
}

/** Makes a folder for this user alone beside a place. @throws MirrorError `file_unwritable` where others could replace it. */
function privateFolder(place: string, by: Replacement): string {
  const parent = dirname(place);
  const open = replaceableByOthers(parent);
  if (open)
    throw new MirrorError('file_unwritable', `No private folder can be made in ${parent}: ${open.why}.`, {
      remedy: 'Let the environment variable TMPDIR name a folder that only this user may write.',
    });
  const folder = draftPath(place, by);
  mkdirSync(folder, { mode: 0o700 });
  sweepUp(place, lstatSync(folder));
  return folder;
}

async function makeAt(path: string, target: string, make: (path: string) => void | Promise<void>): Promise<void> {
  try {
    await make(path);
  } catch (error) {
    throw error instanceof MirrorError ? withMessage(error, error.message.replaceAll(path, target)) : error;
  }
}

async function copyTo(handle: number, from: number, signal: AbortSignal | undefined): Promise<void> {
  const source = createReadStream('', { fd: from, start: 0, autoClose: false });
  await pipeline(source, writerTo(handle), signal ? { signal } : {});
}

/** So many bytes are written at once. */
const piece = 65_536;

/** The end of a pipeline that writes to a file and leaves it open: a stream of Node.js may still write after it was destroyed. */
export function writerTo(handle: number): (chunks: AsyncIterable<string | Uint8Array>) => Promise<void> {
  const writeAll = async (chunks: readonly Uint8Array[]): Promise<void> => {
    for (let left = Buffer.concat(chunks); left.length > 0;) {
      const { bytesWritten } = await promisify(write)(handle, left);
      left = left.subarray(bytesWritten);
    }
  };
  return async (chunks) => {
    let [waiting, size]: [Uint8Array[], number] = [[], 0];
    for await (const chunk of chunks) {
      const bytes = Buffer.from(chunk);
      waiting.push(bytes);
      size += bytes.length;
      if (size < piece) continue;
      await writeAll(waiting);
      [waiting, size] = [[], 0];
    }
    await writeAll(waiting);
  };
}

async function putInPlace(draft: Draft, place: string, by: Replacement, swap: Swap): Promise<void> {
  giveToFolderOwner(place, draft.handle);
  keepAccess(draft.handle, place, by);
  await promisify(fsync)(draft.handle);
  by.refuse(place);
  swap(draft, place);
}

/** Takes over owner and group, where allowed, and mode of the file that is replaced. What another user may have put there says nothing. */
function keepAccess(handle: number, place: string, { isSecret }: Replacement): void {
  const before = lstatSync(place, { throwIfNoEntry: false });
  const { uid, gid } = fstatSync(handle);
  if (!before?.isFile() || before.nlink > 1 || (before.uid !== uid && !isOnlyForUs(dirname(place)))) return;
  try {
    if (before.uid !== uid || before.gid !== gid) fchownSync(handle, before.uid, before.gid);
  } catch {
    // Only root may give a file away, and others only to a group of theirs.
  }
  if (!isSecret) fchmodSync(handle, before.mode & 0o777);
}

/** Whether nobody but this user and root can make a file in a folder; in a sticky one, others can. */
function isOnlyForUs(folder: string): boolean {
  return (statSync(folder).mode & 0o1000) === 0 && replaceableByOthers(folder) === undefined;
}

function swapIn(draft: Draft, place: string): void {
  // Also where a link has come in the place of the folder.
  if (placeToWrite(dirname(place)) !== dirname(place) || !isInPlace(draft))
    throw new MirrorError(
      'file_unwritable',
      `${place} cannot be written: another user put something else in the place of ${draft.path}.`,
      { remedy: 'Write into a folder that only this user may write.' },
    );
  renameSync(draft.path, place);
}

const swapDatabaseIn: Swap = (draft, place) => withoutCompanions(place, () => swapIn(draft, place));

function isInPlace({ path, handle }: Draft): boolean {
  const [named, opened] = [
    lstatSync(path, { bigint: true, throwIfNoEntry: false }),
    fstatSync(handle, { bigint: true }),
  ];
  return named?.ino === opened.ino && named.dev === opened.dev;
}

/** Closes a draft, and removes it unless it was put in place. */
function discard(draft: Draft): void {
  try {
    if (isInPlace(draft)) rmSync(draft.path, { force: true });
  } finally {
    closeSync(draft.handle);
  }
}

/** Removes drafts for `place` that killed processes of this user left; ages are compared with the new draft's. */
function sweepUp(place: string, { mtimeMs: now, uid }: Stats): void {
  const folder = dirname(place);
  const start = `.${basename(place)}.`;
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(start) || !/^[0-9a-f]{12}(-journal|-wal|-shm)?$/.test(name.slice(start.length))) continue;
    const path = join(folder, name);
    const left = lstatSync(path, { throwIfNoEntry: false });
    if (left?.uid !== uid || now - lastWritten(path, left) <= abandoned) continue;
    if (left.isFile()) rmSync(path, { force: true });
    // A folder is only made where nobody else can replace it, nor lead elsewhere what empties it.
    else if (replaceableByOthers(folder) === undefined) rmSync(path, { recursive: true, force: true });
  }
}

/** When a draft, or the file in its private folder, was written, milliseconds since 1970. */
function lastWritten(path: string, found: Stats): number {
  const draft = found.isDirectory() ? lstatSync(join(path, draftName), { throwIfNoEntry: false }) : found;
  return draft?.mtimeMs ?? found.mtimeMs;
}

/** What a copy of the mirror needs besides the mirror. */
export interface CopyOptions {
  readonly random: Random;
  /** Files that a copy must not replace, besides the mirror. */
  readonly own: Pick<OwnFiles, 'secrets' | 'readFrom'>;
  /** Ends the writing. */
  readonly signal?: AbortSignal | undefined;
}

/** How a copy of the mirror, or an export of it, replaces a file: never one of our own, another database, or anything but a regular file. */
export function replacementFor(
  { path: database }: Pick<SqliteDatabase, 'path'>,
  target: string,
  { random, own, signal }: CopyOptions,
): Replacement {
  return {
    ...{ random, signal, isSecret: false },
    refuse: (place) => refuseOthers(target, place, { ...own, database }),
  };
}

function refuseOthers(target: string, place: string, own: OwnFiles): void {
  const no = (what: string): never => {
    throw new MirrorError('usage', `${target} ${what}; name another file.`);
  };
  const ours = ownFileAt(place, own);
  if (ours !== undefined) no(`is ${ours}`);
  if (namesFolder(target)) no('is the name of a folder');
  if (isNotRegularFile(place)) no('is not a regular file');
  if (!existsSync(place) || !isDatabase(place)) return;
  if (!isMirror(place)) no('is a database of another program');
  if (existsSync(`${place}.lock`)) no('is a mirror that a daemon uses');
}

/** Files that SQLite would treat as part of a new file of that name. */
const companions = ['-wal', '-journal', '-shm'];

/**
 * Replaces the database at `path` while no other program has it open and no journal is beside it: a journal would be applied to the new file.
 * Where there is none, readers of the old file may continue.
 * @throws MirrorError `database_locked` where another program uses the file, `file_unwritable` where a journal is of another user, or others may
 * write the folder.
 */
function withoutCompanions(path: string, swap: () => void): void {
  const found = companions.map((suffix) => path + suffix).filter((one) => isThere(one));
  if (found.length === 0) {
    swap();
    return;
  }
  const foreign = [path, ...found].find(isForeign);
  if (foreign !== undefined)
    throw new MirrorError(
      'file_unwritable',
      `${path} is not replaced: ${foreign} is of another user, and SQLite would take what stands beside a database for a part of it.`,
      { remedy: `Remove ${found.join(' and ')}, or run this as the user whose they are.` },
    );
  const open = replaceableByOthers(dirname(path));
  if (open)
    throw new MirrorError(
      'file_unwritable',
      `${path} is not replaced: to remove ${found.join(' and ')}, SQLite would have to open it by its name, and ${open.why}.`,
      { remedy: `Remove ${found.join(' and ')}.` },
    );
  let sqlite: Sqlite | undefined;
  try {
    sqlite = lockedWithoutJournal(path);
    for (const one of found) rmSync(one, { force: true });
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

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Whether something is at a path that another user made, or that is also elsewhere: a link, or a file with a second name. */
function isForeign(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && (!found.isFile() || found.nlink > 1 || found.uid !== process.geteuid?.());
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
    faults.push(error instanceof Error ? error.message : String(error));
  } finally {
    sqlite?.close();
  }
  if (faults.length > 0)
    throw new MirrorError(
      'file_unwritable',
      withFullStop(`${path} was written and cannot be read back: ${faults.join('; ')}`),
    );
}

/** Waits until a file, or the names in a folder, are on the disk, without blocking: a large file takes long. */
export async function syncInBackground(path: string): Promise<void> {
  const handle = openSync(path, 'r');
  try {
    await promisify(fsync)(handle);
  } finally {
    closeSync(handle);
  }
}
