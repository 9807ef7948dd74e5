/** What holds the files. Where SQLite must not write: locks and shared memory of a network's file system do not hold between machines. */
import { statfsSync } from 'node:fs';

/** By the number that Linux gives a kind of file system; other systems' numbers are none of these. */
const networks = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB 2'],
]);

/** The network's file system that holds `path`; undefined where it is on a disk of this machine. */
export function networkAround(path: string): string | undefined {
  // Some machines show the number as a negative one.
  return networks.get(statfsSync(path).type >>> 0);
}

/** With less than this free beside the mirror, in bytes, what is left is for deliveries. */
export const spaceForDeliveries = 64 * 1024 ** 2;

/** Bytes that are free on the file system of `path`, which exists. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}
