/** Parts of stored vendors. */
import type { VendorTable } from '../tables/vendor-tables.ts';

/** What is needed to decide about an unlisted vendor. */
export type ScannedVendor = Pick<VendorTable, 'vendorid' | 'vis_state' | 'presence' | 'read_seq' | 'held_since_ms'>;

/** Fields that hardly ever change. */
export type VendorTraits = Pick<VendorTable, 'vendorid' | 'vendor_name' | 'created_at'>;
