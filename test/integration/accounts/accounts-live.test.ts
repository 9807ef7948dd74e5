/** Accounts that come, go and rest while a daemon runs. */
import { describe, expect, it } from 'vitest';
import { openMirror, type Store } from '../../../src/store/mirror.ts';
import { migrations, namedProcess } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { constantRandom } from '../../support/random.ts';
import { settingsIn } from '../../support/settings.ts';
import { someVendor, type DaemonOptions } from '../../support/testbed/daemon.ts';
import { unanswered } from '../../support/network/unanswered.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const other = 'Other';

/** A daemon of one account, at a service that has two. */
const ofTwo = (options: DaemonOptions = {}): Promise<Testbed<'daemon'>> =>
  testbed({
    level: 'daemon',
    accounts: [account, other],
    ...options,
    settings: { accounts: [account], ...options.settings },
  });

/** What a command does beside the daemon, which sees it within a second. */
async function command(
  at: Testbed<'daemon'>,
  work: (accounts: Store['accountRegister']) => Promise<unknown>,
): Promise<void> {
  const { clock, settings } = at;
  const file = { path: settings.database, migrations, clock, random: constantRandom(), lockProcess: namedProcess() };
  const beside = async (): Promise<void> => {
    const mirror = await openMirror(file);
    await work(mirror.accountRegister).finally(() => mirror.close());
  };
  await clock.during(beside());
}

const about = (at: Testbed<'daemon'>, id: string): string[] => at.requests.filter((request) => request.includes(id));
const log = (at: Testbed<'daemon'>): string => at.log.map(({ msg }) => msg).join('\n');
const served = (at: Testbed<'daemon'>) =>
  at.query('SELECT account_id, not_served_since IS NULL AS served FROM freshness ORDER BY account_id');

async function added(at: Testbed<'daemon'>): Promise<string> {
  await command(at, (accounts) => accounts.add(other, 'default'));
  await at.untilRuns();
  await at.untilQuiet();
  await at.clock.pass(at.settings.sync.lag);
  return at.sandbox.callbacks(other).all()[0]!.uri;
}

describe('an account that is added while a daemon runs', () => {
  it('is registered and swept at once, and its deliveries are handled; the others are not disturbed', async () => {
    const at = await ofTwo();
    await added(at);
    expect(at.query('SELECT account_id, verified FROM callbacks ORDER BY account_id')).toEqual([
      { account_id: account, verified: 1 },
      { account_id: other, verified: 1 },
    ]);
    expect(at.query('SELECT kind, outcome FROM runs WHERE account_id = ?', other)).toEqual([
      { kind: 'reconcile', outcome: 'complete' },
    ]);
    const vendorid = Number(at.sandbox.vendors(other).all()[7]?.['vendorid']);
    at.sandbox.vendors(other).edit(vendorid, { phone: '+1 new' });
    await at.clock.until(
      'the edit is in the mirror',
      () => at.query('SELECT 1 FROM vendors WHERE account_id = ? AND phone = ?', other, '+1 new').length > 0,
    );
    expect(about(at, account)).toEqual([]);
    expect(JSON.parse((await at.look('/api/status')).body)).toMatchObject({
      fresh: true,
      accounts: [{ account }, { account: other, ready: true }],
    });
  });

  it('and is removed again loses its callback and its address; the others are not disturbed', async () => {
    const at = await ofTwo();
    const { pathname } = new URL(await added(at));
    await command(at, (accounts) => accounts.remove(other));
    await at.clock.until('it is gone', () => log(at).includes('the account Other is no longer served'));
    expect(at.sandbox.callbacks(other).all()).toEqual([]);
    expect(at.query('SELECT account_id FROM callbacks')).toEqual([{ account_id: account }]);
    expect(await at.deliver({ path: pathname, headers: {}, body: '' })).toBe(404);
    expect(served(at)).toEqual([
      { account_id: account, served: 1 },
      { account_id: other, served: 0 },
    ]);
    at.requests.length = 0;
    await at.clock.pass(3_600_000);
    expect(about(at, other)).toEqual([]);
    expect(JSON.parse((await at.look('/api/status')).body)).toMatchObject({
      fresh: true,
      advice: [],
      accounts: [
        { account, verdict: { code: 'correct' } },
        { account: other, verdict: { code: 'not_served' }, stale: false },
      ],
    });
    await command(at, (accounts) => accounts.add(other, 'default'));
    await at.clock.until('it is served again', () => at.sandbox.callbacks(other).all()[0]?.verified === true);
  });

  it.each(['refuses', 'never answers'])(
    'and is removed while the service %s: the log names the command that deletes its callback',
    async (how) => {
      const at = await ofTwo({
        answer(_, init) {
          if (init.method !== 'DELETE') return undefined;
          return how === 'refuses' ? new Response('{}', { status: 403 }) : unanswered(init);
        },
      });
      await added(at);
      const [{ callbackid } = { callbackid: 0 }] = at.query<{ callbackid: number }>(
        'SELECT callbackid FROM callbacks WHERE account_id = ?',
        other,
      );
      await command(at, (accounts) => accounts.remove(other));
      await at.clock.until('it is gone', () =>
        log(at).includes(`\`vendor-mirror callbacks delete ${callbackid} --account ${other}\``),
      );
      expect(served(at)).toContainEqual({ account_id: other, served: 0 });
      expect(about(at, account)).toEqual([]);
    },
  );

  it('and is removed while the daemon stops does not delay the stop', async () => {
    const at = await ofTwo({
      answer: (_, { method }) => (method === 'DELETE' ? unanswered() : undefined),
    });
    await added(at);
    await command(at, (accounts) => accounts.remove(other));
    await at.clock.pass(2_000);
    const begun = at.clock.monotonic();
    await at.stop();
    expect(at.clock.monotonic() - begun).toBeLessThan(10_000);
  });
});

