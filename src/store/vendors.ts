/**
 * The stored vendors: the row of each with its balances and tax defaults, its JSON, those that were forgotten on request, and scans of an
 * account in chunks.
 */
import { sql, type RawBuilder } from 'kysely';
import { inOrder } from '../domain/concurrency.ts';
import { isSameMinor, minorUnits } from '../domain/amounts.ts';
import { nextPresence, type AbsenceEvidence, type PresenceState } from '../domain/presence.ts';
import type { VendorRow } from '../domain/reading.ts';
import {
  balanceFields,
  kept,
  textFields,
  Unreadable,
  unreadableFields,
  type Balance,
  type BalanceField,
  type TaxDefault,
  vendorFields,
  type TextField,
  type Vendor,
} from '../domain/vendor.ts';
import type { Marks } from './marks.ts';
import type { Database } from './sql/database.ts';
import type { Connection } from './sql/statement.ts';
import {
  balanceColumns,
  changingColumns,
  taxColumns,
  vendorColumns,
  type BalanceTable,
  type TaxDefaultTable,
  type VendorKey,
  type VendorTable,
} from './sql/schema.ts';
import {
  Operations,
  columns,
  mirrorSql,
  ofVendor,
  statement,
  type OfAccount,
  type Statement,
  numbersIn,
} from './sql/statement.ts';

/** What is needed to decide about an unlisted vendor. */
const scanned = [
  'vendorid',
  'vis_state',
  'presence',
  'presence_ms',
  'read_seq',
  'held_since_ms',
  'first_seen_at',
] as const;
export type ScannedVendor = Pick<VendorTable, (typeof scanned)[number]>;

/** Fields that hardly ever change, and what is known of the latest readings. */
const traits = ['vendorid', 'vendor_name', 'created_at', 'read_seq', 'held_since_ms'] as const;
export type VendorTraits = Pick<VendorTable, (typeof traits)[number]>;

const chunk = 5_000;
const few = 3;
const fewLively = 14;

