/**
 * Who else may read or write a file that settings name, by owners and modes of the file and its folders.
 *
 * What others cannot reach, because they may not enter one of its folders, is open to nobody, whatever its own mode. Pipes are not judged,
 * nor files that are not there.
 */
import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Bits of a mode that let the group and all others in. */
const [writeByOthers, enterByOthers, readByAll, enterByAll, sticky] = [0o022, 0o011, 0o004, 0o001, 0o1000];

/** Why something is open to others, and what to do about it. */
interface Opening {
  readonly why: string;
  readonly remedy: string;
}

/**
 * Why others than this user and root may change a file, or put another in its place: by the file, all folders above it, and the links that
 * lead to it; undefined where they may not.
 */
export function writableByOthers(path: string): Opening | undefined {
  const place = regularFile(path);
  return place === undefined ? undefined : (openingOf(place, dirname(place)) ?? openingOnWay(resolve(path)));
}

function openingOnWay(path: string): Opening | undefined {
  const above = dirname(path);
  if (above === path) return undefined;
  const folder = realpathSync(above);
  const opening = openingOnWay(above) ?? openingOf(folder, folder);
  const link = lstatSync(path);
  if (opening || !link.isSymbolicLink()) return opening;
  return belongsToOther(path, link.uid) ?? openingOnWay(resolve(folder, readlinkSync(path)));
}

/**
 * Why others than `user` and root may put something else in the place of what is in a folder, by the folder and those above it; undefined
 * where they may not.
 */
export function replaceableByOthers(folder: string, user = process.getuid?.()): Opening | undefined {
  const place = realpathSync(folder);
  const above = dirname(place);
  return openingOf(place, place, user) ?? (above === place ? undefined : replaceableByOthers(above, user));
}

/** Of a folder, or of a file in it. In a sticky folder, everybody has only files of their own. */
function openingOf(path: string, folder: string, user = process.getuid?.()): Opening | undefined {
  const { mode, uid } = statSync(path);
  const other = belongsToOther(path, uid, user);
  if (other) return other;
  const isOpen = (mode & writeByOthers) !== 0 && (path !== folder || (mode & sticky) === 0);
  return isOpen && isReachable(folder, enterByOthers)
    ? { why: `others may write ${path}`, remedy: `Run: chmod go-w ${path}` }
    : undefined;
}

function belongsToOther(path: string, uid: number, user = process.getuid?.()): Opening | undefined {
  return uid === 0 || uid === user
    ? undefined
    : { why: `${path} belongs to another user`, remedy: `Run: chown -h ${user ?? 0} ${path}` };
}

/** Whether everybody on this machine may read a file. */
export function readableByAll(path: string): boolean {
  const place = regularFile(path);
  return place !== undefined && (statSync(place).mode & readByAll) !== 0 && isReachable(dirname(place), enterByAll);
}

/** The real path of a regular file; undefined for anything else. */
function regularFile(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? realpathSync(path) : undefined;
  } catch {
    return undefined;
  }
}

function isReachable(folder: string, enter: number): boolean {
  return (statSync(folder).mode & enter) !== 0 && (dirname(folder) === folder || isReachable(dirname(folder), enter));
}
