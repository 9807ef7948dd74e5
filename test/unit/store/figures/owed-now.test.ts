/** What is owed now, updated by changes, compared with a count of all vendors. */
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { VendorRow } from '../../../../src/domain/reading.ts';
import type { Balance, VisState } from '../../../../src/domain/vendor.ts';
import { OwedNow } from '../../../../src/store/figures/owed-now.ts';
import { currencyTotals, type CurrencyTotal } from '../../../../src/store/reports/account-reports.ts';
import { connectReader } from '../../../../src/store/sqlite/driver.ts';
import { testbed } from '../../../support/testbed.ts';
import { account, type StoreTestbed } from '../../../support/testbed/store.ts';

interface Owed {
  readonly outstanding: readonly Balance[];
  readonly overdue?: readonly Balance[];
  readonly state?: VisState;
}

function row(vendorid: number, { outstanding, overdue = [], state = 0 }: Owed): VendorRow {
  const fields = { vendorid, vis_state: state, outstanding_balance: [...outstanding], overdue_balance: [...overdue] };
  return { vendorid, raw: JSON.stringify(fields), vendor: () => ({ ...fields, unknown: new Map() }) };
}

async function counting() {
  const at = await testbed({ level: 'store' });
  const sqlite = connectReader(at.mirror.path);
  onTestFinished(() => void sqlite.close());
  const [owed, all] = [new OwedNow(sqlite), currencyTotals(sqlite)];
  const sorted = (totals: readonly CurrencyTotal[]): CurrencyTotal[] =>
    [...totals].sort((a, b) => `${a.kind} ${a.code}`.localeCompare(`${b.kind} ${b.code}`));
  return { at, now: () => sorted(owed.of(account)), truth: () => sorted(all(account)) };
}

const write = async (at: StoreTestbed, vendorid: number, owed: Owed): Promise<unknown> =>
  at.record(await at.ask(), row(vendorid, owed), 'write');

const euros = (amount: string): Balance[] => [{ amount, code: 'EUR' }];

describe('what is owed now', () => {
  it('equals a count of all vendors, whatever changed, also when the clock is set back or forward', async () => {
    const amount = fc.constantFrom('0', '0.01', '-3.50', '1234567890123.45', '99999999999999', 'many');
    const balances = fc.uniqueArray(fc.record({ amount, code: fc.constantFrom('EUR', 'USD', 'JPY') }), {
      selector: ({ code }) => code,
    });
    const reading = fc.record({
      outstanding: balances,
      overdue: balances,
      state: fc.constantFrom<VisState[]>(0, 0, 0, 1, 2),
    });
    const vendorid = fc.integer({ min: 1, max: 4 });
    const step = fc.record({
      vendorid,
      reading: fc.option(reading, { freq: 6 }),
      passes: fc.constantFrom(0, 1, 1, 5_000, -60_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { maxLength: 3 }), { maxLength: 8 }), async (rounds) => {
        const { at, now, truth } = await counting();
        for (const steps of rounds) {
          for (const { vendorid, reading, passes } of steps) {
            at.clocks.wall += passes;
            at.clocks.running += Math.max(1, passes);
            if (reading) await write(at, vendorid, reading);
            else await at.absence(await at.ask(), vendorid);
          }
          expect(now()).toEqual(truth());
        }
      }),
      { numRuns: 30 },
    );
  });

  it('is computed without reading unchanged vendors', async () => {
    const { at, now } = await counting();
    for (const vendorid of [1, 2]) await write(at, vendorid, { outstanding: euros('10.00') });
    expect(now()).toMatchObject([{ code: 'EUR', minor: 2_000n, vendors: 2 }]);
    at.damage('UPDATE vendor_balances SET amount_minor = 7 WHERE vendorid = 2');
    at.clocks.wall += 10;
    await write(at, 1, { outstanding: euros('11.00') });
    expect(now()).toMatchObject([{ minor: 2_100n, vendors: 2 }]);
  });

  it('is counted anew after a run, and when a vendor became a suspect', async () => {
    const { at, now, truth } = await counting();
    for (const vendorid of [1, 2, 3]) await write(at, vendorid, { outstanding: euros('10.00') });
    now();
    at.damage(`UPDATE vendors SET presence = 'suspect' WHERE vendorid = 3`);
    expect(now()).toMatchObject([{ minor: 2_000n, vendors: 2 }]);
    at.damage(`UPDATE vendor_balances SET amount_minor = 7 WHERE vendorid = 2;
      UPDATE runs SET finished_at = '2026-11-20 12:00:00.000', outcome = 'complete'`);
    expect(now()).toEqual(truth());
  });
});