/** The stored vendors of an account, and scans of them in chunks. */
export class Vendors extends Operations {
  readonly #database: Database;
  readonly #after = statement<{ account_id: string; after: number }, ScannedVendor>(this.db, (at) =>
    mirrorSql
      .selectFrom('vendors')
      .select(scanned)
      .where('account_id', '=', at('account_id'))
      .where('vendorid', '>', at('after'))
      .orderBy('vendorid')
      .limit(chunk),
  );
  readonly #count = statement(this.db)<{ account_id: string }, { vendors: number }>`
    SELECT count(*) AS vendors FROM vendors WHERE account_id = ${'account_id'}`;
  readonly #active = activeVendors(this.db, 'desc');
  readonly #lively = statement(this.db)<{ account_id: string }, { vendorid: number }>`
    SELECT vendorid FROM vendors
    WHERE account_id = ${'account_id'} AND presence IN ('present', 'suspect') ORDER BY read_seq DESC LIMIT ${fewLively}`;
  readonly #oldest = activeVendors(this.db, 'asc');
  readonly #unreadable = statement(this.db)<{ account_id: string }, { vendorid: number; fields: string }>`
    SELECT vendorid, unreadable_fields AS fields FROM vendors
    WHERE account_id = ${'account_id'} AND unreadable_fields IS NOT NULL AND presence IN ('present', 'suspect')`;
  readonly #presenceOf = statement(this.db)<VendorKey, Pick<VendorTable, 'presence' | 'presence_ms' | 'read_seq'>>`
    SELECT presence, presence_ms, read_seq FROM vendors WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'}`;
  readonly #suspect = statement(this.db)<VendorKey & Pick<VendorTable, 'presence' | 'presence_ms'>>`
    UPDATE vendors SET presence = ${'presence'}, presence_ms = ${'presence_ms'} WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'}`;
  readonly #absences = countAbsences(this.db);
  readonly #traits = statement<VendorKey, VendorTraits>(this.db, (at) =>
    ofVendor(mirrorSql.selectFrom('vendors').select(traits), at),
  );

  readonly #forgotten: ForgottenVendors;
  readonly #marks: Marks;

  constructor(database: Database, marks: Marks) {
    super(database.connection);
    this.#database = database;
    this.#marks = marks;
    this.#forgotten = new ForgottenVendors(database.connection);
  }

  /** Fields that identify vendors, and their latest readings, for those of `vendorids` that are stored. */
  async traits(accountId: string, vendorids: readonly number[]): Promise<VendorTraits[]> {
    const found = await this.#database.read(() =>
      inOrder(vendorids, (vendorid) => this.#traits.get({ account_id: accountId, vendorid })),
    );
    return found.filter((one) => one !== undefined);
  }

  /** The vendors of an account in order of id, in chunks. */
  async *scannedVendors(accountId: string): AsyncGenerator<readonly ScannedVendor[]> {
    for (let after = 0; ;) {
      const from = after;
      const some = await this.#database.read(() => this.#after.all({ account_id: accountId, after: from }));
      const end = some.at(-1);
      if (!end) return;
      yield some;
      after = end.vendorid;
    }
  }

  /** The vendors of an account with fields that could not be read, by id. */
  unreadable(accountId: string): Promise<ReadonlyMap<number, readonly string[]>> {
    return this.#database.read(
      async () =>
        new Map(
          (await this.#unreadable.all({ account_id: accountId })).map(({ vendorid, fields }) => [
            vendorid,
            JSON.parse(fields) as string[],
          ]),
        ),
    );
  }

  countVendors(accountId: string): Promise<number> {
    return this.#database.read(async () => (await this.#count.get({ account_id: accountId }))?.vendors ?? 0);
  }

  /** Ids of a few active vendors, the newest first. */
  newestActive(accountId: string): Promise<number[]> {
    return this.#database.read(async () =>
      (await this.#active.all({ account_id: accountId })).map(({ vendorid }) => vendorid),
    );
  }

  /** Ids of a few active vendors: the newest and the oldest. */
  someActive(accountId: string): Promise<number[]> {
    return this.#database.read(async () => {
      const found = (await inOrder([this.#active, this.#oldest], (ids) => ids.all({ account_id: accountId }))).flat();
      return [...new Set(found.map(({ vendorid }) => vendorid))];
    });
  }

  /** Ids of some present vendors of any state, those that a reading changed or confirmed last first. */
  lastRead(accountId: string): Promise<number[]> {
    return this.#database.read(async () =>
      (await this.#lively.all({ account_id: accountId })).map(({ vendorid }) => vendorid),
    );
  }

  /**
   * Applies the first proof of an absence, except to vendors that were read since the request, or the sweep, that is the proof.
   * @param readSeq of that request, or from the begin of that sweep
   */
  markSuspects(
    accountId: string,
    vendorids: readonly number[],
    { evidence, readSeq, lag }: { evidence: AbsenceEvidence; readSeq: number; lag: number },
  ): Promise<void> {
    return this.#database.write(async () => {
      for (const vendorid of vendorids) {
        const key = { account_id: accountId, vendorid };
        const stored = await this.#presenceOf.get(key);
        if (!stored || stored.read_seq >= readSeq) continue;
        const { presence, since } = nextPresence(presenceOf(stored), evidence, lag);
        if (presence === 'suspect') this.#suspect.send({ ...key, presence, presence_ms: since });
      }
    });
  }

  /** How many vendors became absent after `since` (mirror time) without a person's approval, and did not come back. */
  countAbsences(accountId: string, since: number): Promise<number> {
    return this.#database.read(async () => (await this.#absences.get({ account_id: accountId, since }))?.absences ?? 0);
  }

  /** Lets a forgotten vendor be mirrored again, and marks it. @returns whether it was forgotten. */
  mirrorAgain(accountId: string, vendorid: number): Promise<boolean> {
    return this.#database.write(async () => {
      const key = { account_id: accountId, vendorid };
      const isReadmitted = await this.#forgotten.remove(key);
      if (isReadmitted) await this.#marks.add([key], 'asked', 0);
      return isReadmitted;
    });
  }
}

