import { SqliteConnection } from '../../../src/store/sqlite/connection.ts';
import fc from 'fast-check';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inOrder } from '../../../src/domain/concurrency.ts';
import { accountSummaries, unknownState } from '../../../src/store/account-reports.ts';
import { owedReport } from '../../../src/store/reports/owed.ts';
import { accountIds } from '../../../src/store/reports/known-accounts.ts';
import { readMirror, run, span, temporaryFolder, vendor, writeMirror, type Rows } from '../../support/mirror-file.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const clock = virtualClock({ auto: true });
const account = { account_id: '6BApk', added_at: '2026-11-20 09:00:00.000' };

async function reportsOn(rows: Rows) {
  const path = join(temporaryFolder(), 'vendors.db');
  await writeMirror(path, clock, { _accounts: [account], ...rows });
  const { sqlite } = readMirror(path, clock);
  const [summary, totals] = [
    accountSummaries(new SqliteConnection(sqlite), 2),
    owedReport(new SqliteConnection(sqlite)),
  ];
  return inOrder(await accountIds(new SqliteConnection(sqlite)), async (id) => ({
    ...(await summary(id)),
    totals: await totals(id),
  }));
}

describe('reports on accounts', () => {
  it('are empty before the first run', async () => {
    expect(await reportsOn({})).toEqual([
      {
        account: '6BApk',
        connection: 'default',
        counts: [],
        totals: { rows: [], unknown: 0 },
        freshness: unknownState('6BApk').freshness,
        queue: { waiting: 0, parked: 0 },
        sweepRequest: { asked_at: null, callback_ids: 0, callback_id_at: null },
        failing: null,
        runs: [],
        isRunUnseen: false,
        failedSince: null,
        refusedSince: null,
        findings: [],
        callbacks: [],
        unknownCallbacks: [],
        refusals: [],
        clockAheadMs: null,
        acceptedUnreadable: 0,
        withheldAbsences: 0,
        unprovenAbsences: 0,
      },
    ]);
  });

  it('keep accounts apart', async () => {
    const other = { account_id: 'other' };
    const rows = {
      _accounts: [account, { ...account, ...other }],
      vendors: [vendor(1), vendor(1, other), vendor(2, other)],
      runs: [run(1), run(2, other)],
      dirty_vendors: [
        {
          ...other,
          vendorid: 1,
          generation: 1,
          marked_at: '2026-11-20 11:00:00.000',
          due_at: '2026-11-20 11:00:00.000',
          reason: 'delivery',
        },
      ],
    };
    const [first, second] = await reportsOn(rows);
    expect(first).toMatchObject({
      account: '6BApk',
      counts: [{ vendors: 1 }],
      queue: { waiting: 0 },
      runs: [{ id: 1 }],
    });
    expect(second).toMatchObject({
      account: 'other',
      counts: [{ vendors: 2 }],
      queue: { waiting: 1 },
      runs: [{ id: 2 }],
    });
  });

  it('show the newest runs first, and the findings of the newest only', async () => {
    const finding = { account_id: '6BApk', fields: '{}', found_at: '2026-11-20 11:00:00.000' };
    const [report] = await reportsOn({
      runs: [run(1), run(2), run(3, { kind: 'reconcile' })],
      findings: [
        { ...finding, run_id: 1, kind: 'vanished' },
        { ...finding, run_id: 3, kind: 'missed_update' },
        { ...finding, run_id: 3, kind: 'missed_update' },
        { ...finding, run_id: 3, kind: 'balance_only' },
      ],
    });
    expect(report?.runs?.map(({ id }) => id)).toEqual([3, 2]);
    expect(report?.findings).toEqual([
      { kind: 'balance_only', count: 1 },
      { kind: 'missed_update', count: 2 },
    ]);
  });

  it('distinguish waiting from parked vendors', async () => {
    const mark = { account_id: '6BApk', generation: 1, marked_at: '2026-11-20 11:00:00.000', reason: 'retry' };
    const [report] = await reportsOn({
      dirty_vendors: [
        { ...mark, vendorid: 1, due_at: '2026-11-20 12:00:00.000' },
        { ...mark, vendorid: 2, due_at: null },
        { ...mark, vendorid: 3, due_at: null },
      ],
    });
    expect(report?.queue).toEqual({ waiting: 1, parked: 2 });
  });

  it('add up exactly what is owed, as long as the sum fits 64 bits, whatever the amounts', async () => {
    const minor = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(minor), { minLength: 1, maxLength: 12 }), async (amounts) => {
        const [report] = await reportsOn({
          vendors: amounts.map((_, index) => vendor(index + 1)),
          _balance_spans: amounts.map((amount, index) => span(index + 1, 'USD', amount)),
        });
        const readable = amounts.filter((amount) => amount !== null);
        const sum = readable.reduce((total, amount) => total + amount, 0n);
        const [row] = report!.totals.rows;
        expect(row).toMatchObject({
          currency: 'USD',
          state: 'active',
          vendors: readable.filter((amount) => amount !== 0n).length,
          unreadable: amounts.length - readable.length,
          overdue: { value: 0, minor: 0n },
        });
        const fits = sum > -9n * 10n ** 18n && sum < 9n * 10n ** 18n;
        expect(row?.outstanding.minor).toBe(fits ? sum : null);
        expect(row?.outstanding.value).toBeCloseTo(Number(sum) / 100, -5);
      }),
      { numRuns: 30 },
    );
  });

  it('name the state of the vendors that are owed, and leave out absent ones', async () => {
    const [report] = await reportsOn({
      vendors: [vendor(1), vendor(2, { vis_state: 1 }), vendor(3, { vis_state: 2 }), vendor(4, { presence: 'gone' })],
      _balance_spans: ['active', 'deleted', 'archived', null].map((state, index) =>
        span(index + 1, 'EUR', 100 * (index + 1), { state }),
      ),
    });
    expect(report?.totals.rows.map(({ state, outstanding }) => [state, outstanding.minor])).toEqual([
      ['active', 100n],
      ['archived', 300n],
      ['deleted', 200n],
    ]);
  });
});
