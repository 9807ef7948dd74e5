/** The rows of `vendors`. */
import { sql } from 'kysely';
import type { VendorRow } from '../../domain/reading.ts';
import { columnFields, textFields, type TextField, type Vendor } from '../../domain/vendor.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { idsAmong, ofVendor, type IdsAmong } from '../vendor/of-vendor.ts';
import { flag, unknownFieldsOf } from '../vendor/vendor-columns.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { columns, insertion, mirrorSql, statement } from '../sqlite/statement.ts';
import type { VendorTable, VendorKey } from '../tables/vendor-tables.ts';

/** Since when a vendor is stored as it is, in mirror time, and its state. */
type StoredState = Pick<VendorTable, 'held_since_ms' | 'vis_state'>;

/** Also whether the vendor is present with exactly the text of a row: 1 or 0. */
type LookedUp = StoredState & { readonly same: 0 | 1 };

/** All columns but the key and `first_seen_at`. */
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

const textColumns = Object.fromEntries(
  textFields.map((field) => [field, ({ vendor }: NewVendor) => vendor[field] ?? null]),
) as Record<TextField, (made: NewVendor) => string | null>;

/** A vendor that had no row. */
interface NewVendor {
  readonly key: VendorKey;
  readonly vendor: Vendor;
  readonly raw: string;
  readonly trace: Pick<VendorTable, 'changed_at' | 'source' | 'read_seq' | 'held_since_ms'>;
}

/** How each column of a new row is made. */
const newRow: { readonly [Column in keyof VendorTable]: (made: NewVendor) => VendorTable[Column] } = {
  account_id: ({ key }) => key.account_id,
  vendorid: ({ key }) => key.vendorid,
  first_seen_at: ({ trace }) => trace.changed_at,
  ...textColumns,
  is_1099: ({ vendor }) => flag(vendor.is_1099),
  vis_state: ({ vendor }) => vendor.vis_state ?? null,
  vis_state_source: () => 'reported',
  presence: () => 'present',
  changed_at: ({ trace }) => trace.changed_at,
  source: ({ trace }) => trace.source,
  read_seq: ({ trace }) => trace.read_seq,
  held_since_ms: ({ trace }) => trace.held_since_ms,
  unknown_fields: ({ vendor }) => unknownFieldsOf(vendor),
  raw: ({ raw }) => raw,
};

export class VendorRows {
  readonly #find: Statement<VendorKey, VendorTable>;
  readonly #lookUp: Statement<VendorKey & { text: string | Uint8Array }, LookedUp>;
  /** Those of the vendors that have a row. */
  readonly among: IdsAmong;
  readonly #insert: (vendor: NewVendor) => void;
  readonly #update: Statement<VendorTable>;
  readonly #confirm: Statement<VendorKey & { read_seq: number }>;

  constructor(sqlite: Sqlite) {
    this.#find = statement(sqlite, (at) => ofVendor(mirrorSql.selectFrom('vendors').selectAll(), at));
    this.#lookUp = statement(sqlite, (at) =>
      ofVendor(
        mirrorSql
          .selectFrom('vendors')
          .select(['held_since_ms', 'vis_state'])
          .select(sql<0 | 1>`presence = 'present' AND raw = CAST(${at('text')} AS TEXT)`.as('same')),
        at,
      ),
    );
    this.among = idsAmong(sqlite, 'vendors');
    this.#insert = insertion<VendorTable, NewVendor>(sqlite, newRow, (values) =>
      mirrorSql.insertInto('vendors').values(values),
    );
    this.#update = statement(sqlite, (at) => ofVendor(mirrorSql.updateTable('vendors').set(columns(at, changing)), at));
    this.#confirm = statement(sqlite, (at) =>
      ofVendor(
        mirrorSql
          .updateTable('vendors')
          .set({ read_seq: at('read_seq'), presence: sql`iif(presence = 'suspect', 'present', presence)` }),
        at,
      ).where('read_seq', '<', at('read_seq')),
    );
  }

  find(key: VendorKey): VendorTable | undefined {
    return this.#find.get(key);
  }

  /** Compares a row with the stored vendor; undefined where there is none. */
  // Compared as bytes: decoding them costs more than everything else.
  lookUp(account_id: string, row: Pick<VendorRow, 'vendorid' | 'bytes' | 'raw'>): LookedUp | undefined {
    return this.#lookUp.get({ account_id, vendorid: row.vendorid, text: row.bytes ?? row.raw });
  }

  insert(vendor: NewVendor): void {
    this.#insert(vendor);
  }

  update(row: VendorTable): void {
    this.#update.run(row);
  }

  /** Records that a reading confirmed the stored vendor: it is present, and no older reading may replace it. */
  confirm(key: VendorKey, readSeq: number): void {
    this.#confirm.run({ ...key, read_seq: readSeq });
  }
}
