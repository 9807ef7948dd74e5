/** The rows of `vendors`, one statement each. */
import { sql } from 'kysely';
import type { VendorRow } from '../../domain/reading.ts';
import { columnFields } from '../../domain/vendor.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { ofVendor, type Key } from './stored-vendor.ts';
import { columns, mirrorSql, statement } from '../sqlite/statement.ts';
import type { VendorTable } from '../tables/vendor-tables.ts';

/** Since when a vendor is stored as it is, in mirror time, and in which state. */
export type StoredState = Pick<VendorTable, 'held_since_ms' | 'vis_state'>;

export interface VendorRows {
  find(key: Key): VendorTable | undefined;
  /** What is stored of a present vendor with this very text; undefined where it is stored otherwise, or not at all. */
  same(accountId: string, row: Pick<VendorRow, 'vendorid' | 'bytes' | 'raw'>): StoredState | undefined;
  insert(row: VendorTable): void;
  update(row: VendorTable): void;
  /** A reading showed the vendor as we hold it: it is present, and no older reading may pass. */
  confirm(key: Key, readSeq: number): void;
}

/** All but the key and the day of first sight. */
const changing = [
  ...columnFields,
  'vis_state_source',
  'presence',
  'changed_at',
  'source',
  'read_seq',
  'held_since_ms',
  'unknown_fields',
  'raw',
] as const satisfies (keyof VendorTable)[];

export function vendorRows(sqlite: Sqlite): VendorRows {
  const find = statement<Key, VendorTable>(sqlite, (at) => ofVendor(mirrorSql.selectFrom('vendors').selectAll(), at));
  const same = statement<Key & { text: string | Uint8Array }, StoredState>(sqlite, (at) =>
    ofVendor(mirrorSql.selectFrom('vendors').select(['held_since_ms', 'vis_state']), at)
      .where('presence', '=', 'present')
      .where('raw', '=', sql<string>`CAST(${at('text')} AS TEXT)`),
  );
  const insert = statement<VendorTable>(sqlite, (at) =>
    mirrorSql.insertInto('vendors').values(columns(at, ['account_id', 'vendorid', 'first_seen_at', ...changing])),
  );
  const update = statement<VendorTable>(sqlite, (at) =>
    ofVendor(mirrorSql.updateTable('vendors').set(columns(at, changing)), at),
  );
  const confirm = statement<Key & { read_seq: number }>(sqlite, (at) =>
    ofVendor(
      mirrorSql
        .updateTable('vendors')
        .set({ read_seq: at('read_seq'), presence: sql`iif(presence = 'suspect', 'present', presence)` }),
      at,
    ).where('read_seq', '<', at('read_seq')),
  );
  return {
    find: (key) => find.get(key),
    // Bytes are compared as they came: making texts of them costs more than all the rest.
    same: (account_id, row) => same.get({ account_id, vendorid: row.vendorid, text: row.bytes ?? row.raw }),
    insert: (row) => void insert.run(row),
    update: (row) => void update.run(row),
    confirm: (key, readSeq) => void confirm.run({ ...key, read_seq: readSeq }),
  };
}
