/** A mirror whose file system became read-only, as a disk with errors does: nothing keeps it fresh any more. */
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { isMissing } from '../../support/needed.ts';
import { testbed } from '../../support/testbed.ts';

const refused =
  spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
    ? undefined
    : 'this user may not mount a disk';

it.skipIf(isMissing(refused)).each(['sync', 'reconcile'])(
  'L44 a file system that is read-only is named alike by status and doctor, until it can be written and %s runs',
  async (command) => {
    const line = await testbed({
      level: 'command',
      service: { vendors: 6 },
      settings: 'accounts: [6BApk]\nlistener: { host: 127.0.0.1, port: 0 }\nadmin: { port: 0 }',
    });
    expect((await line.run('sync')).status).toBe(0);
    execFileSync('mount', ['--bind', line.folder, line.folder]);
    onTestFinished(() => {
      execFileSync('umount', ['-l', line.folder]);
      rmSync(line.folder, { recursive: true, force: true });
    });
    const remount = (how: string): unknown => execFileSync('mount', ['-o', `remount,bind,${how}`, line.folder]);
    remount('ro');
    const named = `${line.database} is not writable, because its file system can only be read. Check the path`;
    const status = await line.run('status');
    expect(status.stdout).toMatch(/^Changes cannot be stored now.*one thing to do\.\n/);
    expect(status.stdout).toContain(named);
    expect((await line.run('doctor')).stdout).toContain(`database: ${named}`);
    remount('rw');
    expect((await line.run(command)).status).toBe(0);
    expect((await line.run('status')).stdout).toMatch(/^Your mirror is correct as of .*; nothing to do\.\n/);
  },
);
