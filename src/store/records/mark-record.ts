/** A mark: a vendor that must be read again. */
import type { DirtyVendorTable } from '../tables/mirror-tables.ts';

export type Mark = Pick<
  DirtyVendorTable,
  'account_id' | 'vendorid' | 'generation' | 'attempts' | 'reason' | 'marked_at'
>;
