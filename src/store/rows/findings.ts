/** The ledger: one row per difference that a sweep met and nobody had announced. */
import { sql } from 'kysely';
import { parseInstant, timestamp, type Clock } from '../../domain/clock.ts';
import { answerSoon } from '../sqlite/database.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { ofVendor, type Key } from './stored-vendor.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { FindingKind, FindingTable } from '../tables/mirror-tables.ts';
import type { OpenDelivery } from '../records/delivery-record.ts';
import type { Finding } from '../records/finding-record.ts';

export interface Findings {
  /** Runs inside a transaction. */
  add(runId: number, accountId: string, finding: Finding): void;
  /** Findings of a run, by kind. */
  count(runId: number): { kind: FindingKind; count: number }[];
  /** Explains the open findings about a vendor by deliveries that the sweep could not know of, one by one. Runs inside a transaction. */
  explain(key: Key, deliveries: readonly OpenDelivery[]): void;
  /** Findings for which a delivery might still have come, and has not by now, are what they would have been at once. */
  promote(accountId: string, foundBefore: number): void;
  /**
   * Compares the names of the fields that a whole sweep showed with those known, remembers them, and reports what appeared
   * or disappeared, once. `whole` says that every record was looked at. Runs inside a transaction.
   */
  fields(runId: number, accountId: string, names: readonly string[], whole: boolean): void;
}

export function findingLedger(sqlite: Sqlite, clock: Clock): Findings {
  const insert = statement<Omit<FindingTable, 'id' | 'explained_at' | 'explanation'>>(sqlite, (at) =>
    mirrorSql.insertInto('findings').values({
      run_id: at('run_id'),
      account_id: at('account_id'),
      vendorid: at('vendorid'),
      kind: at('kind'),
      fields: at('fields'),
      found_at: at('found_at'),
      explained_at: null,
      explanation: null,
    }),
  );
  const known = statement<{ account_id: string }, { field: string }>(sqlite, (at) =>
    mirrorSql.selectFrom('known_fields').select('field').where('account_id', '=', at('account_id')),
  );
  const learn = statement<{ account_id: string; field: string; first_seen_at: string }>(sqlite, (at) =>
    mirrorSql
      .insertInto('known_fields')
      .values({ account_id: at('account_id'), field: at('field'), first_seen_at: at('first_seen_at') })
      .onConflict((conflict) => conflict.doNothing()),
  );
  const forget = statement<{ account_id: string; field: string }>(sqlite, (at) =>
    mirrorSql.deleteFrom('known_fields').where('account_id', '=', at('account_id')).where('field', '=', at('field')),
  );
  const add: Findings['add'] = (runId, accountId, { kind, vendorid, fields }) => {
    insert.run({
      run_id: runId,
      account_id: accountId,
      vendorid,
      kind,
      fields: JSON.stringify(fields),
      found_at: timestamp(clock.now()),
    });
  };
  const open = statement<Key, { id: number; found_at: string }>(sqlite, (at) =>
    ofVendor(mirrorSql.selectFrom('findings').select(['id', 'found_at']), at)
      .where('explained_at', 'is', null)
      .where('kind', 'in', ['missed_create', 'missed_update', 'missed_delete', 'missed_restore', 'in_flight'])
      .orderBy('id'),
  );
  const close = statement<{ id: number; explained_at: string; explanation: string }>(sqlite, (at) =>
    mirrorSql
      .updateTable('findings')
      .set({ explained_at: at('explained_at'), explanation: at('explanation') })
      .where('id', '=', at('id')),
  );
  const promote = statement<{ account_id: string; found_at: string }>(sqlite, (at) =>
    mirrorSql
      .updateTable('findings')
      .set({ kind: sql`json_extract(fields, '$.kind')`, fields: sql`json_extract(fields, '$.changed')` })
      .where('account_id', '=', at('account_id'))
      .where('kind', '=', 'in_flight')
      .where('explained_at', 'is', null)
      .where('found_at', '<', at('found_at')),
  );
  const counts = statement<{ run_id: number }, { kind: FindingKind; count: number }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('findings')
      .select((row) => ['kind', row.fn.countAll<number>().as('count')])
      .where('run_id', '=', at('run_id'))
      .groupBy('kind'),
  );
  return {
    add,
    count: (runId) => counts.all({ run_id: runId }),
    explain(key, deliveries) {
      const left = open.all(key);
      for (const { received_at } of deliveries) {
        const heard = parseInstant(received_at) ?? 0;
        // It may have come before, and have waited for its commit while the sweep looked.
        const told = left.findIndex(({ found_at }) => (parseInstant(found_at) ?? 0) <= heard + answerSoon);
        const [finding] = told < 0 ? [] : left.splice(told, 1);
        if (!finding) continue;
        const late = Math.max(0, heard - (parseInstant(finding.found_at) ?? 0)) / 1_000;
        const explanation = `A delivery came ${late.toFixed(1)} s after the sweep had found it.`;
        const explained_at = late > 0 ? received_at : finding.found_at;
        close.run({ id: finding.id, explained_at, explanation });
      }
    },
    promote: (accountId, foundBefore) => void promote.run({ account_id: accountId, found_at: timestamp(foundBefore) }),
    fields(runId, accountId, names, whole) {
      const before = new Set(known.all({ account_id: accountId }).map(({ field }) => field));
      const appeared = names.filter((name) => !before.has(name));
      const disappeared = whole ? [...before].filter((name) => !names.includes(name)) : [];
      const first_seen_at = timestamp(clock.now());
      for (const field of appeared) learn.run({ account_id: accountId, field, first_seen_at });
      for (const field of disappeared) forget.run({ account_id: accountId, field });
      if (before.size > 0 && appeared.length + disappeared.length > 0)
        add(runId, accountId, { kind: 'field_drift', vendorid: null, fields: { appeared, disappeared } });
    },
  };
}
