import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { takeSideLock } from '../../../src/store/files/locks.ts';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import type { EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import { quickClock } from '../../support/testbed/listener.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const account = ['--account', '6BApk'];
const hook = 'https://hooks.example.com/inbox';

let sandbox: EmbeddedSandbox;
let line: Testbed<'command'>;

beforeEach(async () => {
  // Nobody is at the addresses of these callbacks.
  sandbox = await testbed({ level: 'sandbox', fetch: () => Promise.resolve(new Response(null, { status: 500 })) });
  line = await testbed({ level: 'command', service: sandbox });
});

const codeOf = (callbackid: number): string =>
  sandbox.sandbox.callbacks('6BApk').get(callbackid)?.verifier ?? 'no such callback';

function secret(sql: string, ...bound: unknown[]): unknown {
  const secrets = new Driver(join(line.folder, 'secrets.db'), { readonly: true });
  const found: unknown = secrets
    .prepare(sql)
    .pluck()
    .get(...bound);
  secrets.close();
  return found;
}

/** A callback as the daemon would have registered it. */
async function ownCallback(): Promise<{ callbackid: number; token: string }> {
  await line.run('sync', ...account);
  await line.run('callbacks', 'list', ...account);
  const token = String(secret('select path_token from path_tokens where account_id = ?', '6BApk'));
  const { id } = sandbox.sandbox
    .callbacks('6BApk')
    .add(0, 'bill_vendor', `https://mirror.example.com/webhooks/6BApk/${token}`);
  return { callbackid: id, token };
}

const known = async (): Promise<unknown> => {
  const { stdout } = await line.run('status', '--json', ...account);
  const { accounts } = JSON.parse(stdout) as { accounts: { callbacks: { verified: boolean; uri: string }[] }[] };
  return accounts[0]?.callbacks.map(({ verified, uri }) => ({ verified, uri }));
};

describe('callbacks', () => {
  it('L93 without an address is registered the one that a daemon keeps, whatever was refused before', async () => {
    const settings = 'listener: { publicUrl: https://mirror.example.com }';
    line = await testbed({ level: 'command', service: sandbox, settings });
    const { token } = await ownCallback();
    sandbox.sandbox.callbacks('6BApk').remove(2001);
    const { status, stdout, stderr } = await line.run('callbacks', 'register', 'bill_vendor', ...account);
    expect([status, stderr]).toEqual([
      0,
      'The service sends a code to the listener; a running daemon sends it back.\n',
    ]);
    expect(stdout).not.toContain(token);
    expect(sandbox.sandbox.callbacks('6BApk').all()).toMatchObject([
      { event: 'bill_vendor', uri: `https://mirror.example.com/webhooks/6BApk/${token}` },
    ]);
    expect(secret('select callbackid from awaited_codes where event = ?', 'bill_vendor')).toBe(2002);
  });

  it('L93 without an address is refused where the settings name none', async () => {
    const { status, stderr } = await line.run('callbacks', 'register', 'bill_vendor', ...account);
    expect([status, stderr]).toEqual([64, expect.stringContaining('listener.publicUrl is not set') as unknown]);
  });

  describe('rotate', () => {
    const settings = 'listener: { publicUrl: https://mirror.example.com }';
    const tokens = () => [
      secret('select path_token from path_tokens where account_id = ?', '6BApk'),
      secret('select previous_token from path_tokens where account_id = ?', '6BApk'),
    ];
    /** A daemon seems to run, and does this each time the command waits. */
    async function beside(work: () => void): Promise<void> {
      const clock = quickClock();
      const waiting: Clock = {
        now: () => clock.now(),
        monotonic: () => clock.monotonic(),
        yield: () => clock.yield(),
        timer(ms, wake) {
          if (isWaiting) work();
          return clock.timer(ms, wake);
        },
      };
      let isWaiting = false;
      line = await testbed({ level: 'command', service: sandbox, settings, clock: waiting });
      await line.run('sync', ...account);
      const lock = takeSideLock(line.database, clock.now());
      onTestFinished(() => lock.release());
      isWaiting = true;
    }

    it('L52 without a daemon makes a new address, which its next start registers; a second one changes nothing', async () => {
      line = await testbed({ level: 'command', service: sandbox, settings });
      const { token } = await ownCallback();
      const { status, stdout } = await line.run('callbacks', 'rotate', ...account);
      expect([status, stdout]).toEqual([0, expect.stringContaining('When `vendor-mirror serve` runs next') as string]);
      const made = tokens();
      expect(made).toEqual([expect.not.stringContaining(token) as string, token]);
      const again = await line.run('callbacks', 'rotate', '--json', ...account);
      expect([tokens(), JSON.parse(again.stdout)]).toEqual([
        made,
        { ok: true, account: '6BApk', began: false, daemon_running: false, rotated: false },
      ]);
      expect(stdout + again.stdout).not.toContain(String(made[0]));
      expect((await line.run('callbacks', 'list', ...account)).stdout).toMatch(/2001 +bill_vendor +no +yes/);
    });

    it('L52 is refused where the settings name no address', async () => {
      const { status, stderr } = await line.run('callbacks', 'rotate', ...account);
      expect([status, stderr]).toEqual([64, expect.stringContaining('listener.publicUrl is not set') as string]);
    });

    it('L52 works beside the built-in sandbox, which gives the listener its address', async () => {
      line = await testbed({ level: 'command' });
      await line.run('sync');
      expect(await line.run('callbacks', 'rotate', ...account)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('A new address is made.') as string,
      });
    });

    it('L52 of a paused account waits for it to be resumed', async () => {
      line = await testbed({ level: 'command', service: sandbox, settings });
      await line.run('sync', ...account);
      await line.run('accounts', 'pause', '6BApk');
      const { status, stdout } = await line.run('callbacks', 'rotate', ...account);
      expect([status, stdout]).toEqual([
        0,
        expect.stringContaining('When `vendor-mirror accounts resume 6BApk` resumes the account') as string,
      ]);
    });

    it('L52 waits for a running daemon, and says when the address is replaced', async () => {
      await beside(() => {
        const secrets = new Driver(join(line.folder, 'secrets.db'));
        secrets.exec('update path_tokens set previous_token = null');
        secrets.close();
      });
      expect(await line.run('callbacks', 'rotate', ...account)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('The address is replaced') as string,
      });
    });

    it('L52 says where a running daemon is not done within a minute', async () => {
      await beside(() => undefined);
      expect(await line.run('callbacks', 'rotate', ...account)).toMatchObject({
        status: 1,
        stdout: expect.stringContaining('the daemon goes on with it') as string,
      });
    });
  });

  it('K12 of an account that the settings no longer name do not count, which the next command says once', async () => {
    line = await testbed({
      level: 'command',
      service: { account: ['6BApk', 'third'] },
    });
    await line.fill({
      _accounts: [{ account_id: 'third', added_at: '2026-11-20 11:00:00.000' }],
      callbacks: [
        { account_id: 'third', callbackid: 2001, event: 'bill_vendor', uri: 'https://x/', verified: 1, checked_at: '' },
      ],
    });
    const fresh = () => {
      const file = new Driver(line.database, { readonly: true });
      const found = file
        .prepare(
          'SELECT account_id, callback_verified, not_served_since IS NULL AS served FROM freshness ORDER BY account_id',
        )
        .all();
      file.close();
      return found;
    };
    const said = 'the account third is no longer in the settings, so nothing keeps it fresh';
    expect((await line.run('sync', ...account)).stderr).toContain(said);
    expect(fresh()).toContainEqual({ account_id: 'third', callback_verified: 0, served: 0 });
    expect(fresh()).toContainEqual({ account_id: '6BApk', callback_verified: null, served: 1 });
    expect((await line.run('callbacks', 'list', '--account', 'third')).stderr).not.toContain(said);
    expect(fresh()).toContainEqual({ account_id: 'third', callback_verified: 0, served: 0 });
  });

  it('K12 of an account that only the mirror still knows are listed and deleted, and the records are updated', async () => {
    const third = ['--account', 'third'];
    line = await testbed({
      level: 'command',
      service: { account: ['6BApk', 'third'] },
    });
    const uri = 'https://mirror.example.com/webhooks/third/';
    const callback = { account_id: 'third', event: 'bill_vendor', uri, verified: 1 };
    const registered = await line.run('callbacks', 'list', ...third);
    expect([registered.status, registered.stderr]).toEqual([
      64,
      expect.stringContaining('do not name the account third'),
    ]);
    await line.fill({
      _accounts: [{ account_id: 'third', added_at: '2026-11-20 11:00:00.000' }],
      callbacks: [{ ...callback, callbackid: 2001, checked_at: '2026-11-20 11:59:00.000' }],
    });
    expect((await line.run('status')).stdout).toContain(
      'third: It is no longer in the settings, so nothing keeps it fresh, and its callback is still registered. Run `vendor-mirror',
    );
    expect((await line.run('status', ...third)).stdout).toContain('third: It is no longer in the settings');
    expect((await line.run('status', '--account', '6BApk')).stdout).not.toContain('any more');
    await line.run('callbacks', 'register', 'bill_vendor', `${uri}token`, ...third);
    const { status, stdout } = await line.run('callbacks', 'list', '--json', ...third);
    expect([status, JSON.parse(stdout)]).toMatchObject([0, { account: 'third', callbacks: [{ callbackid: 2001 }] }]);
    expect((await line.run('callbacks', 'delete', '2001', ...third)).status).toBe(0);
    expect(JSON.parse((await line.run('callbacks', 'list', '--json', ...third)).stdout)).toMatchObject({
      callbacks: [],
    });
    expect((await line.run('status', ...third)).status).toBe(0);
  });

  it('K12 of an account that the service no longer knows is forgotten, as nobody can delete it by that id', async () => {
    const third = ['--account', 'third'];
    line = await testbed({ level: 'command', service: { account: ['6BApk'] } });
    const uri = 'https://mirror.example.com/webhooks/third/';
    const [callback, other] = [2001, 2002].map((callbackid) => ({
      account_id: 'third',
      event: 'bill_vendor',
      uri,
      callbackid,
    }));
    await line.fill({
      _accounts: [{ account_id: 'third', added_at: '2026-11-20 11:00:00.000' }],
      callbacks: [callback, other].map((one) => ({ ...one, verified: 1, checked_at: '2026-11-20 11:59:00.000' })),
    });
    const { status, stderr } = await line.run('callbacks', 'delete', '2001', ...third);
    expect([status, stderr]).toEqual([0, expect.stringContaining('So callback 2001 is forgotten here.')]);
    expect((await line.run('status', ...third)).stdout).toContain('callbacks delete 2002 --account third');
    await line.run('callbacks', 'delete', '2002', ...third);
    expect((await line.run('status', ...third)).stdout).toContain('nothing keeps it fresh.\n');
  });

  it('are registered, verified, renewed and deleted, for any event', async () => {
    await line.run('sync', ...account);
    const registered = await line.run('callbacks', 'register', 'invoice.create', hook, ...account);
    expect(registered.stdout).toMatchInlineSnapshot(`
      "callbackid  event           verified  own  uri
            2001  invoice.create  no        no   https://hooks.example.com/inbox
      "
    `);
    expect(registered.stderr).toMatchInlineSnapshot(`
      "The service sends a code to that address; \`vendor-mirror callbacks verify 2001\` sends it back.
      "
    `);

    const verified = await line.run('callbacks', 'verify', '2001', codeOf(2001), '--json', ...account);
    expect(JSON.parse(verified.stdout)).toEqual({
      ok: true,
      account: '6BApk',
      callback: { callbackid: 2001, event: 'invoice.create', uri: hook, verified: true, own: false },
    });

    const first = codeOf(2001);
    const resent = await line.run('callbacks', 'resend', '2001', ...account);
    expect([resent.status, codeOf(2001) === first]).toEqual([0, false]);
    expect(resent.stderr).toContain('nothing is delivered until it is verified');

    expect((await line.run('callbacks', 'delete', '2001', ...account)).stdout).toBe('The callback is deleted.\n');
    expect(sandbox.sandbox.callbacks('6BApk').all()).toEqual([]);
  });

  it.each([
    [[], [2001, 2002, 2003]],
    [
      ['--event', 'invoice'],
      [2001, 2002],
    ],
    [['--event', 'invoice.create'], [2001]],
    [['--uri', `${hook}/2`], [2002]],
    [['--verified', 'true'], []],
    [
      ['--verified', 'false'],
      [2001, 2002, 2003],
    ],
  ])('are listed: %j finds %j', async (filter, ids) => {
    const book = sandbox.sandbox.callbacks('6BApk');
    book.add(0, 'invoice.create', hook);
    book.add(0, 'invoice.update', `${hook}/2`);
    book.add(0, 'bill_vendor', hook);
    const { stdout } = await line.run('callbacks', 'list', '--json', ...filter, ...account);
    const { callbacks } = JSON.parse(stdout) as { callbacks: { callbackid: number }[] };
    expect(callbacks.map(({ callbackid }) => callbackid)).toEqual(ids);
  });

  it('F18 of ours are marked, and the secret in their address is never shown', async () => {
    const { token } = await ownCallback();
    sandbox.sandbox.callbacks('6BApk').add(0, 'bill_vendor', hook);
    const { stdout } = await line.run('callbacks', 'list', ...account);
    expect(stdout).toMatchInlineSnapshot(`
      "callbackid  event        verified  own  uri
            2001  bill_vendor  no        yes  https://mirror.example.com/webhooks/6BApk/…
            2002  bill_vendor  no        no   https://hooks.example.com/inbox
      "
    `);
    for (const argv of [
      ['callbacks', 'list', '--json'],
      ['callbacks', 'resend', '2001'],
      ['callbacks', 'resend', '2001', '--json'],
      ['callbacks', 'verify', '2001', 'wrong'],
      ['callbacks', 'register', 'bill_vendor', `https://mirror.example.com/webhooks/6BApk/${token}`],
    ]) {
      const { stdout, stderr } = await line.run(...argv, ...account);
      expect(stdout + stderr).not.toContain(token);
    }
  });

  it('that are ours are changed with our records about them', async () => {
    const { callbackid } = await ownCallback();
    await line.run('callbacks', 'resend', String(callbackid), ...account);
    expect(secret('select count(*) from awaited_codes where callbackid = ?', callbackid)).toBe(1);
    expect(await known()).toEqual([{ verified: false, uri: 'https://mirror.example.com/webhooks/6BApk/' }]);

    const code = codeOf(callbackid);
    await line.run('callbacks', 'verify', String(callbackid), code, ...account);
    expect(secret('select state from verifiers where verifier = ?', code)).toBe('proven');
    expect(secret('select count(*) from awaited_codes')).toBe(0);
    expect(await known()).toMatchObject([{ verified: true }]);

    await line.run('callbacks', 'delete', String(callbackid), ...account);
    expect(secret('select state from verifiers where verifier = ?', code)).toBe('previous');
    expect(await known()).toEqual([]);
  });

  it('P9 of others leave no records here', async () => {
    sandbox.sandbox.callbacks('6BApk').add(0, 'bill_vendor', 'https://mirror.example.com/webhooks/6BApk/another');
    await line.run('callbacks', 'resend', '2001', ...account);
    await line.run('callbacks', 'verify', '2001', codeOf(2001), ...account);
    expect(secret('select count(*) from verifiers')).toBe(0);
    expect(await known()).toEqual([]);
  });

  it('take the code from standard input, out of sight of other users', async () => {
    sandbox.sandbox.callbacks('6BApk').add(0, 'invoice', hook);
    const piped = await testbed({ level: 'command', service: sandbox, stdin: `${codeOf(2001)}\n` });
    expect((await piped.run('callbacks', 'verify', '2001', ...account)).stdout).toContain('yes');
    expect(
      (
        await (
          await testbed({ level: 'command', service: sandbox })
        ).run('callbacks', 'verify', '2001', '-', ...account)
      ).status,
    ).toBe(64);
  });

  it('take the code from the person at the terminal, and do not show it', async () => {
    sandbox.sandbox.callbacks('6BApk').add(0, 'invoice', hook);
    const typing = await testbed({ level: 'command', service: sandbox, typed: `${codeOf(2001)}\r` });
    const { stdout, stderr } = await typing.run('callbacks', 'verify', '2001', ...account);
    expect(stdout).toContain('yes');
    expect(stderr).toMatch(/^The verification code: \n.*this begins a new mirror.*\n$/);
  });

  it.each([['4xx'], ['unverified']] as const)('exit with 77 where the code is wrong (%s)', async (wrongVerifier) => {
    const strict = await testbed({
      level: 'sandbox',
      fetch: () => Promise.resolve(new Response()),
      world: { wrongVerifier },
    });
    strict.sandbox.callbacks('6BApk').add(0, 'invoice', hook);
    const { status, stderr } = await (
      await testbed({ level: 'command', service: strict })
    ).run('callbacks', 'verify', '2001', 'wr0ng-c0de', ...account);
    expect(status).toBe(77);
    expect(stderr).toMatch(/^vendor-mirror: /m);
    expect(stderr).not.toContain('wr0ng-c0de');
  });

  it.each([
    ['resend', '9'],
    ['delete', '9'],
  ])('exit with 77 and the words of the service: %s %s', async (...argv) => {
    const { status, stderr } = await line.run('callbacks', ...argv, ...account);
    expect(status).toBe(77);
    expect(stderr).toMatch(/^vendor-mirror: The service /m);
  });

  it.each([
    ['foo', hook, 'The service has no such event. Known events: bill, bill_vendor, category'],
    ['invoices', hook, 'no such event'],
    ['Invoice', hook, 'no such event'],
    [
      'invoice.send',
      hook,
      'Known events: invoice, invoice.create, invoice.update, invoice.delete, invoice.sendByEmail.',
    ],
    ['bill_vendor', 'not-a-url', 'must be complete, with https (or http)'],
    ['bill_vendor', '/inbox', 'must be complete, with https'],
    ['bill_vendor', 'ftp://hooks.example.com/', 'must be complete, with https'],
    ['bill_vendor', 'https:hooks.example.com', 'must be complete, with https'],
    ['bill_vendor', 'https://hooks.example.com/in box', 'must be complete, with https'],
    ['bill_vendor', 'https://hooks.example.com/#inbox', 'must not have a user, a password or a fragment'],
    ['bill_vendor', 'https://me:pw@hooks.example.com/', 'must not have a user, a password or a fragment'],
  ])(
    'K53 exit with 64 for a callback to nowhere, before anything is sent: register %s %s',
    async (event, uri, words) => {
      let requests = 0;
      sandbox.sandbox.onRequest(() => (requests += 1));
      const { status, stderr } = await line.run('callbacks', 'register', event, uri, ...account);
      expect([status, requests]).toEqual([64, 0]);
      expect(stderr).toContain(words);
    },
  );

  it('exit with 64 if several accounts are possible', async () => {
    const { status, stderr } = await line.run('callbacks', 'list');
    expect(status).toBe(64);
    expect(stderr).toContain('several accounts (6BApk, other): choose one with --account ID.');
  });
});
