/**
 * The files of an installation and those beside them, which no export may replace, and the note that the mirror is damaged.
 *
 * `export` and `publish` follow a symbolic link of this user or of root. They never replace a file of the installation (mirror, secrets, their companion files, the
 * settings file and the secret files it names), a database of another program, the mirror of another daemon, or anything but a regular file
 * (64). Settings that name such a file are refused (78).
 */
import {
  existsSync,
  lstatSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
  type BigIntStats,
  type Stats,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { hasCode, MirrorError } from '../../domain/errors.ts';

export interface OwnFiles {
  readonly database: string;
  readonly secrets: string;
  /** The settings file, and all files from which it reads secrets. */
  readonly readFrom: readonly string[];
}

/** Files beside a database whose names begin with its name: journals, locks, the world of a sandbox, quarantined files. */
const journals = ['-wal', '-shm', '-journal'];
const beside = /^(?:-wal|-shm|-journal|\.(?:lock|world|corrupt-).*)$/;

/** Which of our files a path leads to, or would lead to if it existed, in words; undefined where none. */
export function ownFileAt(path: string, own: Partial<OwnFiles>): string | undefined {
  const databases = [
    { base: own.database, name: 'the mirror' },
    { base: own.secrets, name: 'the secrets file' },
  ].flatMap(({ base, name }) => (base === undefined ? [] : [{ place: resolvedPath(base), name }]));
  const [real, there] = [resolvedPath(path), stats(path)];
  const isAt = (place: string): boolean => real === place || isSame(there, stats(place));
  for (const { place, name } of databases) {
    if (isAt(place)) return `${name} itself`;
    const isBeside = real === place + damageNote || (real.startsWith(place) && beside.test(real.slice(place.length)));
    if (isBeside || [...journals, '.lock', '.world'].some((suffix) => isAt(place + suffix)))
      return `a file that belongs to ${name}`;
  }
  return own.readFrom?.some((file) => isAt(resolvedPath(file))) ? 'one of the settings files' : undefined;
}

/** The real path of the settings file, by which the mirror records who serves an account. */
export function settingsFileOf({ readFrom: [file = ''] }: Pick<OwnFiles, 'readFrom'>): string {
  return resolvedPath(file);
}

/** The path with all symbolic links resolved, even where the target does not exist yet. */
export function resolvedPath(path: string, links = 0): string {
  const whole = resolve(path);
  try {
    return realpathSync(whole);
  } catch {
    const folder = dirname(whole);
    if (folder === whole) return whole;
    const place = join(resolvedPath(folder, links), basename(whole));
    const isLink = entryAt(place)?.isSymbolicLink() ?? false;
    return isLink && links < maxLinks ? resolvedPath(resolve(dirname(place), readlinkSync(place)), links + 1) : place;
  }
}

/** The same limit as the kernel's. */
const maxLinks = 40;

/**
 * Where a file of that name is, or would be written. Links are followed that this user or root made, in the place of the file or of a folder
 * above it: others would choose which file is replaced.
 * @throws MirrorError `usage`.
 */
export function placeToWrite(target: string, links = 0): string {
  const whole = resolve(target);
  const above = dirname(whole);
  if (above === whole) return whole;
  const place = join(placeToWrite(above, links), basename(whole));
  const found = entryAt(place);
  if (!found?.isSymbolicLink() || links === maxLinks) return place;
  if (isOfOthers(found))
    throw new MirrorError('usage', `${place} is a link that uid ${found.uid} made, and is not followed.`, {
      remedy: 'Name the file itself, in a folder that only this user may write.',
    });
  return placeToWrite(resolve(dirname(place), readlinkSync(place)), links + 1);
}

/** Whether another user, who is not root, made what stands at a path. */
export function isMadeByOthers(path: string): boolean {
  const found = entryAt(path);
  return found !== undefined && isOfOthers(found);
}

/** What stands at a path, itself; undefined where nothing does, or where it cannot be seen. */
function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

function isOfOthers({ uid }: Pick<Stats, 'uid'>): boolean {
  return uid !== 0 && uid !== process.geteuid?.();
}

/** The error of a file that cannot be written because its folder is missing; undefined where the folder is there. */
export function withoutFolder(target: string): MirrorError | undefined {
  const folder = dirname(target);
  const file = fileAbove(target);
  if (file !== undefined)
    return new MirrorError('file_unwritable', `${target} cannot be written: ${file} is not a folder.`);
  if (existsSync(folder)) return undefined;
  return new MirrorError('file_unwritable', `${target} cannot be written: there is no folder ${folder}.`, {
    remedy: `Make it, as the user of the service: mkdir -p ${folder}`,
  });
}

/** What stands above a path and is no folder; undefined where nothing does. */
export function fileAbove(path: string): string | undefined {
  const above = dirname(resolve(path));
  const found = stats(above);
  if (found) return found.isDirectory() ? undefined : above;
  return above === dirname(above) ? undefined : fileAbove(above);
}

/** Whether something is there that is not a regular file: a device, a folder, a pipe. */
export function isNotRegularFile(path: string): boolean {
  return stats(path)?.isFile() === false;
}

/** Whether a path can only be that of a folder, there or not: written without its last slash, a file would get its name. */
export function namesFolder(path: string): boolean {
  return /(^|\/)\.{0,2}$/.test(path);
}

/** What the longest name of a file beside a database adds to its own, in bytes: the lock of a process. */
const longestEnding = `.lock-${'0'.repeat(32)}`.length;
/** The longest name that file systems take, and the longest path that SQLite takes, which wants room for a journal beside it. */
const [longestName, longestPath] = [255 - longestEnding, 512 - '-journal'.length - longestEnding];

/** Why no database can be at a path, whatever is there; undefined where one can. */
export function impossiblePath(path: string): string | undefined {
  if (Buffer.byteLength(resolve(path)) > longestPath) return `has a path of more than ${longestPath} bytes`;
  if (Buffer.byteLength(basename(path)) > longestName) return `has a name of more than ${longestName} bytes`;
  try {
    statSync(path, { throwIfNoEntry: false });
    return undefined;
  } catch (error) {
    return hasCode(error, 'ELOOP') ? 'is a link that leads back to itself' : undefined;
  }
}

function stats(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

function isSame(one: BigIntStats | undefined, other: BigIntStats | undefined): boolean {
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}

/** A marker file beside a damaged mirror: the next daemon checks the file before it opens it. Inside the mirror the note might be lost. */

const damageNote = '.damaged';

/** Creates the marker, unless it is there. Where that fails, the next daemon finds the damage again. */
export function noteDamage(path: string): void {
  try {
    writeFileSync(path + damageNote, '', { flag: 'wx' });
  } catch {
    // The damage itself is reported by the caller.
  }
}

export function isDamageNoted(path: string): boolean {
  return existsSync(path + damageNote);
}

export function forgetDamage(path: string): void {
  rmSync(path + damageNote, { force: true });
}
