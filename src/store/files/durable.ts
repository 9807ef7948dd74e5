/** How files are written so that they last through a power cut, and belong to whom they belonged. */
import {
  chmodSync,
  chownSync,
  closeSync,
  fsync,
  fsyncSync,
  openSync,
  renameSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/** Waits until a file, or the names in a folder, are on the disk. */
export function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** As `sync`, while this process goes on: a file of gigabytes takes its time. */
export async function syncInBackground(path: string): Promise<void> {
  const handle = openSync(path, 'r');
  try {
    await promisify(fsync)(handle);
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

/** Gives a draft the owner, where we may, and the mode of the file that it is to replace. */
export function copyModeAndOwner(draft: string, { uid, gid, mode }: Stats): void {
  const own = statSync(draft);
  try {
    if (own.uid !== uid || own.gid !== gid) chownSync(draft, uid, gid);
  } catch {
    // Only root may give a file away.
  }
  chmodSync(draft, mode & 0o777);
}
