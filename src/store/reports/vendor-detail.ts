/** Everything that is stored of one vendor. */
import { withoutBlobs } from '../sqlite/blobs.ts';
import { readChanges, type Change } from './change-feed.ts';
import { fieldChanges, type FieldChange } from './field-changes.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { FreshnessView } from '../tables/mirror-tables.ts';
import type { BalanceTable, TaxDefaultTable, VendorTable, VendorKey } from '../tables/vendor-tables.ts';

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
export function vendorDetails(sqlite: Sqlite, vendorid: number, account: string | undefined): VendorDetail[] {
  return storedDetails(sqlite, vendorid, account).map((detail) => {
    const { account_id } = detail.vendor;
    const history = readChanges(sqlite, { account: account_id, vendorid, since: 0, limit: -1 });
    const [from, to] = [history[0]?.seq ?? 0, history.at(-1)?.seq ?? 0];
    return { ...detail, history, fields: fieldChanges(sqlite, { account_id, vendorid, from, to }) };
  });
}

/** The vendors of that id: of one account, or of each that uses it. */
export function storedDetails(sqlite: Sqlite, vendorid: number, account: string | undefined): StoredDetail[] {
  // By its full key where the account is known: a search by id alone reads every row.
  const vendors = statement<{ vendorid: number; account: string }, VendorTable>(sqlite, (at) =>
    mirrorSql
      .selectFrom('vendors')
      .selectAll()
      .where('vendorid', '=', at('vendorid'))
      .$if(account !== undefined, (q) => q.where('account_id', '=', at('account')))
      .orderBy('account_id'),
  );
  const balances = statement<VendorKey, VendorDetail['balances'][number]>(sqlite, (at) =>
    mirrorSql
      .selectFrom('vendor_balances')
      .select(['kind', 'amount', 'code'])
      .where('account_id', '=', at('account_id'))
      .where('vendorid', '=', at('vendorid'))
      .orderBy('kind', 'desc')
      .orderBy('code'),
  );
  const taxDefaults = statement<VendorKey, VendorDetail['taxDefaults'][number]>(sqlite, (at) =>
    mirrorSql
      .selectFrom('vendor_tax_defaults')
      .select(['taxid', 'system_taxid', 'enabled', 'name', 'amount', 'tax_authorityid', 'created_at', 'updated_at'])
      .where('account_id', '=', at('account_id'))
      .where('vendorid', '=', at('vendorid'))
      .orderBy('taxid'),
  );
  const freshness = statement<VendorKey, Pick<FreshnessView, 'safe_as_of'>>(sqlite, (at) =>
    mirrorSql.selectFrom('freshness').select('safe_as_of').where('account_id', '=', at('account_id')),
  );
  return vendors.all({ vendorid, account: account ?? '' }).map((vendor) => ({
    vendor: withoutBlobs(vendor),
    balances: balances.all(vendor).map(withoutBlobs),
    taxDefaults: taxDefaults.all(vendor).map(withoutBlobs),
    safeAsOf: freshness.get(vendor)?.safe_as_of ?? null,
  }));
}
