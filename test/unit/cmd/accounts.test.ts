/** `accounts list`, `add`, `remove`, `pause` and `resume`: accounts beside those of the settings, kept in the mirror. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeSideLock } from '../../../src/store/files/locks.ts';
import { ask } from '../../support/mirror-file.ts';
import { testbed } from '../../support/testbed.ts';

const saying = (text: string): string => expect.stringContaining(text) as string;

describe('accounts', () => {
  it('that were added are mirrored beside those of the settings until they are removed; their vendors stay', async () => {
    const line = await testbed({
      level: 'command',
      service: { account: ['6BApk', 'third'] },
      settings: 'accounts: [6BApk]',
    });
    expect(await line.run('accounts', 'add', 'third')).toMatchObject({
      status: 0,
      stdout: 'third is added. Run `vendor-mirror sync --account third`, or start the daemon.\n',
    });
    expect((await line.run('sync')).status).toBe(0);
    const { stdout } = await line.run('accounts', 'list', '--json');
    const as_of = expect.any(String) as string;
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      accounts: [
        { account: '6BApk', from: 'settings', connection: 'default', as_of },
        { account: 'third', from: 'added', connection: 'default', as_of },
      ],
    });
    expect(
      (JSON.parse(stdout) as { accounts: { active_vendors: number }[] }).accounts[1]?.active_vendors,
    ).toBeGreaterThan(0);

    const uri = 'https://mirror.example.com/webhooks/third/';
    const callback = { callbackid: 2001, event: 'bill_vendor', uri, verified: 1, checked_at: '' };
    await line.fill({ callbacks: [{ account_id: 'third', ...callback }] });
    const held = ask(line.database, 'SELECT count(*) FROM vendors');
    expect(await line.run('accounts', 'remove', 'third')).toMatchObject({
      status: 0,
      stdout:
        'third is removed. Its vendors stay in the mirror, but are no longer updated.\n' +
        'Its callback 2001 is still registered: `vendor-mirror callbacks delete 2001 --account third` deletes it.\n',
    });
    expect((await line.run('sync')).stderr).toContain('third is no longer in the settings');
    expect(ask(line.database, 'SELECT count(*) FROM vendors')).toEqual(held);
    expect((await line.run('accounts', 'list')).stdout).not.toContain('third');
    expect((await line.run('vendors', 'list', '--account', 'third')).status).toBe(0);
  });

  it.each([
    ['6bapk', '6BApk', 'of the settings'],
    ['OTHER', 'other', 'of the settings'],
    ['Third', 'third', 'that was added'],
  ])('L22 %s is not added beside %s %s: the service may take both for one', async (account, alike) => {
    const line = await testbed({
      level: 'command',
      settings: 'service: { baseUrl: "https://service.example", auth: { accessToken: t } }',
    });
    expect((await line.run('accounts', 'add', 'third')).status).toBe(0);
    const before = (await line.run('accounts', 'list')).stdout;
    expect(await line.run('accounts', 'add', account)).toMatchObject({
      status: 64,
      stderr: saying(`${account} differs from the account ${alike} only in the case of letters`),
    });
    expect((await line.run('accounts', 'list')).stdout).toBe(before);
    expect((await line.run('accounts', 'add', 'fourth')).status).toBe(0);
  });

  it('that cannot be added or removed are refused with the reason, and nothing is changed', async () => {
    const line = await testbed({
      level: 'command',
      settings: `service: { baseUrl: "https://service.example", auth: { accessToken: t } }
connections: { berlin: { auth: { accessToken: u } } }`,
    });
    expect((await line.run('accounts', 'add', 'third', '--connection', 'berlin')).status).toBe(0);
    for (const [argv, said] of [
      [['add', '6BApk'], 'The settings name 6BApk: change `accounts` there'],
      [['remove', '6BApk'], 'The settings name 6BApk: change `accounts` there'],
      [['add', 'third'], 'third was already added'],
      [['remove', 'fourth'], 'fourth was not added'],
      [['add', 'fourth', '--connection', 'paris'], 'no connection paris; they have default, berlin'],
      [['add', 'four th'], 'should be an account id'],
      [['add', 'fourth', '--account', 'third'], 'leave --account out'],
    ] as const)
      expect([argv, await line.run('accounts', ...argv)]).toMatchObject([argv, { status: 64, stderr: saying(said) }]);
    expect((await line.run('accounts', 'list')).stdout).toMatchInlineSnapshot(`
      "account  from      connection  state   as of  active vendors
      6BApk    settings  default     served  never               0
      other    settings  default     served  never               0
      third    added     berlin      served  never               0
      "
    `);
  });

  it('that are missing altogether: the error names both ways to add some; one that is added suffices', async () => {
    const line = await testbed({
      level: 'command',
      settings: 'accounts: []\nsandbox: { vendors: 3, seed: 1, churn: 0, records: odd }',
    });
    for (const command of ['status', 'sync', 'accounts list'])
      expect(await line.run(...command.split(' '))).toMatchObject({
        status: 78,
        stderr: saying('List them there, such as ["6BApk"], or run `vendor-mirror accounts add ID'),
      });
    expect((await line.run('accounts', 'add', 'third')).status).toBe(0);
    expect((await line.run('sync', '--json')).status).toBe(0);
    expect((await line.run('accounts', 'remove', 'third')).status).toBe(0);
    expect((await line.run('sync')).status).toBe(78);
    expect((await line.run('status', '--account', 'third')).stdout).toContain('third: It is no longer in the settings');
  });

  it('of the settings win over those of the same name that were added', async () => {
    const auth =
      'service: { baseUrl: "https://service.example", auth: { accessToken: t } }\nconnections: { berlin: { auth: { accessToken: u } } }';
    const line = await testbed({ level: 'command', settings: auth });
    await line.run('accounts', 'add', 'third', '--connection', 'berlin');
    const own = join(line.folder, 'own.yaml');
    writeFileSync(own, `accounts: [third]\ndatabase: ${line.database}\n${auth}\n`);
    expect(JSON.parse((await line.runBare('accounts', 'list', '--json', '-c', own)).stdout)).toMatchObject({
      accounts: [{ account: 'third', from: 'settings', connection: 'default' }],
    });
  });

  it('that are paused are left out by sync, reconcile and verify until they are resumed, those of the settings too', async () => {
    const line = await testbed({
      level: 'command',
      service: { account: ['6BApk', 'third'] },
      settings: 'accounts: [6BApk, third]',
    });
    expect((await line.run('accounts', 'pause', 'third')).stdout).toContain('third is paused: nothing is requested');
    expect(await line.run('accounts', 'pause', 'third')).toMatchObject({
      status: 0,
      stdout: 'third is already paused.\n',
    });
    for (const command of ['sync', 'reconcile', 'verify']) {
      const { status, stdout, stderr } = await line.run(command, '--json');
      expect([command, status, stdout.includes('third')]).toEqual([command, 0, false]);
      expect(stderr).toContain('Skipped because they are paused: third.');
      expect(await line.run(command, '--account', 'third')).toMatchObject({
        status: 64,
        stderr: saying('third is paused: `vendor-mirror accounts resume third'),
      });
    }
    const told = await line.run('status');
    expect(told.stdout).toMatch(/^Your mirror is correct as of .*; nothing to do\.\n {2}third: Paused since /);
    expect(told.stdout).toContain(
      ': nothing is requested from the service, and deliveries are stored. `vendor-mirror accounts resume third`',
    );
    expect(JSON.parse((await line.run('status', '--json')).stdout)).toMatchObject({
      advice: [],
      accounts: [{ account: '6BApk' }, { account: 'third', freshness: { paused_since: expect.any(String) as string } }],
    });
    expect((await line.run('accounts', 'list')).stdout).toMatch(/third +settings +default +paused +never/);
    await line.run('accounts', 'pause', '6BApk');
    expect(await line.run('sync', '--json')).toMatchObject({
      status: 0,
      stdout: '{"ok":true,"runs":[],"gateways":[]}\n',
    });
    expect((await line.run('status')).stdout).toMatch(/^third: Paused, since .*; nothing to do\.\n/);
    await line.run('accounts', 'resume', '6BApk');
    expect((await line.run('accounts', 'resume', 'third')).stdout).toBe(
      'third is resumed. Run `vendor-mirror sync --account third`, or start the daemon.\n',
    );
    expect((await line.run('accounts', 'resume', 'third')).stdout).toBe('third was not paused.\n');
    expect((await line.run('sync', '--account', 'third')).status).toBe(0);
  });

  it('that are unknown cannot be paused, and one that is removed is no longer paused', async () => {
    const line = await testbed({ level: 'command' });
    expect(await line.run('accounts', 'pause', 'fifth')).toMatchObject({
      status: 64,
      stderr: saying('The settings do not name fifth, and it was not added.'),
    });
    await line.run('accounts', 'add', 'fifth');
    await line.run('accounts', 'pause', 'fifth');
    await line.run('accounts', 'remove', 'fifth');
    expect(ask(line.database, "SELECT paused_since FROM _accounts WHERE account_id = 'fifth'")).toEqual([
      { paused_since: null },
    ]);
  });

  it('that are changed beside a daemon are applied by it, and the command says so', async () => {
    const line = await testbed({ level: 'command' });
    await line.fill({});
    const daemon = takeSideLock(line.database, line.clock.now());
    try {
      expect((await line.run('accounts', 'add', 'third')).stdout).toBe(
        'third is added. The running daemon serves it from now on.\n',
      );
      await line.run('accounts', 'pause', 'third');
      expect((await line.run('accounts', 'resume', 'third')).stdout).toBe(
        'third is resumed. The running daemon reads the vendors that were delivered meanwhile and sweeps the account.\n',
      );
      const uri = 'https://mirror.example.com/webhooks/third/';
      const callback = { callbackid: 2001, event: 'bill_vendor', uri, verified: 1, checked_at: '' };
      await line.fill({ callbacks: [{ account_id: 'third', ...callback }] });
      expect(JSON.parse((await line.run('accounts', 'remove', 'third', '--json')).stdout)).toEqual({
        ok: true,
        sandbox: true,
        account: 'third',
        callbacks: [2001],
        daemon_running: true,
      });
    } finally {
      daemon.release();
    }
  });
});
