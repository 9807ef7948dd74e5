/**
 * Troubles of the driver, the file system and the disk: `doctor`, `status`, `sync` and `serve` name them alike, and so does a daemon that can run.
 * Once they are gone, nothing is needed.
 */
import type * as FileSystem from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { MirrorError } from '../../../src/domain/errors.ts';
import type * as DriverPackage from '../../../src/store/sqlite/driver-package.ts';
import { besideService } from '../../support/surfaces.ts';
import { testbed } from '../../support/testbed.ts';

const trouble = vi.hoisted(() => ({
  fileSystem: undefined as number | undefined,
  freeBytes: undefined as number | undefined,
  driver: undefined as string | undefined,
}));

vi.mock('node:fs', async (importActual) => {
  const real = await importActual<typeof FileSystem>();
  return {
    ...real,
    statfsSync(path: string) {
      const { fileSystem, freeBytes } = trouble;
      return Object.assign(
        real.statfsSync(path),
        fileSystem === undefined ? {} : { type: fileSystem },
        freeBytes === undefined ? {} : { bavail: freeBytes, bsize: 1 },
      );
    },
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
  onTestFinished(() => void Object.assign(trouble, { fileSystem: undefined, freeBytes: undefined, driver: undefined }));
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
  Object.assign(trouble, { fileSystem: undefined, freeBytes: undefined, driver: undefined });
  expect((await line.run('sync')).status).toBe(0);
  expect((await line.run('status')).stdout).toContain('nothing to do');
});

it.each([
  ['short of space', 20 * 2 ** 20, 'disk_low', 'Only 20 MB are free'],
  ['full', 4_096, 'cannot_store', 'The disk that holds the mirror is full: 4096 bytes are free.'],
])('L44 a disk that is %s is named alike by each, until there is space', async (_, freeBytes, code, cause) => {
  onTestFinished(() => void Object.assign(trouble, { freeBytes: undefined }));
  const { line, status, doctor, serve } = await besideService(6);
  Object.assign(trouble, { freeBytes });
  const daemon = await serve();
  const problems = await status();
  expect(problems).toMatchObject([{ code, message: expect.stringContaining(cause) as string }]);
  await daemon.shows(problems);
  const disk = (await doctor()).filter(({ check }) => check === 'disk');
  expect(disk.map(({ message, remedy }) => [message, remedy])).toEqual(
    problems.map(({ message, what_to_do }) => [message, what_to_do]),
  );
  await daemon.end();
  Object.assign(trouble, { freeBytes: undefined });
  expect((await line.run('sync')).status).toBe(0);
  const again = await serve();
  await again.shows([]);
  expect([await status(), await doctor()]).toEqual([[], []]);
});
