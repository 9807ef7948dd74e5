import { describe, expect, it } from 'vitest';
import { testbed } from '../../support/testbed.ts';

interface Document {
  readonly ok: boolean;
  readonly runs: readonly { kind: string; outcome: string; updated: number; findings?: Record<string, number> }[];
}

/** Somebody who should have told us of changes: without a callback, nobody is to blame. */
const callbacks = [
  {
    account_id: '6BApk',
    callbackid: 1,
    event: 'bill_vendor',
    uri: 'https://mirror.example.com/webhooks/6BApk/',
    verified: 1,
    checked_at: '2026-11-20 11:00:00.000',
  },
];

describe('reconcile', () => {
  it('mirrors all vendors, and reports changes that no delivery announced', async () => {
    const sandbox = await testbed({ level: 'sandbox' });
    const line = await testbed({ level: 'command', service: sandbox });
    await line.run('sync', '--account', '6BApk');
    await line.fill({ callbacks });
    const vendorService = sandbox.sandbox.vendors('6BApk');
    const [first, second] = vendorService.listed().map(({ vendorid }) => Number(vendorid));
    vendorService.edit(first!, { city: 'Elsewhere' });
    vendorService.setBalance(second!, 'outstanding', [{ amount: '12.00', code: 'EUR' }]);

    const { status, stdout } = await line.run('reconcile', '--account', '6BApk', '--json');
    expect(status).toBe(0);
    const { ok, runs } = JSON.parse(stdout) as Document;
    expect(ok).toBe(true);
    expect(runs).toMatchObject([
      { kind: 'reconcile', outcome: 'complete', updated: 2, findings: { balance_only: 1, in_flight: 1 } },
    ]);
  });

  it('shows findings to a person', async () => {
    const sandbox = await testbed({ level: 'sandbox' });
    const line = await testbed({ level: 'command', service: sandbox });
    await line.run('sync', '--account', '6BApk');
    await line.fill({ callbacks });
    const [first] = sandbox.sandbox.vendors('6BApk').listed();
    sandbox.sandbox.vendors('6BApk').setBalance(Number(first!['vendorid']), 'overdue', []);
    sandbox.sandbox
      .vendors('6BApk')
      .setBalance(Number(first!['vendorid']), 'outstanding', [{ amount: '1.00', code: 'USD' }]);
    const { stdout } = await line.run('reconcile', '--account', '6BApk', '--verbose');
    expect(stdout).toMatch(/^account .* took +findings$/m);
    expect(stdout).not.toContain('sqlite3');
    expect(stdout).toMatch(/^6BApk +complete .* 1 balance_only\b/m);
  });

  it('believes an account that shows none of its vendors only with --accept-account', async () => {
    const { baseUrl, token, sandbox } = await testbed({ level: 'sandbox', vendors: 20 });
    const line = await testbed({ level: 'command', service: { baseUrl, token } });
    await line.run('sync', '--account', '6BApk');
    const vendors = sandbox.vendors('6BApk');
    for (const { vendorid } of vendors.all()) vendors.vanish(Number(vendorid));
    for (let nth = 1; nth <= 20; nth += 1) vendors.create({ vendor_name: `Other ${nth}`, language: 'en' });

    const refused = await line.run('reconcile', '--account', '6BApk');
    expect(refused.status).toBe(69);
    expect(refused.stderr).toContain('`vendor-mirror reconcile --accept-account`');
    const { stdout } = await line.run('status', '--account', '6BApk');
    expect(stdout).toContain('reconcile --accept-account');
    const accepted = await line.run('reconcile', '--account', '6BApk', '--accept-account', '--approve-absences', '20');
    expect(accepted.status).toBe(0);
    expect((await line.run('verify', '--account', '6BApk')).status).toBe(0);
  });

  it('marks many vendors gone only with --approve-absences', async () => {
    const { baseUrl, token, sandbox } = await testbed({ level: 'sandbox', vendors: 60 });
    const line = await testbed({ level: 'command', service: { baseUrl, token } });
    await line.run('sync', '--account', '6BApk');
    const vanished = sandbox.vendors('6BApk').listed().slice(0, 8);
    for (const { vendorid } of vanished) sandbox.vendors('6BApk').vanish(Number(vendorid));

    const tripped = await line.run('reconcile', '--account', '6BApk', '--verbose');
    expect(tripped.status).toBe(1);
    expect(tripped.stderr).toContain('`vendor-mirror reconcile --approve-absences N`');
    expect((await line.run('reconcile', '--account', '6BApk', '--approve-absences', '7')).status).toBe(1);

    expect((await line.run('reconcile', '--account', '6BApk', '--approve-absences', '8')).status).toBe(0);
    const { stdout } = await line.run('vendors', 'list', '--presence', 'gone', '--json');
    expect((JSON.parse(stdout) as { total: number }).total).toBe(8);
  });

  it('says so if nothing was ever mirrored, too', async () => {
    const { baseUrl, token, sandbox } = await testbed({
      level: 'sandbox',
      vendors: 12,
      world: { total: 'counts_hidden', visStateFilter: 'ignored' },
    });
    const line = await testbed({ level: 'command', service: { baseUrl, token } });
    for (const { vendorid } of sandbox.vendors('6BApk').listed()) sandbox.vendors('6BApk').delete(Number(vendorid));
    expect((await line.run('sync', '--account', '6BApk')).status).toBe(1);
    const { stdout } = await line.run('status', '--account', '6BApk');
    expect(stdout).toContain('accept it: `vendor-mirror reconcile --accept-unreadable N`.');
  });

  it('L2 accepts with a number that vendors are counted and not shown, which status and accounts list show', async () => {
    const { baseUrl, token } = await testbed({ level: 'sandbox', vendors: 40, world: { unlistedIds: 15 } });
    const line = await testbed({ level: 'command', service: { baseUrl, token } });
    expect((await line.run('sync', '--account', '6BApk')).status).toBe(1);
    const accepted = await line.run('reconcile', '--account', '6BApk', '--accept-unreadable', '15');
    expect(accepted.status).toBe(0);
    expect((await line.run('status', '--account', '6BApk')).stdout).toMatch(
      /accepted +15 vendors that the service counts/,
    );
    const listed = await line.run('accounts', 'list', '--json');
    expect(listed.stdout).toContain('"accepted_unreadable":15');
    expect((await line.run('reconcile', '--account', '6BApk', '--accept-unreadable', '0')).status).toBe(1);
  });
});
