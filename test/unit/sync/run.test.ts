import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { itInFiles } from '../../support/testbed/store.ts';
import { deadProcess, livingProcess } from '../../support/testbed/account.ts';

const settings = { service: { paging: { perPage: 15, concurrency: 1 } } };

function runs(at: Testbed<'account'>): Record<string, unknown>[] {
  return at.query('SELECT * FROM runs ORDER BY id');
}

function count(at: Testbed<'account'>, table: string): number {
  return at.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]!.n;
}

describe('the record of a run', () => {
  it('has the counts of a first run, and of one that found nothing new and wrote no vendor row', async () => {
    const listsOnly = { service: { ...settings.service, readOne: 'sweep' } };
    const at = await testbed({ level: 'account', vendors: 40, settings: listsOnly, world: ['visStateFilter=ignored'] });
    await at.pull();
    const [held, versions] = [at.query('SELECT * FROM vendors'), count(at, 'vendor_versions')];
    await at.clock.advance(60_000);
    await at.pull({ trigger: 'schedule', kind: 'reconcile' });
    const seen = held.length;
    expect(runs(at)).toMatchObject([
      {
        id: 1,
        account_id: account,
        kind: 'pull',
        trigger: 'command',
        outcome: 'complete',
        pages: 3,
        seen,
        created: seen,
        updated: 0,
        unchanged: 0,
        suspects: 0,
        error: null,
      },
      {
        id: 2,
        kind: 'reconcile',
        trigger: 'schedule',
        outcome: 'complete',
        seen,
        created: 0,
        updated: 0,
        unchanged: seen,
      },
    ]);
    expect(at.query('SELECT * FROM vendors')).toEqual(held);
    expect(count(at, 'vendor_versions')).toBe(versions);
  });

  it('claims everything up to the moment before the sweep began, less the lag', async () => {
    const at = await testbed({ level: 'account', vendors: 20 });
    await at.pull();
    expect(runs(at)).toMatchObject([{ started_at: '2026-11-20 12:00:00.000', safe_as_of: '2026-11-20 11:59:55.000' }]);
    expect(at.query('SELECT safe_as_of, last_complete_sweep FROM freshness')).toEqual([
      { safe_as_of: '2026-11-20 11:59:55.000', last_complete_sweep: runs(at)[0]!['finished_at'] },
    ]);
  });

  it('claims of a vendor that is too young to be missed no more than was known before it was read', async () => {
    const at = await testbed({ level: 'account', vendors: 20 });
    await at.pull();
    await at.clock.advance(60_000);
    const vendorService = at.sandbox.vendors(account);
    const created = Number(vendorService.create({ vendor_name: 'New', language: 'en' })['vendorid']);
    const syncAccount = at.installation.account(account);
    const reading = await syncAccount.vendors.read(created);
    // The answer takes its time, and the vendor is no more when it is applied.
    await at.clock.advance(10_000);
    vendorService.vanish(created);
    await at.clock.advance(10_000);
    const context = { accountId: account, source: 'delivery', runId: null, deliveryId: null, lag: 5_000 } as const;
    await syncAccount.mirror.readings.applyReading(reading, context);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 0 });
    expect(runs(at)[1]).toMatchObject({ started_at: '2026-11-20 12:01:20.000', safe_as_of: '2026-11-20 11:59:55.000' });
    await at.clock.advance(60_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 1 });
    expect(runs(at)[2]).toMatchObject({ safe_as_of: '2026-11-20 12:02:15.000' });
  });

  it('B4 claims nothing until the next complete run if such a vendor was read before the clock was set back', async () => {
    const at = await testbed({ level: 'account', vendors: 20 });
    await at.pull();
    const [vendor] = at.query<{ vendorid: number }>('SELECT vendorid FROM vendors');
    at.sandbox.vendors(account).edit(vendor!.vendorid, { city: 'Basel' });
    at.clock.shiftWall(-24 * 3_600_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(runs(at)[1]).toMatchObject({ safe_as_of: null, listed_as_of: null });
    await at.clock.advance(60_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(runs(at)[2]).toMatchObject({ safe_as_of: '2026-11-19 12:01:00.000' });
  });

  it('B4 claims nothing if the clock was set back during the sweep', async () => {
    const at = await testbed({ level: 'account', vendors: 60, settings });
    let requests = 0;
    at.sandbox.onRequest(() => {
      requests += 1;
      if (requests === 2) at.clock.shiftWall(-24 * 3_600_000);
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(requests).toBeGreaterThan(2);
    expect(runs(at)[0]).toMatchObject({ safe_as_of: null, listed_as_of: null });
  });

  it('keeps the freshness of the last complete sweep when a later one is incomplete', async () => {
    const at = await testbed({ level: 'account', vendors: 60, settings });
    await at.pull();
    const before = at.query('SELECT * FROM freshness');
    await at.clock.advance(60_000);
    at.sandbox.onRequest(() => at.sandbox.faults.next({ kind: '500' }));
    await at.pull();
    expect(runs(at)).toMatchObject([{ outcome: 'complete' }, { outcome: 'failed', safe_as_of: null }]);
    expect(at.query('SELECT * FROM freshness')).toEqual(before);
  });

  it('J1 keeps whole pages of an interrupted run, and reports it as interrupted', async () => {
    const at = await testbed({ level: 'account', vendors: 60, settings });
    const interruption = new AbortController();
    at.sandbox.onRequest(({ query }) => {
      if (query.get('page') === '3') interruption.abort(new Error('Ctrl-C'));
    });
    const run = await at.pull({ signal: interruption.signal });
    expect(run).toMatchObject({ outcome: 'incomplete', pages: 2, error: { code: 'interrupted', exit: 1 } });
    expect(runs(at)).toMatchObject([
      { outcome: 'incomplete', pages: 2, error: 'Interrupted after 2 pages; what was read is kept.' },
    ]);
    expect(count(at, 'vendors')).toBe(30);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  });

  itInFiles?.('F2 marks as abandoned what a dead process left running, but not the run of a living one', async () => {
    const at = await testbed({ level: 'account', vendors: 20 });
    await at.pull();
    for (const process of [deadProcess, livingProcess])
      at.write(
        `INSERT INTO runs (account_id, kind, "trigger", started_at, outcome, process, began_seq)
         VALUES ('${account}', 'pull', 'command', '2026-11-20 11:00:00.000', 'running', '${process}', 0)`,
      );
    await at.pull();
    expect(at.query('SELECT process, outcome, error FROM runs WHERE id IN (2, 3) ORDER BY id')).toEqual([
      { process: deadProcess, outcome: 'abandoned', error: 'The process ended during the run.' },
      { process: livingProcess, outcome: 'running', error: null },
    ]);
  });
});