/** Ids of a few active vendors, from one end. */
function activeVendors(db: Connection, order: 'asc' | 'desc'): Statement<{ account_id: string }, { vendorid: number }> {
  return statement(db, (at) =>
    mirrorSql
      .selectFrom('vendors')
      .select('vendorid')
      .where('account_id', '=', at('account_id'))
      .where('vis_state', '=', 0)
      .where('presence', '=', 'present')
      .orderBy('vendorid', order)
      .limit(few),
  );
}

/** Of how many vendors a field was sent that could not be read. */
export interface UnreadableCount {
  readonly field: string;
  readonly vendors: number;
}

/** Whether the record of a vendor holds a value in the field of that JSON path: not null, no empty text or list. */
export const holdsValue = (path: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`coalesce(json_extract(raw, ${path}), '') NOT IN ('', '[]')`;

/** Prepares the counts of an account, the most frequent first: an index holds these vendors alone. */
export function unreadableCounts(db: Connection): Statement<OfAccount, UnreadableCount> {
  return statement<OfAccount, UnreadableCount>(
    db,
    (at) => sql`
    SELECT f.value AS field, count(*) AS vendors FROM vendors v, json_each(v.unreadable_fields) f
    WHERE v.account_id = ${at('accountId')} AND v.unreadable_fields IS NOT NULL AND v.presence NOT IN ('missing', 'gone')
    GROUP BY f.value
    ORDER BY vendors DESC, f.value`,
  );
}

/** Prepares the count of vendors that became absent after a moment of mirror time, without those that a person approved. */
export function countAbsences(db: Connection): Statement<{ account_id: string; since: number }, { absences: number }> {
  return statement(db)<{ account_id: string; since: number }, { absences: number }>`
    SELECT count(*) AS absences FROM vendors
    WHERE account_id = ${'account_id'} AND presence IN ('missing', 'gone') AND presence_ms > ${'since'}`;
}

export function presenceOf({ presence, presence_ms }: Pick<VendorTable, 'presence' | 'presence_ms'>): PresenceState {
  return { presence, since: presence_ms };
}

/** Since when a vendor is stored as it is, in mirror time, and its state. */
type StoredState = Pick<VendorTable, 'held_since_ms' | 'vis_state'>;

/** Also whether the vendor is present with exactly the text of a row: 1 or 0. */
type LookedUp = StoredState & { readonly same: 0 | 1 };

export class VendorRows extends Operations {
  readonly #find = statement<VendorKey, VendorTable>(this.db, (at) =>
    ofVendor(mirrorSql.selectFrom('vendors').select(vendorColumns), at),
  );
  readonly #lookUp = statement<VendorKey & { text: string | Uint8Array }, LookedUp>(this.db, (at) =>
    ofVendor(
      mirrorSql
        .selectFrom('vendors')
        .select(['held_since_ms', 'vis_state'])
        .select(sql<0 | 1>`presence = 'present' AND raw = CAST(${at('text')} AS TEXT)`.as('same')),
      at,
    ),
  );
  /** Those of the vendors that have a row. */
  readonly among = idsAmong(this.db, 'vendors');
  readonly #insert = statement<VendorTable>(this.db, (at) =>
    mirrorSql.insertInto('vendors').values(columns(at, vendorColumns)),
  );
  readonly #update = statement<VendorTable>(this.db, (at) =>
    ofVendor(mirrorSql.updateTable('vendors').set(columns(at, changingColumns)), at),
  );
  readonly #confirm = statement(this.db)<VendorKey & Pick<VendorTable, 'read_seq' | 'presence' | 'presence_ms'>>`
    UPDATE vendors SET read_seq = ${'read_seq'}, presence = ${'presence'}, presence_ms = ${'presence_ms'}
    WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'} AND read_seq < ${'read_seq'}`;

  find(key: VendorKey): Promise<VendorTable | undefined> {
    return this.#find.get(key);
  }

  /** Compares a row with the stored vendor; undefined where there is none. */
  // Compared as bytes: decoding them costs more than everything else.
  lookUp(account_id: string, row: Pick<VendorRow, 'vendorid' | 'bytes' | 'raw'>): Promise<LookedUp | undefined> {
    return this.#lookUp.get({ account_id, vendorid: row.vendorid, text: row.bytes ?? row.raw });
  }

  insert(row: VendorTable): void {
    this.#insert.send(row);
  }

  update(row: VendorTable): void {
    this.#update.send(row);
  }

  /** Records that a reading found the vendor as it is stored: no older reading may replace it. @param after the reading */
  confirm(key: VendorKey, readSeq: number, { presence, since }: PresenceState): void {
    this.#confirm.send({ ...key, read_seq: readSeq, presence, presence_ms: since });
  }
}

