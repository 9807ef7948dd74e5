/** Queries of the dashboard and of probes: counts are kept up to date, and everything is found by an index. */
import { SqliteConnection } from '../../../src/store/sqlite/connection.ts';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accountStates, receivedDeliveriesOf } from '../../../src/store/account-reports.ts';
import type { Sqlite } from '../../../src/store/sqlite/driver.ts';
import {
  openDatabase,
  readMirror,
  run,
  temporaryFolder,
  type Row,
  vendor,
  writeMirror,
} from '../../support/mirror-file.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const clock = virtualClock({ auto: true });
const accounts = ['6BApk', 'other'];

/** How a query is carried out, a line for each step. */
function plan(sqlite: Sqlite, sql: string): string[] {
  const values = [...sql.matchAll(/\?/g)].map(() => 'x');
  return sqlite
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...values)
    .map(({ detail }) => detail);
}

describe('the queries of the dashboard and of probes', () => {
  it('K24 find the oldest unsettled delivery in an index of unsettled ones, without reading the table', async () => {
    const path = join(temporaryFolder(), 'vendors.db');
    const deliveries = Array.from({ length: 2_000 }, (_, index) => ({
      account_id: '6BApk',
      object_id: index % 50,
      received_at: `2026-11-20 10:${String(index % 60).padStart(2, '0')}:00.000`,
      name: 'bill_vendor.update',
      outcome: index === 1_999 ? 'pending' : 'applied',
    }));
    await writeMirror(path, clock, {
      _accounts: accounts.map((account_id) => ({ account_id, added_at: '2026-11-20 09:00:00.000' })),
      deliveries,
      vendors: Array.from({ length: 500 }, (_, index) => vendor(index + 1)),
      runs: [run(1), run(2)],
    });
    const { sqlite } = readMirror(path, clock);
    for (const where of ['', ' WHERE account_id = ?']) {
      const steps = plan(sqlite, `SELECT * FROM freshness${where}`);
      expect(steps).toContainEqual(
        expect.stringMatching(
          /^SEARCH d USING (COVERING )?INDEX deliveries_unsettled \(account_id=\? AND outcome=\?\)/,
        ),
      );
      expect(steps.filter((step) => /^SCAN (?!a\b|m\b|freshness$|_freshness_types$|CONSTANT)/.test(step))).toEqual([]);
      expect(steps.join('\n')).not.toMatch(/\b(autoindex_vendors_|deliveries_of_)/);
      expect(steps).toContainEqual(
        expect.stringMatching(/^SEARCH v USING COVERING INDEX vendors_by_state \(account_id=\? AND presence=\?\)/),
      );
    }
    const steps = plan(sqlite, 'SELECT * FROM webhook_health WHERE account_id = ? AND day > ? ORDER BY day');
    // The empty table that gives the view its types is all that is looked through.
    expect(steps.filter((step) => /^S(CAN|EARCH) (?!_webhook_health_types$)/.test(step))).toEqual([
      'SEARCH _webhook_days USING PRIMARY KEY (account_id=? AND day>?)',
    ]);
  });
});

it('K24 use indexes for everything about an account, however many deliveries are settled', async () => {
  const path = join(temporaryFolder(), 'vendors.db');
  const account_id = '6BApk';
  const received_at = '2026-11-20 10:00:00.000';
  const settled = { account_id, object_id: 1, received_at, name: 'bill_vendor.update', outcome: 'applied' };
  await writeMirror(path, clock, {
    _accounts: [{ account_id, added_at: '2026-11-20 09:00:00.000' }],
    deliveries: Array.from({ length: 2_000 }, () => settled),
    vendors: [vendor(1)],
    runs: [run(1), run(2)],
  });
  const { sqlite } = readMirror(path, clock);
  const asked: string[] = [];
  const prepare = sqlite.prepare.bind(sqlite) as (sql: string) => unknown;
  const recording = Object.assign(Object.create(sqlite) as Sqlite, {
    prepare: (sql: string) => {
      asked.push(sql);
      return prepare(sql);
    },
  });
  await accountStates(new SqliteConnection(recording), clock)(account_id);
  await receivedDeliveriesOf(new SqliteConnection(recording))(account_id);
  expect(asked.length).toBeGreaterThan(8);
  const bare = (sql: string): string => sql.replace(/:\w+/g, '?');
  const steps = asked.flatMap((sql) => plan(sqlite, bare(sql)));
  const large = steps.filter((step) => /^(SCAN|SEARCH) (d|deliveries|findings|vendors|v)\b/.test(step));
  expect(large).not.toEqual([]);
  // To find the greatest of all rows is called a search too.
  expect(large.filter((step) => !/^SEARCH .* \((account_id|run_id)=\?/.test(step))).toEqual([]);
  // Few vendors have what cannot be read; all others are not looked at.
  expect(large).toContain('SEARCH v USING INDEX vendors_unreadable (account_id=?)');
});

/** The definition of `webhook_health`, read from the journal and the ledger as a whole. */
const fromTheJournal = `
  WITH told AS (
    SELECT account_id, substr(received_at, 1, 10) AS day, count(*) AS deliveries, sum(outcome = 'unchanged') AS duplicates
    FROM deliveries WHERE outcome <> 'ignored' GROUP BY 1, 2
  ), met AS (
    SELECT account_id, substr(found_at, 1, 10) AS day,
      sum(explained_at IS NULL) AS unannounced, sum(explained_at IS NOT NULL) AS late
    FROM findings WHERE kind LIKE 'missed_%' GROUP BY 1, 2
  ), told_between_sweeps AS (
    SELECT account_id, object_id AS vendorid,
      (SELECT r.id FROM runs r
       WHERE r.account_id = d.account_id AND r.started_at > d.received_at AND r.kind <> 'verify'
       ORDER BY r.started_at LIMIT 1) AS run_id
    FROM deliveries d WHERE outcome <> 'ignored'
    EXCEPT
    SELECT account_id, vendorid, run_id FROM findings WHERE kind LIKE 'missed_%' AND explained_at IS NULL
  ), heard AS (
    SELECT a.account_id, substr(r.started_at, 1, 10) AS day, count(*) AS announced
    FROM told_between_sweeps a JOIN runs r ON r.id = a.run_id GROUP BY 1, 2
  ), days AS (
    SELECT account_id, day FROM told UNION SELECT account_id, day FROM met UNION SELECT account_id, day FROM heard
  )
  SELECT account_id, day, coalesce(deliveries, 0) AS deliveries, coalesce(duplicates, 0) AS duplicates,
    coalesce(unannounced, 0) AS unannounced_changes, coalesce(announced, 0) AS announced_changes, coalesce(late, 0) AS late_deliveries
  FROM days LEFT JOIN told USING (account_id, day) LEFT JOIN met USING (account_id, day) LEFT JOIN heard USING (account_id, day)
  ORDER BY 1, 2`;

type Step =
  | {
      readonly what: 'delivery' | 'settle' | 'explain' | 'find' | 'promote';
      readonly vendor: number;
      readonly word: number;
    }
  | { readonly what: 'sweep' | 'verify' };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    what: fc.constantFrom('delivery', 'delivery', 'settle', 'explain', 'find', 'promote'),
    vendor: fc.integer({ min: 1, max: 3 }),
    word: fc.nat(3),
  }),
  fc.record({ what: fc.constantFrom('sweep', 'sweep', 'verify') }),
);

