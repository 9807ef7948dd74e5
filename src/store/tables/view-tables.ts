/** Types of the views for users. */
import type { Source } from '../../domain/reading.ts';
import type { VendorKey } from './vendor-tables.ts';

export interface PayablesView extends VendorKey {
  vendor_name: string | null;
  state: 'active' | 'deleted' | 'archived' | 'unknown';
  currency: string;
  /** 0 where the service has no amount, null where its text is not a decimal number. */
  outstanding: number | null;
  overdue: number | null;
  outstanding_minor: number | bigint | null;
  overdue_minor: number | bigint | null;
  minor_digits: number;
}

export interface VendorChangesView extends VendorKey {
  seq: number;
  at: string;
  vendor_name: string | null;
  field: string;
  old: string | null;
  new: string | null;
  learned_by: Source;
}
