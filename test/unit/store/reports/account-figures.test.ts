import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AccountFigures } from '../../../../src/store/reports/account-figures.ts';
import { FiguresThread } from '../../../../src/store/reports/figures.ts';
import { compiled } from '../../../support/source/compiled.ts';
import {
  balance,
  otherConnection,
  readMirror,
  run,
  temporaryFolder,
  vendor,
  version,
  writeMirror,
  type Rows,
} from '../../../support/mirror-file.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const clock = virtualClock({ start: Date.UTC(2026, 10, 20, 12) });

async function mirrorOf(rows: Rows): Promise<string> {
  const path = join(temporaryFolder(), 'vendors.db');
  const accounts = [{ account_id: '6BApk', added_at: '2026-11-01 00:00:00.000' }];
  await writeMirror(path, clock, { accounts, ...rows });
  return path;
}

async function figuresOf(rows: Rows) {
  return new AccountFigures(readMirror(await mirrorOf(rows), clock).sqlite, clock).read('6BApk');
}

const span = (vendorid: number, from: string, to: string | null, outstanding: number, overdue: number) => ({
  account_id: '6BApk',
  vendorid,
  code: 'EUR',
  valid_from: `2026-11-${from}:00:00.000`,
  valid_to: to && `2026-11-${to}:00:00.000`,
  outstanding: String(outstanding / 100),
  outstanding_minor: outstanding,
  overdue: String(overdue / 100),
  overdue_minor: overdue,
});

describe('the figures of an account', () => {
  it('show what was owed at the end of each day, and what is owed now', async () => {
    const { money } = await figuresOf({
      vendors: [vendor(1), vendor(2)],
      vendor_balances: [
        balance(1, 'outstanding', '70', 'EUR'),
        balance(1, 'overdue', '5', 'EUR'),
        balance(2, 'outstanding', '1', 'EUR'),
      ],
      balance_spans: [
        span(1, '17 09', '17 10', 999, 999),
        span(1, '17 10', '19 08', 10_000, 0),
        span(1, '19 08', null, 7_000, 500),
        span(2, '18 23', null, 100, 0),
      ],
    });
    expect(money).toEqual([
      {
        code: 'EUR',
        vendors: 2,
        outstanding: 7_100n,
        overdue: 500n,
        unreadable: 0,
        days: [
          { day: '2026-11-17', outstanding: 10_000n, overdue: 0n },
          { day: '2026-11-18', outstanding: 10_100n, overdue: 0n },
          { day: '2026-11-19', outstanding: 7_100n, overdue: 500n },
          { day: '2026-11-20', outstanding: 7_100n, overdue: 500n },
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
    const figures = new AccountFigures(readMirror(path, clock).sqlite, clock);
    expect(figures.read('6BApk').changes).toMatchObject([
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
    expect(figures.read('6BApk').changes[0]).toMatchObject({ vendor: 'New name', changes: [{ field: 'city' }] });
  });

  it('add up active vendors only, again after each commit of another connection', async () => {
    const path = await mirrorOf({
      vendors: [vendor(1), vendor(2), { ...vendor(3), account_id: 'other' }],
      vendor_balances: [
        balance(1, 'outstanding', '1', 'EUR'),
        balance(2, 'outstanding', '50', 'EUR'),
        { ...balance(3, 'outstanding', '700', 'EUR'), account_id: 'other' },
      ],
    });
    const figures = new AccountFigures(readMirror(path, clock).sqlite, clock);
    const other = otherConnection(path);
    const owedAfter = (change: string): bigint | undefined => {
      other.exec(change);
      return figures.read('6BApk').money[0]?.outstanding;
    };
    expect(figures.read('6BApk').money[0]?.outstanding).toBe(5_100n);
    // Nothing is concluded about a suspect.
    expect(owedAfter("UPDATE vendors SET presence = 'suspect' WHERE vendorid = 2")).toBe(5_100n);
    for (const change of ["presence = 'missing'", "presence = 'gone'", 'vis_state = 2', 'vis_state = NULL']) {
      expect(owedAfter(`UPDATE vendors SET ${change} WHERE vendorid = 2`)).toBe(100n);
      expect(owedAfter("UPDATE vendors SET presence = 'present', vis_state = 0 WHERE vendorid = 2")).toBe(5_100n);
    }
    expect(owedAfter('UPDATE vendor_balances SET amount_minor = 200 WHERE vendorid = 1')).toBe(5_200n);
  });

  it('count a vendor that is no longer active for the time it was', async () => {
    const { money } = await figuresOf({
      vendors: [vendor(1), vendor(2, { vis_state: 1 })],
      vendor_balances: [balance(1, 'outstanding', '1', 'EUR'), balance(2, 'outstanding', '50', 'EUR')],
      vendor_versions: [
        version(2, [], { valid_from: '2026-11-17 09:00:00.000', valid_to: '2026-11-19 09:00:00.000' }),
        version(2, ['vis_state'], { valid_from: '2026-11-19 09:00:00.000', vis_state: 1 }),
      ],
      balance_spans: [span(1, '17 09', null, 100, 0), span(2, '17 09', null, 5_000, 0)],
    });
    expect(money[0]?.days.map(({ outstanding }) => outstanding)).toEqual([5_100n, 5_100n, 100n, 100n]);
  });

  it('show deliveries, missed and late changes of each of the last 49 hours', async () => {
    const delivery = { account_id: '6BApk', name: 'bill_vendor.update', outcome: 'applied' };
    const finding = { account_id: '6BApk', run_id: 1, vendorid: 1, kind: 'missed_update', fields: '["city"]' };
    const { hours, found } = await figuresOf({
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
    expect(found[0]).toMatchObject({ kind: 'balance_only', vendorid: 1, vendor: 'Vendor 1' });
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
    const figures = new AccountFigures(readMirror(path, clock).sqlite, clock);
    expect(figures.read('6BApk').today).toEqual({ day: '2026-11-20', created: 1, changed: 1 });
    await writeMirror(path, clock, { vendor_versions: [version(2, ['city']), version(3, ['phone'])] });
    expect(figures.read('6BApk').today).toEqual({ day: '2026-11-20', created: 1, changed: 3 });
  });
});

describe('the thread that computes figures', () => {
  it('reads the file beside its writer, and can end with open queries', async () => {
    const path = await mirrorOf({ vendors: [vendor(1)], vendor_balances: [balance(1, 'outstanding', '12.50', 'EUR')] });
    const thread = new FiguresThread(compiled.figures, path);
    onTestFinished(() => thread.stop());
    expect((await thread.read('6BApk')).money).toMatchObject([{ code: 'EUR', outstanding: 1_250n }]);
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
