/** What makes a change of files last through a power cut. */
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Waits until a file, or the names in a folder, are on the disk. */
export function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Writes a new file that only its owner may read; on disk when this returns. */
export function writePrivately(path: string, content: string | Uint8Array): void {
  writeFileSync(path, content, { flag: 'wx', mode: 0o600 });
  sync(path);
}

/** Gives a file another name in its folder, in place of what had that name; on disk when this returns. */
export function rename(from: string, to: string): void {
  renameSync(from, to);
  sync(dirname(to));
}
