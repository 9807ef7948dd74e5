/** Removes one vendor from everything that is stored. */
import { ForgottenVendors } from '../rows/forgotten-vendors.ts';
import type { VendorKey } from '../tables/vendor-tables.ts';
import { ofVendor } from '../vendor/of-vendor.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';

/** Tables with rows of a vendor. */
const ofVendors = [
  'vendor_balances',
  'vendor_tax_defaults',
  'balance_spans',
  '_vendor_versions',
  'findings',
  'dirty_vendors',
  '_edits',
  'vendors',
] as const;

/**
 * Removes the vendor with its history, deliveries and marks, and records its id, so that no reading stores it again. Runs inside a
 * transaction.
 * @param at timestamp of ours
 * @returns whether it was stored, or forgotten before; otherwise nothing is done.
 */
export function forgetVendor(sqlite: Sqlite, key: VendorKey, at: string): boolean {
  const stored = statement<VendorKey, { vendor_name: string | null }>(sqlite, (place) =>
    ofVendor(mirrorSql.selectFrom('vendors').select('vendor_name'), place),
  ).get(key);
  const forgotten = new ForgottenVendors(sqlite);
  if (!stored && !forgotten.has(key)) return false;
  if (stored?.vendor_name != null)
    statement<{ account_id: string; vendor_name: string }>(sqlite, (place) =>
      mirrorSql
        .deleteFrom('_creations')
        .where('account_id', '=', place('account_id'))
        .where('vendor_name', '=', place('vendor_name')),
    ).run({ account_id: key.account_id, vendor_name: stored.vendor_name.trim() });
  for (const table of ofVendors)
    statement<VendorKey>(sqlite, (place) => ofVendor(mirrorSql.deleteFrom(table), place)).run(key);
  plainStatement<VendorKey>(
    sqlite,
    'DELETE FROM _notify_queue WHERE account_id = :account_id AND vendorid = :vendorid',
  ).run(key);
  statement<VendorKey>(sqlite, (place) =>
    mirrorSql
      .deleteFrom('deliveries')
      .where('account_id', '=', place('account_id'))
      .where('object_id', '=', place('vendorid'))
      .where('name', 'like', 'bill_vendor.%'),
  ).run(key);
  forgotten.add(key, at);
  return true;
}
