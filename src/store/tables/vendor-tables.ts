/** Types of the vendor tables. */
import type { Generated } from 'kysely';
import type { Source } from '../../domain/reading.ts';
import type { FlagField, StateField, TextField, VisState } from '../../domain/vendor.ts';

export type Presence = 'present' | 'suspect' | 'missing' | 'gone';
export type VisStateSource = 'reported' | 'inferred';

export interface VendorKey {
  readonly account_id: string;
  readonly vendorid: number;
}

/** The columns of a vendor's known fields. */
type FieldColumns = Record<TextField, string | null> &
  Record<FlagField, number | null> &
  Record<StateField, VisState | null>;

export interface VendorTable extends VendorKey, FieldColumns {
  vis_state_source: VisStateSource;
  presence: Presence;
  first_seen_at: string;
  changed_at: string;
  source: Source;
  read_seq: number;
  held_since_ms: number;
  unknown_fields: string | null;
  raw: string;
}

export interface BalanceTable extends VendorKey {
  kind: 'outstanding' | 'overdue';
  amount: string;
  amount_minor: number | bigint | null;
  code: string;
}

export interface TaxDefaultTable extends VendorKey {
  taxid: number;
  system_taxid: number | null;
  enabled: number | null;
  name: string | null;
  amount: string | null;
  tax_authorityid: string | null;
  created_at: string | null;
  updated_at: string | null;
}

/** The view `vendor_versions`. */
export interface VersionTable extends VendorKey {
  seq: Generated<number>;
  valid_from: string;
  valid_to: string | null;
  vis_state: VisState | null;
  vis_state_source: VisStateSource;
  presence: Presence;
  changed_fields: string;
  source: Source;
  run_id: number | null;
  delivery_id: number | null;
  raw: string;
}

/** The table behind `vendor_versions`. */
export interface VersionRowTable extends Omit<VersionTable, 'raw'> {
  /** Null in the current version, whose record is in `vendors`. */
  raw: string | null;
}

export interface BalanceSpanTable extends VendorKey {
  code: string;
  valid_from: string;
  valid_to: string | null;
  outstanding: string | null;
  outstanding_minor: number | bigint | null;
  overdue: string | null;
  overdue_minor: number | bigint | null;
  outstanding_amount: number | null;
  overdue_amount: number | null;
  outstanding_units: number | bigint | null;
  overdue_units: number | bigint | null;
  minor_digits: number;
}
