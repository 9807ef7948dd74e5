/** `accounts list`, `accounts add`, `accounts remove`: accounts beside those of the settings, kept in the mirror. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeSideLock } from '../../../src/store/files/side-lock.ts';
import { ask } from '../../support/mirror-file.ts';
import { testbed } from '../../support/testbed.ts';

const saying = (text: string): string => expect.stringContaining(text) as string;

describe('accounts', () => {
  it('that were added are mirrored beside those of the settings until they are removed; what is held of them stays', async () => {
    const line = await testbed({
      level: 'command',
      service: { account: ['6BApk', 'third'] },
      settings: 'accounts: [6BApk]',
    });
    expect(await line.run('accounts', 'add', 'third')).toMatchObject({
      status: 0,
      stdout: 'third is added. Run `vendor-mirror sync --account third`, or start the daemon.\n',
    });
    expect(await line.run('sync')).toMatchObject({ status: 0, stderr: '' });
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
        'third is taken out. What the mirror holds of it stays, and is kept fresh no more.\n' +
        'Its callback 2001 is still registered: `vendor-mirror callbacks delete 2001 --account third` deletes it.\n',
    });
    expect((await line.run('sync')).stderr).toContain('third is not in the settings any more');
    expect(ask(line.database, 'SELECT count(*) FROM vendors')).toEqual(held);
    expect((await line.run('accounts', 'list')).stdout).not.toContain('third');
    expect((await line.run('vendors', 'list', '--account', 'third')).status).toBe(0);
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
      [['add', 'third'], 'third was added before'],
      [['remove', 'fourth'], 'fourth was not added'],
      [['add', 'fourth', '--connection', 'paris'], 'no connection paris; they have default, berlin'],
      [['add', 'four th'], 'should be an account id'],
      [['add', 'fourth', '--account', 'third'], 'leave --account out'],
    ] as const)
      expect([argv, await line.run('accounts', ...argv)]).toMatchObject([argv, { status: 64, stderr: saying(said) }]);
    expect((await line.run('accounts', 'list')).stdout).toMatchInlineSnapshot(`
      "account  from      connection  as of  active vendors
      6BApk    settings  default     never               0
      other    settings  default     never               0
      third    added     berlin      never               0
      "
    `);
  });

  it('of which there are none at all are named with both ways to have some; one that is added suffices', async () => {
    const line = await testbed({
      level: 'command',
      settings: 'accounts: []\nsandbox: { vendors: 3, seed: 1, churn: 0 }',
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
    expect((await line.run('status', '--account', 'third')).stdout).toContain('third is not in the settings any more');
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

  it('that are added or removed beside a daemon are its with the next start, and that is said', async () => {
    const line = await testbed({ level: 'command' });
    await line.fill({});
    const daemon = takeSideLock(line.database, line.clock.now());
    try {
      expect((await line.run('accounts', 'add', 'third')).stdout).toContain(
        'The running daemon serves it from its next start on: restart it.',
      );
      expect(JSON.parse((await line.run('accounts', 'remove', 'third', '--json')).stdout)).toEqual({
        ok: true,
        account: 'third',
        callbacks: [],
        daemon_restart_needed: true,
      });
    } finally {
      daemon.release();
    }
  });
});
