import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OwedAmount } from '../../../../src/domain/amounts.ts';
import { AccountFigures } from '../../../../src/store/reports/account-figures.ts';
import { FiguresThread } from '../../../../src/store/reports/figures.ts';
import { compiled } from '../../../support/source/compiled.ts';
import {
  otherConnection,
  readMirror,
  run,
  span,
  temporaryFolder,
  vendor,
  version,
  writeMirror,
  type Row,
  type Rows,
} from '../../../support/mirror-file.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const clock = virtualClock({ start: Date.UTC(2026, 10, 20, 12) });

async function mirrorOf(rows: Rows): Promise<string> {
  const path = join(temporaryFolder(), 'vendors.db');
  const accounts = [{ account_id: '6BApk', added_at: '2026-11-01 00:00:00.000' }];
  await writeMirror(path, clock, { _accounts: accounts, ...rows });
  return path;
}

async function figuresOf(rows: Rows) {
  return new AccountFigures(readMirror(await mirrorOf(rows), clock).connection, clock).read('6BApk');
}

const from = (day: string, to: string | null = null): Row => ({
  valid_from: `2026-11-${day}:00:00.000`,
  valid_to: to && `2026-11-${to}:00:00.000`,
});
const late = (minor: number): Row => ({ overdue_units: minor, overdue_amount: minor / 100 });
const eur = (minor: number): OwedAmount => ({ value: minor / 100, minor: BigInt(minor) });

