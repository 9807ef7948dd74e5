/** A mark: a vendor that must be read again. */
import type { DirtyVendorTable, MarkReason } from '../tables/mirror-tables.ts';

export type Mark = Pick<
  DirtyVendorTable,
  'account_id' | 'vendorid' | 'generation' | 'attempts' | 'reason' | 'marked_at'
>;

/** When and why a vendor is read again. */
export interface Deferral {
  readonly delay: number;
  readonly reason: MarkReason;
  readonly attempts: number;
  readonly error: string | null;
}
