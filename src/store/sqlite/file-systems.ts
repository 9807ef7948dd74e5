/** File systems: free space, and network file systems, whose locks and shared memory do not work between machines. */
import { statfsSync } from 'node:fs';
import { MirrorError } from '../../domain/errors.ts';

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
