/** A file of an older version beside a daemon of that version. */
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemRandom } from '../../../../src/domain/clock.ts';
import { lockProcess, takeSideLock } from '../../../../src/store/files/locks.ts';
import { openMirror } from '../../../../src/store/mirror.ts';
import { mirrorOptions } from '../../../../src/store/reader.ts';
import { SqliteDatabase } from '../../../../src/store/sqlite/database.ts';
import { fileClock as clock, migrations, otherConnection, temporaryFolder } from '../../../support/mirror-file.ts';

/** A mirror before its last migration. */
async function olderMirror(): Promise<string> {
  const folder = temporaryFolder();
  const older = join(folder, 'migrations');
  cpSync(migrations, older, { recursive: true });
  const last = readdirSync(join(older, 'mirror'))
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .at(-1)!;
  rmSync(join(older, 'mirror', last));
  const path = join(folder, 'vendors.db');
  await (await SqliteDatabase.open(mirrorOptions({ path, migrations: older, clock, random: systemRandom }))).close();
  return path;
}

const open = (path: string) => openMirror({ path, migrations, clock, random: systemRandom, lockProcess });

/** The lock of a daemon that this process did not start. @returns what ends it. */
function daemonOf(path: string): () => void {
  const lock = otherConnection(`${path}.lock`);
  lock.exec('BEGIN EXCLUSIVE');
  return () => void lock.exec('COMMIT');
}

it('L102 a command does not migrate the mirror under a daemon, and says what to do; afterwards it does', async () => {
  const path = await olderMirror();
  const end = daemonOf(path);
  await expect(open(path)).rejects.toMatchObject({
    code: 'already_running',
    exit: 75,
    message: `${path} must be migrated first, and an older daemon works on it: nothing was changed.`,
    hint: expect.stringContaining('Stop the daemon') as string,
  });
  end();
  await (await open(path)).close();
  // What is up to date is used beside a daemon.
  daemonOf(path);
  await (await open(path)).close();
});

it('L102 a daemon migrates the mirror whose lock it holds', async () => {
  const path = await olderMirror();
  const lock = takeSideLock(path, clock.now());
  onTestFinished(() => lock.release());
  await (await open(path)).close();
});
