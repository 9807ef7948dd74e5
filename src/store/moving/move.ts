/**
 * Moves an installation's files to another folder. The copies are made under draft names, checked and synced; then a note makes them count, they
 * get their names, and the old files are removed. If the process dies before the note, nothing has changed; after it, the same call finishes.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../domain/clock.ts';
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import type { FilePaths } from '../files/daemon-files.ts';
import { damageNote } from '../files/damage-note.ts';
import { rename, sync, copyModeAndOwner } from '../files/durable.ts';
import { resolvedPath } from '../files/own-files.ts';
import { takeSideLock } from '../files/side-lock.ts';
import { freeBytes, refuseNetwork, spaceForDeliveries } from '../sqlite/file-systems.ts';
import { LockedSource } from './locked-source.ts';
import { draftOf, noteOf, readNote, refuseMoved, writeNote, type MovedFile, type MovedNote } from './moved-note.ts';

/** Files that SQLite would treat as part of a file of that name, and its lock. */
const companions = ['-wal', '-shm', '-journal', '.lock'];

/**
 * Moves mirror, secrets and what belongs to them into `folder`, which is created where needed. Where that was done before, returns the note again.
 * @throws MirrorError `usage` where they cannot be put there, or there is nothing to move; `already_running`, `database_locked`,
 * `database_corrupt`, `disk_full`, `move_unfinished`, and of files.
 */
export async function moveInstallation(paths: FilePaths, folder: string, clock: Clock): Promise<MovedNote> {
  const place = resolvedPath(folder);
  const noted = readNote(paths.database);
  if (noted && noted.folder !== place) {
    if (isFinished(noted)) refuseMoved('The settings file', paths);
    throw new MirrorError('move_unfinished', `A move to ${noted.folder} was interrupted: finish that one first.`);
  }
  if (noted && isFinished(noted)) return noted;
  if (!noted) refuseUnfit(paths, place);
  const lock = takeSideLock(paths.database, clock.now());
  const sources: LockedSource[] = [];
  try {
    for (const path of databasesOf(paths)) sources.push(LockedSource.take(path));
    const note = noted ?? (await copied(paths, place, sources));
    finish(note);
    return note;
  } catch (error) {
    if (error instanceof MirrorError) throw error;
    throw new MirrorError(
      'file_unwritable',
      `The files cannot be moved to ${folder}: ${asMirrorError(error).message}.`,
      {
        cause: error,
      },
    );
  } finally {
    for (const source of sources) source.close();
    if (readNote(paths.database)) removeLocks(resolvedPath(paths.database));
    lock.release();
  }
}

/** Mirror and secrets, where they exist. */
function databasesOf({ database, secrets }: FilePaths): string[] {
  return [secrets, database].map((path) => resolvedPath(path)).filter((path) => existsSync(path));
}

/** Everything to move, the mirror last. */
function filesOf(paths: FilePaths): string[] {
  const mirror = resolvedPath(paths.database);
  const name = basename(mirror);
  const isBeside = (file: string): boolean =>
    file.startsWith(`${name}.corrupt-`) || file === `${name}.world` || file === name + damageNote;
  const others = existsSync(dirname(mirror)) ? readdirSync(dirname(mirror)).filter(isBeside) : [];
  return [...others.map((file) => join(dirname(mirror), file)), ...databasesOf(paths)];
}

/** @throws MirrorError `usage`, `disk_full`, `database_unusable` where the files cannot be moved there. */
function refuseUnfit(paths: FilePaths, folder: string): void {
  const files = filesOf(paths);
  if (files.length === 0)
    throw new MirrorError('usage', `There is nothing to move: neither ${paths.database} nor ${paths.secrets} exists.`);
  const targets = files.map((file) => join(folder, basename(file)));
  if (new Set(targets).size < targets.length)
    throw new MirrorError('usage', 'Two of the files have the same name, so they cannot be in one folder.');
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw new MirrorError('usage', `${folder} is not a folder.`);
  const taken = targets
    .flatMap((to) => ['', ...companions].map((suffix) => to + suffix))
    .filter((to) => existsSync(to));
  if (taken.length > 0)
    throw new MirrorError(
      'usage',
      `${taken.join(' and ')} ${taken.length === 1 ? 'exists' : 'exist'} already: name another folder.`,
    );
  const around = nearestFolder(folder);
  refuseNetwork(folder, around);
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  if (freeBytes(around) < bytes + spaceForDeliveries)
    throw new MirrorError('disk_full', `The files need ${bytes} bytes, which is more than is free in ${folder}.`);
}

