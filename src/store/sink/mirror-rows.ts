/** What a sink reads of the mirror: vendors with their children, changes, freshness. Each is read in one turn, a page at a time. */
import { sql, type RawBuilder } from 'kysely';
import type { Clock } from '../../domain/clock.ts';
import type { FeedChange } from '../reports/change-feed.ts';
import { balanceColumns, freshnessColumns, taxColumns, vendorColumns, type VendorKey } from '../sql/schema.ts';
import { columnList, statement, type Query, type Snapshot } from '../sql/statement.ts';
import type { SinkRow } from './tables.ts';

export interface VendorRows {
  readonly vendors: readonly SinkRow[];
  readonly balances: readonly SinkRow[];
  readonly taxDefaults: readonly SinkRow[];
}

interface Keys {
  /** A JSON array of account and number. */
  readonly keys: string;
}

function keysIn(keys: readonly VendorKey[]): string {
  return JSON.stringify(keys.map(({ account_id, vendorid }) => [account_id, vendorid]));
}

/** These vendors as they are now; those that the mirror does not hold are left out. */
export async function vendorRows(db: Snapshot, keys: readonly VendorKey[]): Promise<VendorRows> {
  const named = { keys: keysIn(keys) };
  const rowsOf = (
    table: RawBuilder<unknown>,
    names: readonly string[],
    order: RawBuilder<unknown>,
  ): Promise<SinkRow[]> =>
    statement(db)<Keys, SinkRow>`
      SELECT ${columnList(names, 't')} FROM json_each(${'keys'}) k JOIN ${table} t
        ON t.account_id = json_extract(k.value, '$[0]') AND t.vendorid = CAST(json_extract(k.value, '$[1]') AS BIGINT)
      ORDER BY t.account_id, t.vendorid, ${order}`.all(named);
  return {
    // Nothing is concluded of a suspect.
    vendors: (await rowsOf(sql`vendors`, vendorColumns, sql`1`)).map((row) => ({
      ...row,
      presence: row['presence'] === 'suspect' ? 'present' : row['presence'],
    })),
    balances: (await rowsOf(sql`vendor_balances`, balanceColumns, sql`kind, code`)).map(withAmountText),
    taxDefaults: (await rowsOf(sql`vendor_tax_defaults`, taxColumns, sql`taxid`)).map(withAmountText),
  };
}

function withAmountText(row: SinkRow): SinkRow {
  return { ...row, amount_text: row['amount'] };
}

/** The next vendors in the order of their keys. */
export function vendorKeysAfter(db: Snapshot, after: VendorKey, limit: number): Promise<VendorKey[]> {
  return statement(db)<VendorKey & { limit: number }, VendorKey>`
    SELECT account_id, vendorid FROM vendors WHERE (account_id, vendorid) > (${'account_id'}, ${'vendorid'})
    ORDER BY account_id, vendorid LIMIT +${'limit'}`.all({ ...after, limit });
}

/** Those of the vendors that have changed after a place in the feed. */
export function changedAfter(db: Snapshot, keys: readonly VendorKey[], seq: number): Promise<VendorKey[]> {
  const changed = statement(db)<Keys & { seq: number }, VendorKey>`
    SELECT json_extract(k.value, '$[0]') AS account_id, CAST(json_extract(k.value, '$[1]') AS BIGINT) AS vendorid FROM json_each(${'keys'}) k
    WHERE EXISTS (
      SELECT 1 FROM _vendor_versions v
      WHERE v.account_id = json_extract(k.value, '$[0]') AND v.vendorid = CAST(json_extract(k.value, '$[1]') AS BIGINT) AND v.seq > ${'seq'})`;
  return changed.all({ keys: keysIn(keys), seq });
}

interface ChangeRange {
  readonly after: number;
  /** Included. */
  readonly until: number;
  readonly limit: number;
}

/** The numbers of the first changes in a range that the mirror still holds. */
export async function keptChanges(db: Snapshot, range: ChangeRange): Promise<number[]> {
  const kept = statement(db)<ChangeRange, { seq: number }>`
    SELECT seq FROM _vendor_versions WHERE seq > ${'after'} AND seq <= ${'until'} ORDER BY seq LIMIT +${'limit'}`;
  return (await kept.all(range)).map(({ seq }) => seq);
}

/** Accounts whose freshness is read in one turn of the event loop. */
const accountsAtOnce = 50;

export interface FreshnessRow extends SinkRow {
  readonly account_id: string;
}

export async function freshnessRows(query: Query, clock: Pick<Clock, 'yield'>): Promise<FreshnessRow[]> {
  const rows: FreshnessRow[] = [];
  for (;;) {
    const after = rows.at(-1)?.account_id ?? '';
    const some = await query((db) =>
      statement(db)<{ after: string }, FreshnessRow>`
        SELECT ${columnList(freshnessColumns)} FROM freshness WHERE account_id > ${'after'}
        ORDER BY account_id LIMIT ${accountsAtOnce}`.all({ after }),
    );
    rows.push(...some);
    if (some.length < accountsAtOnce) return rows;
    await clock.yield();
  }
}

export function changeRow({ changed_fields, values, ...change }: FeedChange): SinkRow {
  return { ...change, changed_fields: JSON.stringify(changed_fields), changed_values: JSON.stringify(values) };
}
