import Driver from 'better-sqlite3';
import { writeFileSync } from 'node:fs';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { defaultWorld } from '../../src/sandbox/worlds.ts';
import { build, place, service, type Ended } from './program.ts';

beforeAll(build);

const nowhere = { baseUrl: 'http://127.0.0.1:9', token: 'unused' };
const ignoring = { ...defaultWorld, paging: 'ignored' } as const;

/** How a process comes to each end: the code of its error, what it is about, and its way there. */
const ends: readonly [number, string, string, () => Promise<Ended>][] = [
  [
    1,
    'paging_ignored',
    'the service shows one page for ever',
    async () => place(await service({ vendors: 40, world: ignoring })).run('sync', '--json'),
  ],
  [
    64,
    'usage',
    'an option has a value that means nothing',
    () => place(nowhere).run('serve', '--json', '--unregistered'),
  ],
  [
    69,
    'redirected',
    'somebody else answers',
    async () => place(await service({ faults: { redirect: 1 } })).run('sync', '--json'),
  ],
  [
    74,
    'database_unusable',
    'the database is something else',
    () => {
      const at = place(nowhere);
      writeFileSync(at.database, 'This is no database. '.repeat(100));
      return at.run('sync', '--json');
    },
  ],
  [
    75,
    'database_locked',
    'somebody else holds the database',
    async () => {
      const at = place(await service({ vendors: 5 }));
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
    async () => place({ ...(await service()), token: 'expired' }).run('sync', '--json'),
  ],
  [
    78,
    'settings_invalid',
    'the settings have a word too many',
    () => place(nowhere, { settings: 'schedul: { pull: "0 3 * * *" }' }).run('serve', '--json'),
  ],
];

it.each(ends)('the process exits with %i (%s) where %s', async (expected, code, _, run) => {
  const { status, stdout, stderr } = await run();
  expect([status, stderr]).toEqual([expected, expect.stringMatching(/^(?:vendor-mirror: [^]+\n {2}.+\n)?$/)]);
  expect(stdout).toContain(`"code":"${code}"`);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false });
});

it('the process exits with 1 where the mirror is not as the source', async () => {
  const sandbox = await service({ vendors: 5 });
  const at = place(sandbox);
  await at.run('sync');
  expect((await at.run('verify')).status).toBe(0);
  sandbox.sandbox.vendors(sandbox.account).create({ vendor_name: 'New', language: 'en' });
  const { status, stdout } = await at.run('verify', '--json');
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, accounts: [{ outcome: 'different', differences: [{}] }] });
});