export const balanceKinds = {
  outstanding_balance: 'outstanding',
  overdue_balance: 'overdue',
} as const satisfies Record<BalanceField, BalanceTable['kind']>;

/** The rows that belong to a vendor: balances and tax defaults. */
export class ChildRows extends Operations {
  readonly #balances = statement<VendorKey, BalanceTable>(this.db, (at) =>
    ofVendor(mirrorSql.selectFrom('vendor_balances').select(balanceColumns), at).orderBy('code'),
  );
  readonly #taxes = statement<VendorKey, TaxDefaultTable>(this.db, (at) =>
    ofVendor(mirrorSql.selectFrom('vendor_tax_defaults').select(taxColumns), at).orderBy('taxid'),
  );
  readonly #dropBalances = statement<VendorKey>(this.db, (at) => ofVendor(mirrorSql.deleteFrom('vendor_balances'), at));
  readonly #dropTaxes = statement<VendorKey>(this.db, (at) =>
    ofVendor(mirrorSql.deleteFrom('vendor_tax_defaults'), at),
  );
  readonly #addBalance = statement<BalanceTable>(this.db, (at) =>
    mirrorSql.insertInto('vendor_balances').values(columns(at, balanceColumns)),
  );
  readonly #addTax = statement<TaxDefaultTable>(this.db, (at) =>
    mirrorSql.insertInto('vendor_tax_defaults').values(columns(at, taxColumns)),
  );

  /** The vendor in its rows. Fields that were never reported are null. */
  async vendorOf(row: VendorTable): Promise<Vendor> {
    const [balances, taxes] = await Promise.all([this.#balances.all(row), this.#taxes.all(row)]);
    const owed = (kind: BalanceTable['kind']): Balance[] =>
      balances.filter((balance) => balance.kind === kind).map(({ amount, code }) => ({ amount, code }));
    const unknown = new Map(Object.entries(storedObject(row.unknown_fields ?? '{}') as Record<string, string>));
    const vendor: Vendor = {
      ...(Object.fromEntries(textFields.map((field) => [field, row[field]])) as Record<TextField, string | null>),
      ...(row.vis_state === null ? {} : { vis_state: row.vis_state }),
      vendorid: row.vendorid,
      is_1099: row.is_1099 === null ? null : row.is_1099 === 1,
      outstanding_balance: owed('outstanding'),
      overdue_balance: owed('overdue'),
      tax_defaults: taxes.map(taxDefaultOf),
      unknown,
    };
    return unknown.size === 0 ? vendor : withUnreadable(vendor);
  }

  /** Whether each stored balance has the minor units of its amount. */
  async hasMinorUnits(key: VendorKey): Promise<boolean> {
    return (await this.#balances.all(key)).every((balance) => isSameMinor(balance.amount_minor, minorUnits(balance)));
  }

  /** Replaces balances and tax defaults. @param fresh whether there are none to remove */
  // Built field by field, because spreading objects is much of a first pull's own work.
  replace({ account_id, vendorid }: VendorKey, vendor: Vendor, fresh: boolean): void {
    if (!fresh) {
      this.#dropBalances.send({ account_id, vendorid });
      this.#dropTaxes.send({ account_id, vendorid });
    }
    for (const field of balanceFields) {
      const kind = balanceKinds[field];
      for (const balance of kept(vendor[field]) ?? []) {
        const { amount, code } = balance;
        this.#addBalance.send({ account_id, vendorid, kind, amount, amount_minor: minorUnits(balance), code });
      }
    }
    for (const tax of kept(vendor.tax_defaults) ?? []) {
      const { taxid, system_taxid, name, amount, tax_authorityid, created_at, updated_at } = tax;
      const names = { name, amount, tax_authorityid, created_at, updated_at };
      this.#addTax.send({ account_id, vendorid, taxid, system_taxid, enabled: flag(tax.enabled), ...names });
    }
  }
}

/** Among the stored unknown fields are those that are known and could not be read. */
function withUnreadable(vendor: Vendor): Vendor {
  const unknown = new Map(vendor.unknown);
  const unreadable: Record<string, unknown> = {};
  for (const field of vendorFields) {
    const json = unknown.get(field);
    if (json === undefined) continue;
    unreadable[field] = new Unreadable<unknown>(json, vendor[field] ?? null);
    unknown.delete(field);
  }
  return { ...vendor, ...unreadable, unknown };
}

function taxDefaultOf(row: TaxDefaultTable): TaxDefault {
  const { taxid, system_taxid, name, amount, tax_authorityid, created_at, updated_at } = row;
  const enabled = row.enabled === null ? null : row.enabled === 1;
  return { taxid, system_taxid, enabled, name, amount, tax_authorityid, created_at, updated_at };
}

/** The columns of `vendors` that a reading fills. */
export type ContentColumns = Omit<
  VendorTable,
  | 'account_id'
  | 'vis_state_source'
  | 'presence'
  | 'presence_ms'
  | 'first_seen_at'
  | 'changed_at'
  | 'source'
  | 'read_seq'
  | 'held_since_ms'
  | 'detail_seq'
  | 'details_at'
>;

/**
 * The columns of a vendor, as a new object that the caller may extend. Built field by field, because spreading wide objects dominates the
 * cost of a first pull.
 */
export function columnsOf(vendor: Vendor, raw: string): ContentColumns {
  const texts = {} as Record<TextField, string | null>;
  for (const field of textFields) texts[field] = kept(vendor[field]) ?? null;
  return Object.assign(texts, {
    vendorid: vendor.vendorid,
    is_1099: flag(kept(vendor.is_1099)),
    vis_state: kept(vendor.vis_state) ?? null,
    unknown_fields: unknownFieldsOf(vendor),
    unreadable_fields: unreadableFieldsOf(vendor),
    raw,
  });
}

/** Fields without a column of their own, and those that could not be read. */
function unknownFieldsOf(vendor: Vendor): string | null {
  const unreadable = unreadableFields(vendor);
  if (vendor.unknown.size + unreadable.size === 0) return null;
  return JSON.stringify(Object.fromEntries([...vendor.unknown, ...unreadable]));
}

/** Names of the fields that could not be read. */
function unreadableFieldsOf(vendor: Vendor): string | null {
  const unreadable = unreadableFields(vendor);
  return unreadable.size === 0 ? null : JSON.stringify([...unreadable.keys()]);
}

/** The columns of a vendor's own row. */
function flag(value: boolean | null | undefined): number | null {
  return value == null ? null : Number(value);
}

/** The JSON of a vendor to be stored: the received JSON, plus stored fields that it leaves out and that are not excluded. Damaged stored JSON is replaced. */
export function mergedRaw(stored: string, received: string, excluded?: ReadonlySet<string>): string {
  const before = storedObject(stored);
  const now = JSON.parse(received) as Record<string, unknown>;
  const left = Object.keys(before).filter((name) => !Object.hasOwn(now, name) && !excluded?.has(name));
  if (left.length === 0) return received;
  return JSON.stringify({ ...now, ...Object.fromEntries(left.map((name) => [name, before[name]])) });
}

/** The fields that the stored JSON does not contain. */
export function fieldsNotIn(stored: string, fields: readonly string[]): string[] {
  const before = storedObject(stored);
  return fields.filter((field) => !Object.hasOwn(before, field));
}

/** The JSON of a record without these members. */
export function rawWithout(received: string, fields: readonly string[]): string {
  const members = Object.entries(JSON.parse(received) as Record<string, unknown>);
  return JSON.stringify(Object.fromEntries(members.filter(([name]) => !fields.includes(name))));
}

/** Stored JSON that is valid; an empty object in place of damaged JSON. */
export function repairedRaw(stored: string): string {
  return parsedObject(stored) ? stored : '{}';
}

/** The members of stored JSON; none where it is damaged. */
function storedObject(json: string): Record<string, unknown> {
  return parsedObject(json) ?? {};
}

function parsedObject(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Those of the vendors of an account for which something holds. */
type IdsAmong = (account_id: string, vendorids: readonly number[]) => Promise<ReadonlySet<number>>;

/** A query for those of some vendors of an account that have a row in a table. One query costs much less than one for each. */
function idsAmong(db: Connection, table: 'vendors' | '_forgotten_vendors'): IdsAmong {
  const find = statement<{ account_id: string; vendorids: string }, { found: string }>(db, (at) =>
    mirrorSql
      .selectFrom(table)
      .select(sql<string>`json_group_array(vendorid)`.as('found'))
      .where('account_id', '=', at('account_id'))
      .where(sql<boolean>`vendorid IN ${numbersIn(at('vendorids'))}`),
  );
  return async (account_id, vendorids) => {
    const found = (await find.get({ account_id, vendorids: JSON.stringify(vendorids) }))?.found ?? '[]';
    return new Set(JSON.parse(found) as number[]);
  };
}

/** Vendors that were forgotten on request: no reading stores them again. */
export class ForgottenVendors extends Operations {
  readonly #find = statement<VendorKey, { vendorid: number }>(this.db, (at) =>
    ofVendor(mirrorSql.selectFrom('_forgotten_vendors').select('vendorid'), at),
  );
  /** Those of the vendors that were forgotten. */
  readonly among = idsAmong(this.db, '_forgotten_vendors');
  readonly #add = statement(this.db)<VendorKey & { forgotten_at: string }>`
    INSERT INTO _forgotten_vendors (account_id, vendorid, forgotten_at)
    VALUES (${'account_id'}, ${'vendorid'}, ${'forgotten_at'}) ON CONFLICT DO NOTHING`;
  readonly #delete = statement<VendorKey>(this.db, (at) => ofVendor(mirrorSql.deleteFrom('_forgotten_vendors'), at));

  async has({ account_id, vendorid }: VendorKey): Promise<boolean> {
    return (await this.#find.get({ account_id, vendorid })) !== undefined;
  }

  /** Runs inside a transaction. */
  add({ account_id, vendorid }: VendorKey, forgotten_at: string): void {
    this.#add.send({ account_id, vendorid, forgotten_at });
  }

  /** Allows readings to store the vendor again. Runs inside a transaction. @returns whether it was forgotten. */
  async remove({ account_id, vendorid }: VendorKey): Promise<boolean> {
    return (await this.#delete.run({ account_id, vendorid })) > 0;
  }
}
