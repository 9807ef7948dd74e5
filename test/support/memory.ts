import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** What all tests at once may need, in bytes. A container's shared memory can be far smaller. */
const enough = 1024 ** 3;

function isRoomy(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= enough;
}

/** A folder where a commit costs no turn of a disk. */
export const memory = isRoomy('/dev/shm') ? '/dev/shm' : tmpdir();