describe('the figures of an account', () => {
  it('L91 say to whom most is owed, what is most overdue, who is not active and still owed, and whose contact changed this week', async () => {
    const changed = (seq: number, at: string, raw: object, told: Row = {}): Row =>
      version(1, ['account_number', 'outstanding_balance'], {
        ...{ seq, raw: JSON.stringify(raw), valid_from: at, source: 'delivery', ...told },
      });
    const { payables, contacts } = await figuresOf({
      vendors: [1, 2, 3, 4, 5].map((id) => vendor(id, { vendor_name: `Vendor ${id}` })),
      deliveries: [
        {
          ...{ id: 9, account_id: '6BApk', object_id: 1, user_id: 55, name: 'bill_vendor.update', outcome: 'applied' },
          received_at: '2026-11-19 10:00:00.000',
        },
      ],
      vendor_versions: [
        version(1, [], { seq: 1, raw: '{"account_number":"A"}', valid_from: '2026-11-01 09:00:00.000' }),
        changed(2, '2026-11-13 11:59:00.000', { account_number: 'B' }),
        changed(3, '2026-11-19 10:00:00.000', { account_number: 'C' }, { delivery_id: 9 }),
      ],
      _balance_spans: [
        span(1, 'EUR', 500, late(500)),
        span(2, 'EUR', 900),
        span(3, 'EUR', 700, late(100)),
        span(4, 'EUR', 600),
        span(4, 'USD', 50),
        span(5, 'EUR', 800, { state: 'archived' }),
        span(1, 'GBP', 0),
      ],
    });
    const told = (of: keyof typeof payables): unknown[] =>
      payables[of].map((row) => [row.vendorid, row.currency, row[of === 'overdue' ? 'overdue' : 'outstanding'].value]);
    expect(told('outstanding')).toEqual([
      [2, 'EUR', 9],
      [3, 'EUR', 7],
      [4, 'EUR', 6],
      [4, 'USD', 0.5],
    ]);
    expect(told('overdue')).toEqual([
      [1, 'EUR', 5],
      [3, 'EUR', 1],
    ]);
    expect(told('inactive')).toEqual([[5, 'EUR', 8]]);
    expect(payables.inactive[0]).toMatchObject({ state: 'archived', vendor: 'Vendor 5' });
    expect(contacts).toEqual([
      {
        ...{ at: '2026-11-19 10:00:00.000', source: 'delivery', user: 55, vendorid: 1, vendor: 'Vendor 1' },
        change: { seq: 3, field: 'account_number', old: 'B', new: 'C' },
      },
    ]);
  });

  it('show what was owed at the end of each day, and what is owed now', async () => {
    const { money } = await figuresOf({
      vendors: [vendor(1), vendor(2)],
      _balance_spans: [
        span(1, 'EUR', 999, from('17 09', '17 10')),
        span(1, 'EUR', 10_000, from('17 10', '19 08')),
        span(1, 'EUR', 7_000, { ...from('19 08'), ...late(500) }),
        span(2, 'EUR', 100, from('18 23')),
      ],
    });
    expect(money).toEqual([
      {
        code: 'EUR',
        vendors: 2,
        outstanding: eur(7_100),
        overdue: eur(500),
        days: [
          { day: '2026-11-17', outstanding: eur(10_000), overdue: eur(0) },
          { day: '2026-11-18', outstanding: eur(10_100), overdue: eur(0) },
          { day: '2026-11-19', outstanding: eur(7_100), overdue: eur(500) },
          { day: '2026-11-20', outstanding: eur(7_100), overdue: eur(500) },
        ],
      },
    ]);
  });

  it('show for each finding what its run changed, with old and new value', async () => {
    const finding = { account_id: '6BApk', vendorid: 1, kind: 'missed_update', fields: '["city"]' };
    const { found } = await figuresOf({
      vendors: [vendor(1, { raw: '{"city":"Graz"}' })],
      runs: [run(1), run(2), run(3)],
      findings: [2, 3].map((run_id) => ({ ...finding, run_id, found_at: '2026-11-20 10:00:00.000' })),
      vendor_versions: [
        version(1, [], { run_id: 1, raw: '{"city":"Wien"}', valid_to: '2026-11-20 10:00:00.000' }),
        version(1, ['city'], { run_id: 2, raw: '{"city":"Graz"}', valid_from: '2026-11-20 10:00:00.000' }),
      ],
    });
    expect(found.map(({ changes }) => changes)).toMatchObject([[], [{ field: 'city', old: 'Wien', new: 'Graz' }]]);
  });

  it('show the latest changes, newest first, with old and new values and the current name', async () => {
    const path = await mirrorOf({
      vendors: [vendor(1, { vendor_name: 'Old name', raw: '{"city":"Graz"}' }), vendor(2)],
      vendor_versions: [
        version(1, [], { raw: '{"city":"Wien"}', valid_to: '2026-11-20 10:00:00.000' }),
        version(2, []),
        version(1, ['city'], { raw: '{"city":"Graz"}', valid_from: '2026-11-20 10:00:00.000', source: 'delivery' }),
        version(3, [], { account_id: 'other' }),
      ],
    });
    const figures = new AccountFigures(readMirror(path, clock).connection, clock);
    expect((await figures.read('6BApk')).changes).toMatchObject([
      {
        kind: 'updated',
        source: 'delivery',
        vendor: 'Old name',
        changes: [{ field: 'city', old: 'Wien', new: 'Graz' }],
      },
      { kind: 'created', vendorid: 2, changes: [] },
      { kind: 'created', vendorid: 1, changes: [] },
    ]);
    otherConnection(path).exec(`UPDATE vendors SET vendor_name = 'New name' WHERE vendorid = 1`);
    expect((await figures.read('6BApk')).changes[0]).toMatchObject({
      vendor: 'New name',
      changes: [{ field: 'city' }],
    });
  });

  it('add up active vendors only, again after each commit of another connection', async () => {
    const path = await mirrorOf({
      vendors: [vendor(1), vendor(2), { ...vendor(3), account_id: 'other' }],
      _balance_spans: [span(1, 'EUR', 100), span(2, 'EUR', 5_000), span(3, 'EUR', 70_000, { account_id: 'other' })],
    });
    const figures = new AccountFigures(readMirror(path, clock).connection, clock);
    const other = otherConnection(path);
    const owedAfter = async (change: string): Promise<OwedAmount | undefined> => {
      other.exec(`UPDATE _balance_spans SET ${change}`);
      return (await figures.read('6BApk')).money[0]?.outstanding;
    };
    expect((await figures.read('6BApk')).money[0]?.outstanding).toEqual(eur(5_100));
    for (const state of ["'archived'", "'deleted'", "'unknown'", 'NULL']) {
      expect(await owedAfter(`state = ${state} WHERE vendorid = 2`)).toEqual(eur(100));
      expect(await owedAfter("state = 'active' WHERE vendorid = 2")).toEqual(eur(5_100));
    }
    expect(await owedAfter('outstanding_units = 200 WHERE vendorid = 1')).toEqual(eur(5_200));
  });

  it('count a vendor that is no longer active for the time it was', async () => {
    const { money, owed } = await figuresOf({
      vendors: [vendor(1), vendor(2, { vis_state: 1 })],
      _balance_spans: [
        span(1, 'EUR', 100, from('17 09')),
        span(2, 'EUR', 5_000, from('17 09', '19 09')),
        span(2, 'EUR', 5_000, { ...from('19 09'), state: 'deleted' }),
      ],
    });
    expect(money[0]?.days.map(({ outstanding }) => outstanding.minor)).toEqual([5_100n, 5_100n, 100n, 100n]);
    expect(owed.rows).toMatchObject([{ state: 'active' }, { state: 'deleted', outstanding: eur(5_000) }]);
  });

  it('show deliveries, missed and late changes of each of the last 49 hours', async () => {
    const delivery = { account_id: '6BApk', name: 'bill_vendor.update', outcome: 'applied' };
    const finding = { account_id: '6BApk', run_id: 1, vendorid: 1, kind: 'missed_update', fields: '["city"]' };
    const { hours, found, balancesFound } = await figuresOf({
      vendors: [vendor(1)],
      runs: [run(1)],
      deliveries: [
        { ...delivery, received_at: '2026-11-20 11:59:00.000' },
        { ...delivery, received_at: '2026-11-20 11:01:00.000' },
        { ...delivery, received_at: '2026-11-20 11:01:00.000', outcome: 'ignored' },
        { ...delivery, received_at: '2026-11-18 11:59:59.999' },
      ],
      findings: [
        { ...finding, found_at: '2026-11-20 10:00:00.000' },
        {
          ...finding,
          found_at: '2026-11-20 11:00:00.000',
          explained_at: '2026-11-20 11:02:00.000',
          explanation: 'late_delivery',
        },
        { ...finding, kind: 'balance_only', found_at: '2026-11-20 11:30:00.000' },
      ],
    });
    expect(hours).toHaveLength(49);
    expect(hours[0]).toEqual({ hour: '2026-11-18 12', deliveries: 0, missed: 0, late: 0, latestSeconds: null });
    expect(hours.slice(-3)).toEqual([
      { hour: '2026-11-20 10', deliveries: 0, missed: 1, late: 0, latestSeconds: null },
      { hour: '2026-11-20 11', deliveries: 2, missed: 0, late: 1, latestSeconds: 120 },
      { hour: '2026-11-20 12', deliveries: 0, missed: 0, late: 0, latestSeconds: null },
    ]);
    expect(found[0]).toMatchObject({ kind: 'missed_update', vendorid: 1, vendor: 'Vendor 1' });
    expect([found.length, balancesFound]).toEqual([2, 1]);
  });

  it('count what is new and what changed today; the next query reads only what came since', async () => {
    const earlier = Array.from({ length: 40 }, (_, index) =>
      version(index + 1, [], { valid_from: '2026-11-19 23:59:59.999' }),
    );
    const path = await mirrorOf({
      vendor_versions: [
        ...earlier,
        version(41, [], { valid_from: '2026-11-20 00:00:00.000' }),
        version(1, ['city'], { valid_from: '2026-11-20 08:00:00.000' }),
      ],
    });
    const figures = new AccountFigures(readMirror(path, clock).connection, clock);
    expect((await figures.read('6BApk')).today).toEqual({ day: '2026-11-20', created: 1, changed: 1 });
    await writeMirror(path, clock, { vendor_versions: [version(2, ['city']), version(3, ['phone'])] });
    expect((await figures.read('6BApk')).today).toEqual({ day: '2026-11-20', created: 1, changed: 3 });
  });
});

describe('the thread that computes figures', () => {
  it('reads the file beside its writer, and can end with open queries', async () => {
    const path = await mirrorOf({ vendors: [vendor(1)], _balance_spans: [span(1, 'EUR', 1_250)] });
    const thread = new FiguresThread(compiled.figures, path);
    onTestFinished(() => thread.stop());
    expect((await thread.read('6BApk')).money).toMatchObject([{ code: 'EUR', outstanding: eur(1_250) }]);
    const unanswered = thread.read('6BApk');
    unanswered.catch(() => undefined);
    await thread.stop();
    await expect(thread.read('6BApk')).rejects.toThrow('Stopping.');
  });

  it('reports why it cannot read', async () => {
    const thread = new FiguresThread(compiled.figures, join(temporaryFolder(), 'none.db'));
    onTestFinished(() => thread.stop());
    await expect(thread.read('6BApk')).rejects.toThrow('unable to open database file');
  });
});