function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

/** Makes the copies, and writes the notes: from then on the copies count. */
async function copied(paths: FilePaths, folder: string, sources: readonly LockedSource[]): Promise<MovedNote> {
  mkdirSync(folder, { recursive: true, mode: 0o750 });
  const files: MovedFile[] = filesOf(paths).map((from) => {
    const { size, mtimeMs } = statSync(from);
    return { from, to: join(folder, basename(from)), size, mtimeMs };
  });
  try {
    for (const { from, to } of files) {
      const draft = emptyDraft(from, to);
      const source = sources.find(({ path }) => path === from);
      if (source) await source.copyTo(draft);
      else copyPlain(from, draft);
    }
    sync(folder);
    const note = { folder, files };
    writeNote(paths.secrets, note);
    writeNote(paths.database, note);
    return note;
  } finally {
    if (!existsSync(noteOf(paths.database))) {
      for (const { to } of files) rmSync(draftOf(to), { force: true });
      rmSync(noteOf(paths.secrets), { force: true });
    }
  }
}

/** A file that only its owner can ever read; a killed move may have left one. */
function emptyDraft(from: string, to: string): string {
  const draft = draftOf(to);
  for (const suffix of ['', '-journal']) rmSync(draft + suffix, { force: true });
  closeSync(openSync(draft, 'wx', 0o600));
  copyModeAndOwner(draft, statSync(from));
  return draft;
}

function copyPlain(from: string, draft: string): void {
  copyFileSync(from, draft);
  sync(draft);
  if (!readFileSync(draft).equals(readFileSync(from)))
    throw new MirrorError('file_unwritable', `${draft} was written and cannot be read back.`);
}

/** Carries out what the note says and is not done yet; if the process dies, the next call continues. */
function finish({ folder, files }: MovedNote): void {
  for (const { from, to } of files) {
    const [isDraft, isThere] = [existsSync(draftOf(to)), existsSync(to)];
    if (isDraft && isThere)
      throw new MirrorError('move_unfinished', `${to} was created by another program meanwhile: move it away first.`);
    if (isDraft) rename(draftOf(to), to);
    else if (!isThere)
      throw new MirrorError('move_unfinished', `${to}, to which ${from} was copied, no longer exists.`);
    rmSync(noteOf(to), { force: true });
  }
  sync(folder);
  for (const file of files) removeOld(file);
}

function removeOld({ from, to, size, mtimeMs }: MovedFile): void {
  const there = statSync(from, { throwIfNoEntry: false });
  if (!there) return;
  if (there.size !== size || there.mtimeMs !== mtimeMs)
    throw new MirrorError(
      'move_unfinished',
      `${from} has changed since it was copied to ${to}, so it was not removed. Keep the right one of the two: to keep the old one, delete ${noteOf(from)} and the new one.`,
    );
  rmSync(from);
  sync(dirname(from));
}

function isFinished({ files }: MovedNote): boolean {
  return files.every(({ from, to }) => !existsSync(from) && !existsSync(draftOf(to)) && existsSync(to));
}

/** No other process can hold them, because mirror and secrets were locked. */
function removeLocks(database: string): void {
  const name = basename(database);
  const isLock = (file: string): boolean =>
    file === `${name}.lock` || /^\.lock-[0-9a-f]{32}$/.test(file.slice(name.length)) || file === `${name}.world.lock`;
  for (const file of readdirSync(dirname(database)))
    if (file.startsWith(name) && isLock(file)) rmSync(join(dirname(database), file), { force: true });
}
