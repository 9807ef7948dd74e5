/** One vendor as the mirror holds it. */
import type { Vendor } from '../vendor.ts';
import type { Sqlite } from './driver.ts';
import { children } from './held.ts';
import type { Presence } from './tables.ts';
import { vendorRows } from './vendor-rows.ts';

export interface HeldVendor {
  readonly vendor: Vendor;
  readonly presence: Presence;
}

/** Finds vendors by account and number. */
export function vendorsHeld(sqlite: Sqlite): (accountId: string, vendorid: number) => HeldVendor | undefined {
  const rows = vendorRows(sqlite);
  const kin = children(sqlite);
  return (accountId, vendorid) => {
    const row = rows.find({ account_id: accountId, vendorid });
    return row && { vendor: kin.vendorOf(row), presence: row.presence };
  };
}
