/** The files of an installation, and what SQLite lays beside them: nothing else may take the place of one. */
import { lstatSync, readlinkSync, realpathSync, statSync, type BigIntStats } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { damageNote } from './damage-note.ts';

/** Where an installation keeps what. */
export interface OwnFiles {
  readonly database: string;
  readonly secrets: string;
  /** The settings file, and every file that it takes a secret from. */
  readonly readFrom: readonly string[];
}

/** What stands beside a database under its name: SQLite's journals, the lock of the daemon, what was set aside, a note of damage. */
const besides = [damageNote, '-wal', '-shm', '-journal', '.lock', '.lock-wal', '.lock-shm', '.lock-journal'];
const setAside = '.corrupt-';

/** What of ours a path leads to, in words, or would lead to if it were there; undefined where it is none. */
export function ownFileAt(path: string, own: Partial<OwnFiles>): string | undefined {
  const files = [
    ...(own.database === undefined ? [] : [{ base: own.database, name: 'the mirror', suffixes: besides }]),
    ...(own.secrets === undefined ? [] : [{ base: own.secrets, name: 'the file of secrets', suffixes: besides }]),
    ...(own.readFrom ?? []).map((base) => ({ base, name: 'a file of the settings', suffixes: [] })),
  ];
  const [real, there] = [realPlace(path), stats(path)];
  for (const { base, name, suffixes } of files) {
    const place = realPlace(base);
    if (real === place || isSame(there, stats(place))) return `${name} itself`;
    if (suffixes.length > 0 && real.startsWith(place + setAside)) return `what was set aside of ${name}`;
    const beside = suffixes.some((suffix) => real === place + suffix || isSame(there, stats(place + suffix)));
    if (beside) return `a file that belongs to ${name}`;
  }
  return undefined;
}

/** A path with every symbolic link in it followed, those too that lead to what is not there yet. */
export function realPlace(path: string, links = 0): string {
  const whole = resolve(path);
  try {
    return realpathSync(whole);
  } catch {
    const folder = dirname(whole);
    if (folder === whole) return whole;
    const place = join(realPlace(folder, links), basename(whole));
    const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
    return isLink && links < mostLinks ? realPlace(resolve(dirname(place), readlinkSync(place)), links + 1) : place;
  }
}

/** As many as the kernel follows. */
const mostLinks = 40;

/** Whether something is there that is no regular file: a device, a folder, a pipe. */
export function isNoFile(path: string): boolean {
  return stats(path)?.isFile() === false;
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
