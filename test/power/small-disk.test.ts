import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

import { Driver } from '../../src/store/sqlite/driver-package.ts';
import { activeDifferences } from '../support/mirror/differences.ts';
import { isMissing } from '../support/needed.ts';
import { inspect } from './inspection.ts';
import { deliver, introduce, quietDaemon, watch } from './tapped.ts';
import { testbed, type Testbed } from '../support/testbed.ts';

/** Mounts a file system of this size on a folder. */
function mount(folder: string, size: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', folder]);
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
}

/** Why this user may not mount, if so; found out in a name space of its own, so that nothing is left behind. */
const refused =
  spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
    ? undefined
    : 'this user may not mount a disk';

/** The place on a disk of one and a half megabytes, half of which an empty mirror takes; `grow` makes it a large one. */
function onSmallDisk(at: Testbed<'program'>): { grow: () => void } {
  const settings = join(at.folder, 'mirror.yaml');
  const kept = readFileSync(settings);
  mount(at.folder, '1536k');
  writeFileSync(settings, kept);
  return { grow: () => void execFileSync('mount', ['-o', 'remount,size=64m', at.folder]) };
}

/** How many vendors another program reads there. */
function vendorsIn(folder: string): unknown {
  const reader = new Driver(join(folder, 'vendors.db'), { readonly: true });
  try {
    return reader.prepare('SELECT count(*) FROM vendors').pluck().get();
  } finally {
    reader.close();
  }
}

describe.skipIf(isMissing(refused))(`a small disk${refused === undefined ? '' : ` (not here: ${refused})`}`, () => {
  it('F3 ends a pull with 74 and whole pages; with more room, the mirror equals the source', async () => {
    const sandbox = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 400 });
    const at = await testbed({ level: 'program', service: sandbox });
    const disk = onSmallDisk(at);
    const { status, stderr } = await at.run('sync', '--json');
    expect([status, stderr]).toEqual([74, expect.stringContaining('disk is full')]);
    expect(await inspect(at.folder, { acknowledged: [], isWhole: () => undefined })).toEqual([]);
    disk.grow();
    expect((await at.run('sync')).status).toBe(0);
    expect(activeDifferences({ ...at, sandbox: sandbox.sandbox })).toEqual([]);
  });

  it('F3 C12 makes a daemon answer 503 and keep running; with more room, it accepts deliveries again', async () => {
    const sandbox = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 20 });
    const at = await testbed({ level: 'program', service: sandbox, settings: quietDaemon });
    const disk = onSmallDisk(at);
    const path = await introduce(at);
    const daemon = at.start('serve');
    const { serving } = watch(daemon);
    const address = `${await serving}${path}`;
    const vendorOf = (number: number): number => 900_000 + number;
    const send = (first: number, count: number) =>
      deliver(address, { numbers: Array.from({ length: count }, (_, index) => first + index), lanes: 2, vendorOf });
    const answers = await send(1, 2_000);
    const refused = answers.filter(({ status }) => status === 503);
    expect(answers.every(({ status }) => status === 200 || status === 503)).toBe(true);
    expect([refused.length > 0, refused.length < 2_000]).toEqual([true, true]);
    disk.grow();
    answers.push(...(await send(5_001, 20)));
    expect(answers.slice(-20).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
    const acknowledged = answers.filter(({ status }) => status === 200).map(({ delivery }) => delivery);
    expect(await inspect(at.folder, { acknowledged, isWhole: () => undefined })).toEqual([]);
  });

  it.each([
    ['full', 'the disk is full', 'Free space on the disk'],
    ['all but full', 'the disk is full', 'Free space on the disk'],
    ['only to be read', 'its file system can only be read', 'Check the path'],
  ])(
    'L44 a mirror at rest on a disk that is %s: each command says so, others can read it, and nothing is needed afterwards',
    async (kind, cause, remedy) => {
      const at = await testbed({ level: 'program', service: { vendors: 20 } });
      const disk = onSmallDisk(at);
      disk.grow();
      expect((await at.run('sync')).status).toBe(0);
      const filling = join(at.folder, 'filling');
      if (kind !== 'only to be read') spawnSync('dd', ['if=/dev/zero', `of=${filling}`, 'bs=4k']);
      if (kind === 'all but full') truncateSync(filling, statSync(filling).size - 20 * 1024);
      if (kind === 'only to be read') execFileSync('mount', ['-o', 'remount,ro', at.folder]);
      for (const command of ['sync', 'doctor', 'serve']) {
        const { status, stdout, stderr } = await at.run(command);
        expect([command, status, stdout + stderr]).toEqual([command, 74, expect.stringContaining(cause)]);
        expect(stdout + stderr).toContain(remedy);
        expect([command, vendorsIn(at.folder)]).toEqual([command, 20]);
      }
      if (kind !== 'only to be read') rmSync(filling);
      else execFileSync('mount', ['-o', 'remount,rw', at.folder]);
      expect((await at.run('sync')).status).toBe(0);
    },
  );
});
