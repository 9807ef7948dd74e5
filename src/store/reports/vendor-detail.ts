/** Everything that is stored of one vendor. */
import { sql, type RawBuilder } from 'kysely';
import { inOrder } from '../../domain/concurrency.ts';
import { textFields, type Balance, type TaxDefault, type TextField } from '../../domain/vendor.ts';
import { columnList, noLimit, statement, type Connection, type At } from '../sql/statement.ts';
import { withoutBlobs } from '../sqlite/blobs.ts';
import {
  vendorColumns,
  type BalanceTable,
  type FreshnessView,
  type TaxDefaultTable,
  type VendorKey,
  type VendorTable,
} from '../sql/schema.ts';
import { fieldChanges, readChanges, type Change, type FieldChange } from './change-feed.ts';

/** A vendor without its history. */
export interface StoredDetail {
  readonly vendor: VendorTable;
  readonly balances: readonly Pick<BalanceTable, 'kind' | 'amount' | 'code'>[];
  readonly taxDefaults: readonly Omit<TaxDefaultTable, 'account_id' | 'vendorid'>[];
  /** The moment up to which the mirror of the vendor's account is complete; null if it never was. */
  readonly safeAsOf: string | null;
}

export interface VendorDetail extends StoredDetail {
  readonly history: readonly Change[];
  /** The changed values of each of these changes, by field. */
  readonly fields: readonly FieldChange[];
}

/** The vendors of that id, one for each account that uses it, with their history. */
export async function vendorDetails(
  db: Connection,
  vendorid: number,
  account: string | undefined,
): Promise<VendorDetail[]> {
  return inOrder(await storedDetails(db, vendorid, account), async (detail) => {
    const { account_id } = detail.vendor;
    const history = await readChanges(db, { account: account_id, vendorid, since: 0, limit: noLimit });
    const [from, to] = [history[0]?.seq ?? 0, history.at(-1)?.seq ?? 0];
    return { ...detail, history, fields: await fieldChanges(db, { account_id, vendorid, from, to }) };
  });
}

/** The accounts of which the vendor of that id was forgotten on request. */
export async function accountsThatForgot(db: Connection, vendorid: number): Promise<string[]> {
  return (
    await statement(db)<{ vendorid: number }, Pick<VendorKey, 'account_id'>>`
      SELECT account_id FROM _forgotten_vendors WHERE vendorid = ${'vendorid'} ORDER BY account_id`.all({ vendorid })
  ).map(({ account_id }) => account_id);
}

/** The accounts that use that id. A search by id alone would read every row, so each account is looked into by its key. */
export async function accountsWith(db: Connection, vendorid: number): Promise<string[]> {
  return (
    await statement(db)<{ vendorid: number }, Pick<VendorKey, 'account_id'>>`
      SELECT v.account_id FROM _accounts a JOIN vendors v ON v.account_id = a.account_id AND v.vendorid = ${'vendorid'}
      ORDER BY v.account_id`.all({ vendorid })
  ).map(({ account_id }) => account_id);
}

