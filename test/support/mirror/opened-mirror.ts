/** A mirror with these rows, opened as the program does; closed with the test. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemRandom, type Clock } from '../../../src/domain/clock.ts';
import { openMirror, type Store } from '../../../src/store/mirror.ts';
import { migrations, namedProcess, temporaryFolder, writeMirror, type Rows } from '../mirror-file.ts';

export async function openedMirror(rows: Rows, clock: Clock): Promise<{ path: string; mirror: Store }> {
  const path = join(temporaryFolder(), 'vendors.db');
  await writeMirror(path, clock, rows);
  const mirror = await openMirror({ path, migrations, clock, random: systemRandom, lockProcess: namedProcess() });
  onTestFinished(() => mirror.close());
  return { path, mirror };
}
