/** `verify` beside a service that changes. */
import { describe, expect, it } from 'vitest';
import type { VerifyReport } from '../../../src/sync/compare.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const world = ['listDeleted=shown', 'noteInList=yes'];

const verify = (at: Testbed<'account'>): Promise<VerifyReport> =>
  at.installation.verify(account, { signal: new AbortController().signal, trigger: 'command' });

const vendorOf = (at: Testbed<'account'>, nth: number): number =>
  Number(at.sandbox.vendors(account).all()[nth]!['vendorid']);

function moveBalance(at: Testbed<'account'>, nth: number): void {
  at.sandbox.vendors(account).setBalance(vendorOf(at, nth), 'outstanding', [{ amount: `1${nth}.25`, code: 'EUR' }]);
}

describe('verify of a service that changes', () => {
  it('L89 is equal right after a pull but for balances, which move without an event', async () => {
    const at = await testbed({ level: 'account', world, vendors: 60, events: 2 });
    await at.pull();
    for (let nth = 0; nth < 9; nth += 1) moveBalance(at, nth);
    const report = await verify(at);
    expect(report).toMatchObject({ outcome: 'equal', differences: [], error: undefined });
    expect(report.inFlight).toHaveLength(9);
    for (const { kind, fields } of report.inFlight)
      expect([kind, fields]).toEqual(['balance_only', ['outstanding_balance']]);
    expect(at.query('SELECT outcome, error FROM runs ORDER BY id DESC LIMIT 1')).toEqual([
      { outcome: 'complete', error: null },
    ]);
    await at.pull();
    expect(await verify(at)).toMatchObject({ outcome: 'equal', inFlight: [] });
  });

  it('L89 a vendor that was edited after its list was read is in flight, and one that was edited before differs', async () => {
    let edits = false;
    const at: Testbed<'account'> = await testbed({
      level: 'account',
      world,
      vendors: 60,
      answer({ pathname }) {
        // The list was read.
        if (!edits || !/\/\d+$/.test(pathname)) return undefined;
        edits = false;
        at.sandbox.vendors(account).edit(vendorOf(at, 30), { city: 'Elsewhere' });
        return undefined;
      },
    });
    await at.pull();
    await at.clock.advance(5_000);
    at.sandbox.vendors(account).edit(vendorOf(at, 3), { city: 'Elsewhere' });
    await at.clock.advance(5_000);
    edits = true;
    const report = await verify(at);
    expect(report.outcome).toBe('different');
    expect(report.differences.map(({ vendorid }) => vendorid)).toEqual([vendorOf(at, 3)]);
    expect(report.inFlight).toMatchObject([{ vendorid: vendorOf(at, 30), kind: 'in_flight' }]);
  });

  it('L89 a vendor that is about to be read for a delivery is in flight, unless reading it has failed', async () => {
    const at = await testbed({ level: 'account', world, vendors: 20 });
    await at.pull();
    await at.clock.advance(5_000);
    at.sandbox.vendors(account).edit(vendorOf(at, 3), { city: 'Elsewhere' });
    expect((await verify(at)).outcome).toBe('different');
    const { queue } = at.installation.mirror;
    await queue.markVendors(account, [vendorOf(at, 3)], 'delivery', 0);
    expect(await verify(at)).toMatchObject({ outcome: 'equal', inFlight: [{ kind: 'in_flight' }] });
    const [mark] = await queue.dueMarks(account);
    await queue.defer(mark!, { delay: 0, reason: 'delivery', attempts: 1, error: 'The service failed.' });
    expect((await verify(at)).outcome).toBe('different');
  });

  it('L89 a balance that differs beside another field is a difference', async () => {
    const at = await testbed({ level: 'account', world, vendors: 20 });
    await at.pull();
    moveBalance(at, 3);
    at.sandbox.vendors(account).edit(vendorOf(at, 3), { city: 'Elsewhere' });
    expect(await verify(at)).toMatchObject({ outcome: 'different', inFlight: [] });
  });
});