/** The vendors of that id: of one account, or of each that uses it. */
export async function storedDetails(
  db: Connection,
  vendorid: number,
  account: string | undefined,
): Promise<StoredDetail[]> {
  // By its full key where the account is known: a search by id alone reads every row.
  const isOfAccount = (at: At<{ account: string }>): RawBuilder<unknown> =>
    account === undefined ? sql`` : sql`AND account_id = ${at('account')}`;
  const vendors = statement<{ vendorid: number; account: string }, VendorTable>(
    db,
    (at) => sql`
      SELECT ${columnList(vendorColumns)} FROM vendors
      WHERE vendorid = ${at('vendorid')} ${isOfAccount(at)} ORDER BY account_id`,
  );
  const isOfVendor = (at: At<VendorKey>): RawBuilder<unknown> =>
    sql`account_id = ${at('account_id')} AND vendorid = ${at('vendorid')}`;
  const balances = statement<VendorKey, VendorDetail['balances'][number]>(
    db,
    (at) => sql`
      SELECT kind, amount, code FROM vendor_balances WHERE ${isOfVendor(at)} ORDER BY kind DESC, code`,
  );
  const taxDefaults = statement<VendorKey, VendorDetail['taxDefaults'][number]>(
    db,
    (at) => sql`
      SELECT taxid, system_taxid, enabled, name, amount, tax_authorityid, created_at, updated_at
      FROM vendor_tax_defaults WHERE ${isOfVendor(at)} ORDER BY taxid`,
  );
  const freshness = statement(db)<VendorKey, Pick<FreshnessView, 'safe_as_of'>>`
    SELECT safe_as_of FROM freshness WHERE account_id = ${'account_id'}`;
  return inOrder(await vendors.all({ vendorid, account: account ?? '' }), async (vendor) => ({
    vendor: withoutBlobs(vendor),
    balances: (await balances.all(vendor)).map(withoutBlobs),
    taxDefaults: (await taxDefaults.all(vendor)).map(withoutBlobs),
    safeAsOf: (await freshness.get(vendor))?.safe_as_of ?? null,
  }));
}

export interface VendorRecord {
  /** The fields of the service's reference, followed by unknown ones. */
  readonly record: ReadonlyMap<string, unknown>;
  /** The mirror's own data about the record. */
  readonly mirror: ReadonlyMap<string, string | null>;
  readonly outstanding: readonly Balance[];
  readonly overdue: readonly Balance[];
  readonly taxDefaults: readonly TaxDefault[];
}

/** Text fields at the end of the reference's list. */
const last: readonly TextField[] = ['note', 'created_at', 'updated_at'];

export function vendorRecord({ vendor, balances, taxDefaults, safeAsOf }: StoredDetail): VendorRecord {
  const text = (field: TextField): [string, string | null] => [field, vendor[field]];
  const owed = (kind: string): Balance[] =>
    balances.filter((balance) => balance.kind === kind).map(({ amount, code }) => ({ amount, code }));
  const [outstanding, overdue] = [owed('outstanding'), owed('overdue')];
  const taxes = taxDefaults.map((tax) => ({ ...tax, enabled: truth(tax.enabled) }));
  const { account_id, presence, vis_state_source, source, first_seen_at, changed_at } = vendor;
  const mirror = { account_id, presence, vis_state_source, source, first_seen_at, changed_at, safe_as_of: safeAsOf };
  return {
    record: new Map<string, unknown>([
      ['vendorid', vendor.vendorid],
      ...textFields.filter((field) => !last.includes(field)).map(text),
      ['is_1099', truth(vendor.is_1099)],
      text('note'),
      ['vis_state', vendor.vis_state],
      ['tax_defaults', taxes],
      ['outstanding_balance', outstanding],
      ['overdue_balance', overdue],
      text('created_at'),
      text('updated_at'),
      ...unknownFields(vendor.unknown_fields),
    ]),
    mirror: new Map(Object.entries(mirror)),
    outstanding,
    overdue,
    taxDefaults: taxes,
  };
}

/** The same as JSON: the mirror's data, and the record under `record`. */
export function vendorDocument(detail: StoredDetail): object {
  const { record, mirror } = vendorRecord(detail);
  return { ...Object.fromEntries(mirror), record: Object.fromEntries(record) };
}

function truth(flag: number | null): boolean | null {
  return flag === null ? null : flag === 1;
}

/** Unknown fields: their column has the JSON text of each. Invalid content, written by another program, is shown as it is. */
function unknownFields(column: string | null): [string, unknown][] {
  try {
    const texts = JSON.parse(column ?? '{}') as Record<string, string>;
    return Object.entries(texts).map(([name, json]) => [name, JSON.parse(json)]);
  } catch {
    return [['unknown_fields', column]];
  }
}
