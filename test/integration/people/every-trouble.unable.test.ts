/** Troubles in which no daemon can run: `doctor`, `status`, `sync` and `serve` name them alike, and once they are gone nothing is needed. */
import type * as FileSystem from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { MirrorError } from '../../../src/domain/errors.ts';
import type * as DriverPackage from '../../../src/store/sqlite/driver-package.ts';
import { testbed } from '../../support/testbed.ts';

const trouble = vi.hoisted(() => ({
  fileSystem: undefined as number | undefined,
  driver: undefined as string | undefined,
}));

vi.mock('node:fs', async (importActual) => {
  const real = await importActual<typeof FileSystem>();
  return {
    ...real,
    statfsSync: (path: string) =>
      Object.assign(real.statfsSync(path), trouble.fileSystem === undefined ? {} : { type: trouble.fileSystem }),
  };
});

vi.mock('../../../src/store/sqlite/driver-package.ts', async (importActual) => {
  const real = await importActual<typeof DriverPackage>();
  return {
    ...real,
    Driver: new Proxy(real.Driver, {
      construct(driver, given: ConstructorParameters<typeof real.Driver>) {
        if (trouble.driver !== undefined) throw new MirrorError('driver_unusable', trouble.driver);
        return new driver(...given);
      },
    }),
  };
});

const driver = 'Node.js v99.0.0 needs the SQLite driver better-sqlite3 13, which is not installed.';

it.each([
  ['a Node.js without its driver', { driver }, driver, 'Install the packages again with npm'],
  ['NFS', { fileSystem: 0x6969 }, 'is on a file system that machines share (NFS)', 'Name a place on a local disk'],
  ['9p', { fileSystem: 0x01021997 }, 'is on a file system that machines share (9p)', 'Name a place on a local disk'],
])('L32 L44 %s is named alike by each command, until it is replaced', async (_, is, cause, remedy) => {
  onTestFinished(() => void Object.assign(trouble, { fileSystem: undefined, driver: undefined }));
  const line = await testbed({
    level: 'command',
    service: {},
    settings: 'accounts: [6BApk]\nlistener: { port: 0, publicUrl: "https://mirror.example" }\nadmin: { port: 0 }',
  });
  expect((await line.run('sync')).status).toBe(0);
  Object.assign(trouble, is);
  for (const command of ['doctor', 'status', 'sync', 'serve']) {
    const { stdout, stderr, status } = await line.run(command);
    expect([command, stdout + stderr]).toEqual([command, expect.stringContaining(cause)]);
    expect([command, stdout + stderr]).toEqual([command, expect.stringContaining(remedy)]);
    expect([command, stdout + stderr]).toEqual([command, expect.not.stringContaining('nothing to do')]);
    if (command !== 'status') expect([command, status]).toEqual([command, 74]);
  }
  const { checks } = JSON.parse((await line.run('doctor', '--json')).stdout) as { checks: { check: string }[] };
  expect(checks.map(({ check }) => check)).toContain('public address');
  Object.assign(trouble, { fileSystem: undefined, driver: undefined });
  expect((await line.run('sync')).status).toBe(0);
  expect((await line.run('status')).stdout).toContain('nothing to do');
});
