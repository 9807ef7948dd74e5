/** Everything that the mirror holds of one vendor. */
import { readChanges, type Change } from './change-feed.ts';
import type { Sqlite } from './driver.ts';
import { mirrorSql, statement } from './statement.ts';
import type { BalanceTable, TaxDefaultTable, VendorTable } from './tables.ts';

export interface VendorDetail {
  readonly vendor: VendorTable;
  readonly balances: readonly Pick<BalanceTable, 'kind' | 'amount' | 'code'>[];
  readonly taxDefaults: readonly TaxDefaultTable[];
  readonly history: readonly Change[];
  /** The moment up to which the mirror is known to hold everything of the vendor's account; null if it never was whole. */
  readonly safeAsOf: string | null;
}

/** The vendors of that number: one, or one of each account that uses it. */
export function vendorDetails(sqlite: Sqlite, vendorid: number, account: string | undefined): VendorDetail[] {
  const vendors = statement<{ vendorid: number }, VendorTable>(sqlite, (at) =>
    mirrorSql.selectFrom('vendors').selectAll().where('vendorid', '=', at.vendorid).orderBy('account_id'),
  );
  const key = ['account_id', 'vendorid'] as const;
  type Key = Pick<VendorTable, (typeof key)[number]>;
  const balances = statement<Key, VendorDetail['balances'][number]>(sqlite, (at) =>
    mirrorSql
      .selectFrom('vendor_balances')
      .select(['kind', 'amount', 'code'])
      .where('account_id', '=', at.account_id)
      .where('vendorid', '=', at.vendorid)
      .orderBy('kind', 'desc')
      .orderBy('code'),
  );
  const taxDefaults = statement<Key, TaxDefaultTable>(sqlite, (at) =>
    mirrorSql
      .selectFrom('vendor_tax_defaults')
      .selectAll()
      .where('account_id', '=', at.account_id)
      .where('vendorid', '=', at.vendorid)
      .orderBy('taxid'),
  );
  const freshness = statement<Key, { safe_as_of: string | null }>(sqlite, (at) =>
    mirrorSql.selectFrom('freshness').select('safe_as_of').where('account_id', '=', at.account_id),
  );
  return vendors
    .all({ vendorid })
    .filter((vendor) => account === undefined || vendor.account_id === account)
    .map((vendor) => ({
      vendor,
      balances: balances.all(vendor),
      taxDefaults: taxDefaults.all(vendor),
      history: readChanges(sqlite, { account: vendor.account_id, vendorid, since: 0, limit: -1 }),
      safeAsOf: freshness.get(vendor)?.safe_as_of ?? null,
    }));
}
