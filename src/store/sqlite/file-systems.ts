/**
 * Where a database file lies: its folder, its permissions, free space, and file systems that machines share, whose locks do not work between them.
 *
 * A mirror or secrets there are refused; `export` and `publish` may write there. FUSE and virtiofs may be either: `serve` and `doctor` warn. With less than 64 MB free
 * beside the mirror, the daemon's sweeps wait, so that deliveries can still be stored; a `sync` started by a person runs.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { MirrorError, errorSentence, thisUser } from '../../domain/errors.ts';
import { sizeInWords } from '../../domain/size.ts';

/** Numbers of file systems on Linux, of which several machines use one; those of other systems differ from all of these. */
const shared = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB 2'],
  [0x01021997, '9p'],
  [0x786f4256, 'vboxsf'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x0bd00bd3, 'Lustre'],
  [0x47504653, 'GPFS'],
]);

/** FUSE and virtiofs: what is behind them may be this disk, or a folder of another machine. */
const fuse = 0x65735546;

/** What to do about a file system on which the journal of SQLite is not safe. */
export const localDisk =
  'Name a place on a local disk (`database` and `secrets`); in a container, on a named volume instead of a folder of the host.';

/** Some machines return the number as a negative one. */
const typeOf = (existing: string): number => statfsSync(existing).type >>> 0;

/**
 * The error of a place that several machines share; undefined where only this one uses it.
 * @param place the path to name in the message
 * @param existing where it is looked for: the file itself, or the nearest folder that exists
 */
export function sharedPlace(place: string, existing: string): MirrorError | undefined {
  const kind = shared.get(typeOf(existing));
  if (kind === undefined) return undefined;
  return new MirrorError(
    'database_unusable',
    `${place} is on a file system that machines share (${kind}), whose locks are not reliable.`,
    { remedy: localDisk },
  );
}

/** Refuses such a place. @throws MirrorError `database_unusable`. */
export function refuseShared(place: string, existing: string): void {
  const error = sharedPlace(place, existing);
  if (error) throw error;
}

/** What to warn of about the file system of a path that exists; undefined where nothing is doubtful. */
export function doubtfulFileSystem(path: string): string | undefined {
  if (typeOf(path) !== fuse) return undefined;
  return `${path} is on FUSE or virtiofs. If that is a folder of another machine, such as of the host of a container, its programs must not open the file: they do not see the locks.`;
}

/** Below this free space, in bytes, the rest is reserved for deliveries. */
const spaceForDeliveries = 64 * 1024 ** 2;

/** Below this free space, in bytes, a delivery may not fit. */
const fullDisk = 4 * 1024 ** 2;

/** Below this free space, in bytes, an idle file cannot be written: the first commit takes 40 kB, for the journal and its index. */
const noRoom = 64 * 1024;

/** The size of the journal's index that connections share, in bytes, once it is made. */
const indexSize = 32 * 1024;

/** The error of a file that this process may not write; undefined where it may. */
export function notWritable(path: string): MirrorError | undefined {
  try {
    accessSync(path, constants.W_OK);
    return undefined;
  } catch (cause) {
    return new MirrorError('file_unwritable', `${path} is not writable${forbiddenText(path)}.`, { cause });
  }
}

/** The same to anybody who may read the file: the error where its owner could not write it either. */
export function readOnly(path: string): MirrorError | undefined {
  const owner = statSync(path, { throwIfNoEntry: false })?.uid;
  const error = owner === undefined ? undefined : notWritable(path);
  const isReadOnly = error?.cause instanceof Error && 'code' in error.cause && error.cause.code === 'EROFS';
  return isReadOnly || owner === process.geteuid?.() ? error : undefined;
}

/** The error of deliveries with `free` bytes of space; undefined where it suffices. */
export function noSpaceForDelivery(free: number): MirrorError | undefined {
  if (free >= fullDisk) return undefined;
  return new MirrorError('disk_full', `The disk that holds the mirror is full: ${free} bytes are free.`);
}

/** The error of unattended sweeps with `free` bytes of space beside `path`; undefined where it suffices. */
export function noSpaceForSweep(free: number, path: string): MirrorError | undefined {
  if (free >= spaceForDeliveries) return undefined;
  return new MirrorError(
    'disk_full',
    `Only ${sizeInWords(free)} are free beside ${path}: they are reserved for deliveries, so the daemon's sweeps wait; \`sync\` by command runs.`,
  );
}

/**
 * Refuses to open an idle file to write where the index of its journal has no room: SQLite would leave half of one, with which nobody can read
 * the file until there is room. @throws MirrorError `disk_full`.
 */
export function refuseWithoutRoom(path: string): void {
  const index = statSync(`${path}-shm`, { throwIfNoEntry: false });
  if ((index?.size ?? 0) >= indexSize) return;
  const { bavail, bfree, bsize } = statfsSync(dirname(path));
  // Root may use blocks that are reserved for it.
  const free = (process.geteuid?.() === 0 ? bfree : bavail) * bsize;
  if (free < noRoom) throw new MirrorError('disk_full', `${path}: the disk is full (${free} bytes are free).`);
}

