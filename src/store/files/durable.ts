/** Writes files so that they survive a power cut, and keep their owner and mode. */
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
function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Like `sync`, without blocking: a large file takes long. */
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

/** Renames a file, replacing any file of the new name; on disk when this returns. */
export function rename(from: string, to: string): void {
  renameSync(from, to);
  sync(dirname(to));
}

/** Gives a draft the mode, and where allowed the owner, of the file that it replaces. */
export function copyModeAndOwner(draft: string, { uid, gid, mode }: Stats): void {
  const own = statSync(draft);
  try {
    if (own.uid !== uid || own.gid !== gid) chownSync(draft, uid, gid);
  } catch {
    // Only root may give a file away.
  }
  chmodSync(draft, mode & 0o777);
}