it('K24 keep counts by day that equal those of the whole journal', async () => {
  const database = await openDatabase(join(temporaryFolder(), 'vendors.db'));
  const { sqlite } = database;
  const insert = (table: string, row: Row): unknown =>
    sqlite
      .prepare(
        `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${Object.keys(row)
          .map(() => '?')
          .join()})`,
      )
      .run(...Object.values(row));
  const account_id = '6BApk';
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      for (const table of ['deliveries', 'runs', 'findings', '_webhook_days', '_announced_since'])
        sqlite.exec(`DELETE FROM ${table}`);
      steps.forEach((step, index) => {
        const at = `2026-11-${String(10 + Math.floor(index / 8))} 12:${String(10 + (index % 8))}:00.000`;
        if (!('vendor' in step)) {
          const kind = step.what === 'sweep' ? 'reconcile' : 'verify';
          insert('runs', {
            account_id,
            kind,
            '"trigger"': 'schedule',
            started_at: at,
            outcome: 'complete',
            began_seq: 0,
          });
          return;
        }
        const { vendor: object_id, word } = step;
        const latest = sqlite.prepare<[], number>(`SELECT max(id) FROM runs WHERE kind <> 'verify'`).pluck().get();
        if (step.what === 'delivery') {
          const outcome = ['pending', 'pending', 'ignored', 'unchanged'][word] ?? 'pending';
          insert('deliveries', { account_id, received_at: at, name: 'bill_vendor.update', object_id, outcome });
        } else if (step.what === 'settle') {
          const outcome = ['applied', 'unchanged', 'parked', 'not_found'][word] ?? 'applied';
          sqlite
            .prepare(`UPDATE deliveries SET outcome = ? WHERE object_id = ? AND outcome <> 'ignored'`)
            .run(outcome, object_id);
        } else if (step.what === 'find' && latest) {
          const met = sqlite.prepare('SELECT 1 FROM findings WHERE run_id = ? AND vendorid = ?').get(latest, object_id);
          const kind = ['missed_update', 'in_flight', 'balance_only', 'missed_create'][word] ?? 'missed_update';
          if (!met)
            insert('findings', { run_id: latest, account_id, vendorid: object_id, kind, fields: '[]', found_at: at });
        } else if (step.what === 'explain')
          sqlite
            .prepare('UPDATE findings SET explained_at = ? WHERE vendorid = ? AND explained_at IS NULL')
            .run(at, object_id);
        else if (step.what === 'promote')
          sqlite.prepare(`UPDATE findings SET kind = 'missed_update' WHERE kind = 'in_flight'`).run();
      });
      const kept = sqlite.prepare(`
        SELECT account_id, day, deliveries, duplicates, unannounced_changes, announced_changes, late_deliveries
        FROM webhook_health WHERE deliveries + unannounced_changes + announced_changes + late_deliveries > 0 ORDER BY 1, 2`);
      expect(kept.all()).toEqual(sqlite.prepare(fromTheJournal).all().filter(isNews));
    }),
  );
  await database.close();
});

const isNews = (row: unknown): boolean => {
  const { deliveries, unannounced_changes, announced_changes, late_deliveries } = row as Record<string, number>;
  return deliveries! + unannounced_changes! + announced_changes! + late_deliveries! > 0;
};