/** Whether nothing more can be written beside a file. */
export function isDiskFull(path: string): boolean {
  try {
    return freeBytes(dirname(path)) < noRoom;
  } catch {
    return false;
  }
}

/** Free bytes on the file system of `path`, which must exist. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/**
 * Gives what root has just made to the owner of its folder: a command of root must not lock out the daemon of another user. Others make files of
 * their own. That owner may put a link in its place at any moment, so a link is never followed, and a file with a second name is left to root.
 * @param handle of the file, where it is open: then it may have another name yet
 */
export function giveToFolderOwner(path: string, handle?: number): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  const made = handle === undefined ? lstatSync(path) : fstatSync(handle);
  if (uid === 0 || made.uid !== 0 || (made.isFile() && made.nlink > 1)) return;
  if (handle === undefined) lchownSync(path, uid, gid);
  else fchownSync(handle, uid, gid);
}

/** Of a file that cannot be used: that its file system can only be read, or that this user may not and why; empty where that is not the reason. */
export function forbiddenText(path: string): string {
  try {
    const place = existsSync(path) ? path : dirname(path);
    const { R_OK, W_OK, X_OK } = constants;
    for (const [at, access] of [
      [place, R_OK | W_OK],
      [dirname(path), W_OK | X_OK],
    ] as const) {
      const code = refusedAccess(at, access);
      if (code === 'EROFS') return ', because its file system can only be read';
      if (code === undefined) continue;
      const { uid, mode } = statSync(at);
      const user = thisUser().replace('T', 't');
      return uid === process.geteuid?.()
        ? ` by ${user}, because ${at} has the mode ${(mode & 0o777).toString(8)}: chmod u+rwX ${at}`
        : ` by ${user}, because it belongs to ${uid === 0 ? 'root' : `uid ${uid}`}`;
    }
  } catch {
    // Nothing is known of it.
  }
  return '';
}

/** The system's code where this user may not use the path like that. */
function refusedAccess(path: string, access: number): unknown {
  try {
    accessSync(path, access);
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : 'EACCES';
  }
}

/**
 * Makes a folder and those above it that are missing, one by one: where none can be made, as below /proc, `recursive` of Node.js never ends.
 * @throws what the file system throws.
 */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let at = resolve(folder); !existsSync(at); at = dirname(at)) missing.unshift(at);
  if (missing.length === 0) mkdirSync(folder, { recursive: true });
  for (const path of missing) {
    try {
      mkdirSync(path);
    } catch (error) {
      // Another process made it meanwhile.
      if (existsSync(path)) continue;
      throw error;
    }
    giveToFolderOwner(path);
  }
}

/** Of a file that has another name besides this one; undefined for all others, and where there is none. */
export function secondName(path: string): MirrorError | undefined {
  if ((statSync(path, { throwIfNoEntry: false })?.nlink ?? 1) < 2) return undefined;
  return new MirrorError(
    'database_unusable',
    `${path} has a second name (a hard link), under which its journal would be missed.`,
    {
      remedy: `Remove the other name, which find / -samefile ${path} shows: whoever uses it reads what is old, or damages the file. \`vendor-mirror export\` makes copies.`,
    },
  );
}

/**
 * Creates the folder and an empty file with its final permissions, so that it is never readable by others.
 * @returns the file's real path.
 * @throws MirrorError `database_unusable`.
 */
export function prepareFile(path: string, mode: number): string {
  try {
    makeFolder(dirname(resolve(path)));
    if (!existsSync(path)) {
      const handle = openSync(path, 'a', mode);
      try {
        fchmodSync(handle, mode);
        giveToFolderOwner(realpathSync(path), handle);
      } finally {
        closeSync(handle);
      }
    }
    const real = realpathSync(path);
    const second = secondName(real);
    if (second) throw second;
    if (mountPoints().has(real))
      throw new MirrorError(
        'database_unusable',
        `${path} is mounted by itself, so its journal would be missed under its other name, or lost with this place.`,
        { remedy: 'Mount the folder of the file instead of the file.' },
      );
    refuseShared(path, real);
    return real;
  } catch (error) {
    if (error instanceof MirrorError) throw error;
    throw new MirrorError('database_unusable', `${path} cannot be created or opened: ${errorSentence(error)}`, {
      cause: error,
    });
  }
}

/** The places where something is mounted, as Linux tells them; none on other systems. */
function mountPoints(): ReadonlySet<string> {
  let known: string;
  try {
    known = readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return new Set();
  }
  // The fifth word of a line, in which blanks and backslashes are octal numbers.
  const written = (place: string): string =>
    place.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
  return new Set(known.split('\n').map((line) => written(line.split(' ')[4] ?? '')));
}
