/** The rows of `vendors`, one statement each. */
import { sql } from 'kysely';
import { textFields } from '../vendor.ts';
import type { Sqlite } from './driver.ts';
import { ofVendor, type Key } from './held.ts';
import { mirrorSql, statement } from './statement.ts';
import type { VendorTable } from './tables.ts';

/** What tells whether a row of a page is news. */
export type KnownRow = Pick<VendorTable, 'account_id' | 'vendorid' | 'raw' | 'presence' | 'held_since_ms'>;

export interface VendorRows {
  find(key: Key): VendorTable | undefined;
  /** @throws Error where there is no such row. */
  get(key: Key): VendorTable;
  /** Those of `vendorids` that we hold. */
  among(accountId: string, vendorids: readonly number[]): Map<number, KnownRow>;
  insert(row: VendorTable): void;
  update(row: VendorTable): void;
  /** A reading showed the vendor as we hold it: it is present, and no older reading may pass. */
  confirm(key: Key, readSeq: number): void;
}

/** All but the key and the day of first sight. */
const changing = [
  ...textFields,
  'is_1099',
  'vis_state',
  'vis_state_source',
  'presence',
  'changed_at',
  'source',
  'read_seq',
  'held_since_ms',
  'unknown_fields',
  'raw',
] as const satisfies (keyof VendorTable)[];

function pick<T extends object, K extends keyof T>(row: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<T, K>;
}

export function vendorRows(sqlite: Sqlite): VendorRows {
  const find = statement<Key, VendorTable>(sqlite, (at) => ofVendor(mirrorSql.selectFrom('vendors').selectAll(), at));
  const among = statement<{ account_id: string; vendorids: string }, KnownRow>(sqlite, (at) =>
    mirrorSql
      .selectFrom('vendors')
      .select(['account_id', 'vendorid', 'raw', 'presence', 'held_since_ms'])
      .where('account_id', '=', at.account_id)
      .where('vendorid', 'in', sql<number>`(SELECT value FROM json_each(${at.vendorids}))`),
  );
  const insert = statement<VendorTable>(sqlite, (at) =>
    mirrorSql.insertInto('vendors').values(pick(at, ['account_id', 'vendorid', 'first_seen_at', ...changing])),
  );
  const update = statement<VendorTable>(sqlite, (at) =>
    ofVendor(mirrorSql.updateTable('vendors').set(pick(at, changing)), at),
  );
  const confirm = statement<Key & { read_seq: number }>(sqlite, (at) =>
    ofVendor(
      mirrorSql
        .updateTable('vendors')
        .set({ read_seq: at.read_seq, presence: sql`iif(presence = 'suspect', 'present', presence)` }),
      at,
    ).where('read_seq', '<', at.read_seq),
  );
  return {
    find: (key) => find.get(key),
    get(key) {
      const row = find.get(key);
      if (!row) throw new Error(`There is no row of vendor ${key.vendorid}.`);
      return row;
    },
    among(accountId, vendorids) {
      const rows = among.all({ account_id: accountId, vendorids: JSON.stringify(vendorids) });
      return new Map(rows.map((row) => [row.vendorid, row]));
    },
    insert: (row) => void insert.run(row),
    update: (row) => void update.run(row),
    confirm: (key, readSeq) => void confirm.run({ ...key, read_seq: readSeq }),
  };
}
