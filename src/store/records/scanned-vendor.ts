/** Vendors as the mirror holds them, in part. */
import type { VendorTable } from '../tables/vendor-tables.ts';

/** What is known of a vendor when it is missed. */
export type ScannedVendor = Pick<VendorTable, 'vendorid' | 'vis_state' | 'presence' | 'read_seq' | 'held_since_ms'>;

/** What of a vendor hardly ever changes. */
export type VendorTraits = Pick<VendorTable, 'vendorid' | 'vendor_name' | 'created_at'>;
