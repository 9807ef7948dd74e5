/**
 * Where a database file lies: its folder, its permissions, free space, and network file systems, whose locks do not work between machines.
 *
 * A mirror on NFS or SMB is refused, because their locks are not reliable; `export` and `publish` may write there. With less than 64 MB free
 * beside the mirror, the daemon's sweeps wait, so that deliveries can still be stored; a `sync` started by a person runs.
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { asMirrorError, MirrorError } from '../../domain/errors.ts';

/** Numbers of file systems on Linux; those of other systems differ from all of these. */
const networks = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB 2'],
]);

/**
 * Refuses a place on a network file system.
 * @param place the path to name in the message
 * @param existing where it is looked for: the file itself, or the nearest folder that exists
 * @throws MirrorError `database_unusable`.
 */
export function refuseNetwork(place: string, existing: string): void {
  // Some machines return the number as a negative one.
  const network = networks.get(statfsSync(existing).type >>> 0);
  if (network !== undefined)
    throw new MirrorError(
      'database_unusable',
      `${place} is on a network file system (${network}), whose locks are not reliable; name a place on a local disk.`,
    );
}

/** Below this free space, in bytes, the rest is reserved for deliveries. */
export const spaceForDeliveries = 64 * 1024 ** 2;

/** Below this free space, in bytes, a delivery may not fit. */
const fullDisk = 4 * 1024 ** 2;

/** The error of deliveries with `free` bytes of space; undefined where it suffices. */
export function noSpaceForDelivery(free: number): MirrorError | undefined {
  if (free >= fullDisk) return undefined;
  return new MirrorError('disk_full', `The disk that holds the mirror is full: ${free} bytes are free.`);
}

/** The error of unattended sweeps with `free` bytes of space beside `path`; undefined where it suffices. */
export function noSpaceForSweep(free: number, path: string): MirrorError | undefined {
  if (free >= spaceForDeliveries) return undefined;
  const megabytes = (free / 1024 ** 2).toFixed(1);
  return new MirrorError(
    'disk_full',
    `Only ${megabytes} MB are free beside ${path}: they are reserved for deliveries, so sweeps wait.`,
  );
}

/** Free bytes on the file system of `path`, which must exist. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/**
 * Creates the folder and an empty file with its final permissions, so that it is never readable by others.
 * @returns the file's real path.
 * @throws MirrorError `database_unusable`.
 */
export function prepareFile(path: string, mode: number): string {
  try {
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path)) {
      closeSync(openSync(path, 'a', mode));
      chmodSync(path, mode);
    }
    const real = realpathSync(path);
    if (statSync(real).nlink > 1)
      throw new MirrorError(
        'database_unusable',
        `${path} has a second name (a hard link), under which its journal would be missed.`,
      );
    refuseNetwork(path, real);
    return real;
  } catch (error) {
    if (error instanceof MirrorError) throw error;
    throw new MirrorError('database_unusable', `${path} cannot be created or opened: ${asMirrorError(error).message}`, {
      cause: error,
    });
  }
}
