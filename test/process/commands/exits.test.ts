import { writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { oddWorld } from '../../support/odd-world.ts';
import { program } from '../../support/testbed/build.ts';
import { ended, type Ended } from '../../support/testbed/program.ts';
import { testbed } from '../../support/testbed.ts';

const nowhere = { baseUrl: 'http://127.0.0.1:9', token: 'unused' };
const ignoring = oddWorld('paging=ignored');

/** How a process comes to each end: the code of its error, what it is about, and its way there. */
const ends: readonly [number, string, string, () => Promise<Ended>][] = [
  [
    1,
    'paging_ignored',
    'the service shows one page for ever',
    async () => (await testbed({ level: 'program', service: { vendors: 40, world: ignoring } })).run('sync', '--json'),
  ],
  [
    64,
    'usage',
    'an option has a value that means nothing',
    async () => (await testbed({ level: 'program', service: nowhere })).run('serve', '--json', '--unregistered'),
  ],
  [
    69,
    'redirected',
    'somebody else answers',
    async () =>
      (
        await testbed({
          level: 'program',
          service: { vendors: 100, faults: { redirect: 1 } },
        })
      ).run('sync', '--json'),
  ],
  [
    74,
    'database_unusable',
    'the database is something else',
    async () => {
      const at = await testbed({ level: 'program', service: nowhere });
      writeFileSync(at.database, 'This is no database. '.repeat(100));
      return at.run('sync', '--json');
    },
  ],
  [
    75,
    'database_locked',
    'somebody else holds the database',
    async () => {
      const at = await testbed({ level: 'program', service: { vendors: 5 } });
      await at.run('sync');
      const other = new Driver(at.database);
      onTestFinished(() => void other.close());
      other.exec('BEGIN EXCLUSIVE');
      return at.run('vendors', 'list', '--json');
    },
  ],
  [
    77,
    'unauthenticated',
    'the token is unknown',
    async () =>
      (
        await testbed({
          level: 'program',
          service: { ...(await testbed({ level: 'sandbox', vendors: 100 })), token: 'expired' },
        })
      ).run('sync', '--json'),
  ],
  [
    78,
    'settings_invalid',
    'the settings have a word too many',
    async () =>
      (await testbed({ level: 'program', service: nowhere, settings: 'schedul: { pull: "0 3 * * *" }' })).run(
        'serve',
        '--json',
      ),
  ],
];

it.each(ends)('the process exits with %i (%s) where %s', async (expected, code, _, run) => {
  const { status, stdout, stderr } = await run();
  expect([status, stderr]).toEqual([
    expected,
    expect.stringMatching(/^(?:(?:6BApk: |{).+\n)*(?:vendor-mirror: [^]+\n {2}.+\n)?$/),
  ]);
  expect(stdout).toContain(`"code":"${code}"`);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false });
});

it('the process exits with 1 if the mirror differs from the source', async () => {
  const sandbox = await testbed({ level: 'sandbox', vendors: 5 });
  const at = await testbed({ level: 'program', service: sandbox });
  await at.run('sync');
  expect((await at.run('verify')).status).toBe(0);
  sandbox.sandbox.vendors(sandbox.account).create({ vendor_name: 'New', language: 'en' });
  const { status, stdout } = await at.run('verify', '--json');
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, accounts: [{ outcome: 'different', differences: [{}] }] });
});

it.each([['vendors list --json'], ['vendors list'], ['status'], ['changes'], ['--help'], ['sync --json']])(
  'K51 %s exits with 74 where the disk for its results is full',
  async (command) => {
    const at = await testbed({ level: 'program', service: { vendors: 5 } });
    expect((await at.run('sync')).status).toBe(0);
    const { status, stderr } = await ended(
      at.execute('sh', '-c', `exec '${process.execPath}' '${program}' ${command} > /dev/full`),
    );
    const said = /The results cannot be written to standard output \(ENOSPC\)\.\n {2}Free space/;
    expect([status, stderr]).toEqual([74, expect.stringMatching(said)]);
    expect(stderr).not.toMatch(/^ {4}at /m);
  },
);

it.each([
  'vendors list',
  'vendors list --json',
  'changes',
  'export - --format csv',
  'status',
  'doctor --json',
  '--help',
])('K51 %s exits with 1, and without a message, where its results have no reader', async (command) => {
  const at = await testbed({ level: 'program', service: { vendors: 5 } });
  expect((await at.run('sync')).status).toBe(0);
  const whole = `exec 3>&1; { '${process.execPath}' '${program}' ${command}; echo "$?" >&3; } | exec 0<&-`;
  const { stdout, stderr } = await ended(at.execute('sh', '-c', whole));
  expect([stdout, stderr]).toEqual(['1\n', '']);
});

it('K51 a full disk for messages does not stop the work, and the results are complete', async () => {
  const at = await testbed({ level: 'program', service: { vendors: 5 } });
  const { status, stdout } = await ended(
    at.execute('sh', '-c', `exec '${process.execPath}' '${program}' sync --json --log-level trace 2> /dev/full`),
  );
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, runs: [{ seen: 5 }] });
});
