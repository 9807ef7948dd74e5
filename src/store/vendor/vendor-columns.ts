/** The columns of a vendor's own row. */
import { textFields, type TextField, type Vendor } from '../../domain/vendor.ts';
import type { VendorTable } from '../tables/vendor-tables.ts';

/** The columns of `vendors` that a reading fills. */
export type ContentColumns = Omit<
  VendorTable,
  | 'account_id'
  | 'vis_state_source'
  | 'presence'
  | 'first_seen_at'
  | 'changed_at'
  | 'source'
  | 'read_seq'
  | 'held_since_ms'
>;

/**
 * The columns of a vendor, as a new object that the caller may extend. Built field by field, because spreading wide objects dominates the
 * cost of a first pull.
 */
export function columnsOf(vendor: Vendor, raw: string): ContentColumns {
  const texts = {} as Record<TextField, string | null>;
  for (const field of textFields) texts[field] = vendor[field] ?? null;
  return Object.assign(texts, {
    vendorid: vendor.vendorid,
    is_1099: flag(vendor.is_1099),
    vis_state: vendor.vis_state ?? null,
    unknown_fields: unknownFieldsOf(vendor),
    raw,
  });
}

/** Fields without a column of their own. */
export function unknownFieldsOf({ unknown }: Vendor): string | null {
  return unknown.size === 0 ? null : JSON.stringify(Object.fromEntries(unknown));
}

export function flag(value: boolean | null | undefined): number | null {
  return value == null ? null : Number(value);
}
