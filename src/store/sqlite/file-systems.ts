/** What holds the files. Where SQLite must not write: locks and shared memory of a network's file system do not hold between machines. */
import { statfsSync } from 'node:fs';
import { MirrorError } from '../../domain/errors.ts';

/** By the number that Linux gives a kind of file system; other systems' numbers are none of these. */
const networks = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB 2'],
]);

/** The network's file system that holds `path`; undefined where it is on a disk of this machine. */
export function networkFileSystemOf(path: string): string | undefined {
  // Some machines show the number as a negative one.
  return networks.get(statfsSync(path).type >>> 0);
}

/** With less than this free beside the mirror, in bytes, what is left is for deliveries. */
export const spaceForDeliveries = 64 * 1024 ** 2;

/** With less than this, a delivery may not find room any more. */
const fullDisk = 4 * 1024 ** 2;

/** Why a delivery may find no room where so many bytes are free; undefined while it does. */
export function noSpaceForDelivery(free: number): MirrorError | undefined {
  if (free >= fullDisk) return undefined;
  return new MirrorError('disk_full', `The disk that holds the mirror is full: ${free} bytes are free.`);
}

/** Why a sweep that nobody watches should not begin where so many bytes are free beside `path`; undefined while it may. */
export function noSpaceForSweep(free: number, path: string): MirrorError | undefined {
  if (free >= spaceForDeliveries) return undefined;
  const megabytes = (free / 1024 ** 2).toFixed(1);
  return new MirrorError(
    'disk_full',
    `Only ${megabytes} MB are free beside ${path}: they are left for deliveries, and sweeps wait.`,
  );
}

/** Bytes that are free on the file system of `path`, which exists. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}