describe('an account that is paused', () => {
  it('causes no requests, keeps its deliveries, and is shown as paused, not as stale', async () => {
    const at = await testbed({ level: 'daemon', settings: { admin: { port: 0, maxStaleness: '10m' } } });
    await command(at, (accounts) => accounts.pause(account));
    await at.clock.pass(1_000);
    const vendorid = someVendor(at);
    at.sandbox.vendors(account).edit(vendorid, { phone: '+1 kept' });
    await at.clock.during(at.daemon.use({ ...at.settings, paused: new Set([account]) }));
    at.clock.shiftWall(600_000);
    await at.clock.pass(3 * 3_600_000);
    expect(log(at)).toContain('the clock jumped');
    expect(at.requests).toEqual([]);
    expect(at.query('SELECT object_id, outcome FROM deliveries')).toEqual([
      { object_id: vendorid, outcome: 'pending' },
    ]);
    expect(at.query('SELECT account_id FROM freshness WHERE paused_since IS NOT NULL')).toEqual([
      { account_id: account },
    ]);
    expect(JSON.parse((await at.look('/api/status')).body)).toMatchObject({
      fresh: true,
      accounts_stale: 0,
      accounts_paused: 1,
      accounts: [{ account, stale: false, paused_since: expect.any(String) as string }],
    });
    const metrics = (await at.look('/metrics')).body;
    expect(metrics).toContain('\nvendor_mirror_accounts_paused 1\n');
    expect(metrics).toContain('\nvendor_mirror_staleness_max_seconds 0\n');
    expect(metrics).toContain('\nvendor_mirror_queue_oldest_seconds 0\n');
    expect(metrics).not.toContain(`vendor_mirror_stale{account="${account}"}`);
    const page = (await at.look('/')).body;
    expect(page).toContain('<title>Paused');
    expect(page).toContain(`vendor-mirror accounts resume ${account}`);
  });

  it('is read and swept at once when it is resumed', async () => {
    const at = await testbed({ level: 'daemon' });
    await command(at, (accounts) => accounts.pause(account));
    at.sandbox.vendors(account).edit(someVendor(at), { phone: '+1 kept' });
    await at.clock.pass(60_000);
    await command(at, (accounts) => accounts.resume(account));
    await at.untilRuns();
    await at.untilQuiet();
    expect(at.query('SELECT 1 AS found FROM vendors WHERE phone = ?', '+1 kept')).toEqual([{ found: 1 }]);
    expect(at.query("SELECT 1 FROM deliveries WHERE outcome = 'pending'")).toEqual([]);
    expect(log(at)).toContain(`the account ${account} is resumed`);
  });

  it('stays paused after a restart, and the other accounts continue', async () => {
    const at = await testbed({ level: 'daemon', accounts: [account, other] });
    await command(at, (accounts) => accounts.pause(other));
    await at.clock.pass(1_000);
    await at.reopen();
    at.requests.length = 0;
    await at.start();
    await at.clock.pass(3_600_000);
    expect(about(at, other)).toEqual([]);
    expect(about(at, account).length).toBeGreaterThan(0);
  });
});

describe('settings that are read again', () => {
  it('add an account and remove one, with its callback, while the third continues', async () => {
    const at = await ofTwo({ accounts: [account, other, 'third'], settings: { accounts: [account, other] } });
    await at.clock.until(
      'both are registered',
      () => at.query('SELECT 1 FROM callbacks WHERE verified = 1').length === 2,
    );
    await at.clock.pass(60_000);
    at.requests.length = 0;
    const { database, secrets, listener, admin } = at.settings;
    const read = settingsIn(at.folder, { accounts: [account, 'third'], listener: { publicUrl: listener.publicUrl } });
    await at.clock.during(at.daemon.use({ ...read, database, secrets, listener, admin }));
    await at.clock.until('the third is registered', () => at.sandbox.callbacks('third').all()[0]?.verified === true);
    expect(at.sandbox.callbacks(other).all()).toEqual([]);
    expect(served(at)).toEqual([
      { account_id: account, served: 1 },
      { account_id: other, served: 0 },
      { account_id: 'third', served: 1 },
    ]);
    expect(at.sandbox.callbacks(account).all()).toHaveLength(1);
  });
});
