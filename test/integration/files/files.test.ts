/** A file that is taken away from under a running daemon. */
import { copyFileSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SqliteDatabase } from '../../../src/store/sqlite/database.ts';
import { isDaemonAt } from '../../../src/store/files/locks.ts';

import { virtualClock } from '../../support/virtual-clock.ts';
import { delivery, signed } from '../../support/deliveries/signed-delivery.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

it.each<[string, (path: string) => void]>([
  ['deleted', (path) => rmSync(path)],
  ['moved', (path) => renameSync(path, `${path}.moved`)],
])(
  'F9 the mirror %s while it is in use: the daemon reports within a minute that it cannot continue',
  async (_, take) => {
    const at = await testbed({ level: 'daemon' });
    await at.clock.pass(60_000);
    expect(at.fatal).toEqual([]);
    take(at.settings.database);
    await at.clock.pass(60_000);
    expect(at.fatal).toMatchObject([
      {
        code: 'database_unusable',
        message: expect.stringContaining('was moved or deleted while it was in use') as unknown,
      },
    ]);
    expect(at.fatal[0]?.exit).toBe(74);
  },
);

it.each<[string, (path: string) => void]>([
  ['deleted', (path) => rmSync(path)],
  [
    'replaced',
    (path) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
])(
  'K25 the secrets %s while they are in use: the daemon reports within a minute that it cannot continue',
  async (_, take) => {
    const at = await testbed({ level: 'daemon' });
    await at.clock.pass(60_000);
    expect(at.fatal).toEqual([]);
    expect((await at.look('/readyz')).status).toBe(200);
    take(at.settings.secrets);
    await at.clock.pass(2_000);
    const message = `${at.settings.secrets} was moved or deleted while it was in use.`;
    expect(await at.look('/readyz')).toMatchObject({ status: 503, body: expect.stringContaining(message) as unknown });
    expect(at.fatal).toEqual([]);
    await at.clock.pass(58_000);
    expect(at.fatal).toMatchObject([{ code: 'database_unusable', message, exit: 74 }]);
  },
);

it.each<[string, (path: string) => void]>([
  ['deleted', (path) => rmSync(path)],
  ['moved', (path) => renameSync(path, `${path}.moved`)],
  [
    'replaced by a copy',
    (path) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
])('F9 the mirror is %s: no delivery is acknowledged from then on', async (_, take) => {
  const place = await testbed({ level: 'listener' });
  expect((await fetch(place.address, signed(delivery))).status).toBe(200);
  take(place.mirror.path);
  for (const object_id of ['1002', '1003'])
    expect((await fetch(place.address, signed({ ...delivery, object_id }))).status).toBe(503);
});

describe.each(['-wal', '-shm'])('K25 the %s is taken away from under', (end) => {
  const takings: [string, (path: string) => void][] = [
    ['deleted', (path) => rmSync(path)],
    ['moved', (path) => renameSync(path, `${path}.moved`)],
    ['replaced by a copy', replace],
  ];

  it.each(takings)('the mirror, %s: no delivery is acknowledged from then on', async (_, take) => {
    const place = await testbed({ level: 'listener' });
    expect((await fetch(place.address, signed(delivery))).status).toBe(200);
    take(place.mirror.path + end);
    for (const object_id of ['1002', '1003'])
      expect((await fetch(place.address, signed({ ...delivery, object_id }))).status).toBe(503);
  });

  it.each(takings)('the secrets, %s: none is stored from then on', async (_, take) => {
    const { folder, secrets } = await testbed({ level: 'listener' });
    await secrets.verifiers.expect(account, 'bill_vendor', 7);
    take(join(folder, 'secrets.db') + end);
    await expect(secrets.verifiers.expect(account, 'bill_vendor', 8)).rejects.toMatchObject({
      code: 'database_unusable',
      message: expect.stringContaining(`secrets.db${end} was moved or deleted while it was in use`) as unknown,
    });
  });

  it('a daemon: it is not ready, and ends within a minute', async () => {
    const at = await testbed({ level: 'daemon' });
    await at.clock.pass(60_000);
    rmSync(at.settings.database + end);
    await at.clock.pass(2_000);
    expect((await at.look('/readyz')).status).toBe(503);
    await at.clock.pass(60_000);
    expect(at.fatal).toMatchObject([{ code: 'database_unusable', exit: 74 }]);
  });
});

it.each<[string, (path: string) => void]>([
  ['deleted', (path) => rmSync(path)],
  ['moved', (path) => renameSync(path, `${path}.moved`)],
  ['replaced by a copy', replace],
])('K25 the secrets are %s: no verification code is acknowledged from then on', async (_, take) => {
  const place = await testbed({ level: 'listener' });
  const { verifiers } = place.secrets;
  const code = (verifier: string): Promise<Response> =>
    fetch(place.address, { method: 'POST', body: new URLSearchParams({ verifier, callbackid: '7' }) });
  await verifiers.expect(account, 'bill_vendor', 7);
  expect((await code('a-code-that-is-kept')).status).toBe(200);
  take(join(place.folder, 'secrets.db'));
  expect((await code('a-code-that-would-be-lost')).status).toBe(503);
  await expect(verifiers.expect(account, 'bill_vendor', 8)).rejects.toMatchObject({ code: 'database_unusable' });
});

describe('K25 a command beside a daemon', () => {
  it.each<['database' | 'secrets', string, (path: string) => void]>([
    ['secrets', 'deleted', (path) => rmSync(path)],
    ['secrets', 'replaced', replace],
    ['database', 'deleted', (path) => rmSync(path)],
    ['database', 'replaced', replace],
  ])('whose %s were %s refuses to work with another file, and makes none', async (which, _, take) => {
    const at = await testbed({ level: 'daemon' });
    const commands = await commandsAt(at);
    expect((await commands.diagnosis())?.result).toBe('ok');
    take(at.settings[which]);
    const there = existsSync(at.settings[which]);
    const refusal = `${at.settings[which]} is not the file that the running daemon has open`;
    expect(await commands.sync()).toMatchObject({ status: 74, stderr: expect.stringContaining(refusal) as unknown });
    expect(await commands.diagnosis()).toMatchObject({
      result: 'problem',
      message: expect.stringContaining(refusal) as unknown,
    });
    expect(existsSync(at.settings[which])).toBe(there);
  });

  it('works with new secrets once that daemon has stopped, and beside the next one', async () => {
    const at = await testbed({ level: 'daemon' });
    const commands = await commandsAt(at);
    replace(at.settings.secrets);
    await at.stop();
    expect((await commands.diagnosis())?.result).toBe('ok');
    replace(at.settings.secrets);
    await at.reopen();
    expect((await commands.diagnosis())?.result).toBe('ok');
  });
});

it('the lock beside the mirror is released only after both files are closed', async () => {
  const at = await testbed({ level: 'daemon' });
  const { database } = at.settings;
  const locked: boolean[] = [];
  const close = Reflect.get<SqliteDatabase, 'close'>(SqliteDatabase.prototype, 'close');
  const closing = vi.spyOn(SqliteDatabase.prototype, 'close').mockImplementation(async function (this: SqliteDatabase) {
    await close.call(this);
    locked.push(isDaemonAt(database));
  });
  onTestFinished(() => closing.mockRestore());
  expect(isDaemonAt(database)).toBe(true);
  await at.stop();
  expect([locked, isDaemonAt(database)]).toEqual([[true, true], false]);
});

/** Puts a file of the same content in place of one. */
function replace(path: string): void {
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
}

interface Commands {
  sync(): Promise<{ status: number; stderr: string }>;
  /** What `doctor` says of the secrets. */
  diagnosis(): Promise<{ result: string; message: string } | undefined>;
}

/** Commands on the files of an installation, from which no service can be reached. */
async function commandsAt({ folder, settings: { database, secrets } }: Testbed<'daemon'>): Promise<Commands> {
  const file = join(folder, 'command.yaml');
  const service = { baseUrl: 'https://service.example', auth: { accessToken: 'a-token' } };
  writeFileSync(file, JSON.stringify({ accounts: [account], database, secrets, service }));
  const fetch = (): Promise<Response> => Promise.reject(new TypeError('fetch failed'));
  const line = await testbed({ level: 'command', clock: virtualClock({ auto: true }), fetch });
  return {
    sync: () => line.runBare('sync', '-c', file),
    async diagnosis() {
      const { stdout } = await line.runBare('doctor', '--json', '-c', file);
      const { checks } = JSON.parse(stdout) as { checks: { check: string; result: string; message: string }[] };
      return checks.find(({ check }) => check === 'secrets');
    },
  };
}
