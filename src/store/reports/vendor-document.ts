/** One stored vendor, field by field in the service's order. */
import type { StoredDetail } from './vendor-detail.ts';
import { textFields, type Balance, type TaxDefault, type TextField } from '../../domain/vendor.ts';

export interface VendorRecord {
  /** The fields of the service's reference, followed by unknown ones. */
  readonly record: ReadonlyMap<string, unknown>;
  /** The mirror's own data about the record. */
  readonly mirror: ReadonlyMap<string, string | null>;
  readonly outstanding: readonly Balance[];
  readonly overdue: readonly Balance[];
  readonly taxDefaults: readonly TaxDefault[];
}

/** Text fields at the end of the reference's list. */
const last: readonly TextField[] = ['note', 'created_at', 'updated_at'];

export function vendorRecord({ vendor, balances, taxDefaults, safeAsOf }: StoredDetail): VendorRecord {
  const text = (field: TextField): [string, string | null] => [field, vendor[field]];
  const owed = (kind: string): Balance[] =>
    balances.filter((balance) => balance.kind === kind).map(({ amount, code }) => ({ amount, code }));
  const [outstanding, overdue] = [owed('outstanding'), owed('overdue')];
  const taxes = taxDefaults.map((tax) => ({ ...tax, enabled: truth(tax.enabled) }));
  const { account_id, presence, vis_state_source, source, first_seen_at, changed_at } = vendor;
  const mirror = { account_id, presence, vis_state_source, source, first_seen_at, changed_at, safe_as_of: safeAsOf };
  return {
    record: new Map<string, unknown>([
      ['vendorid', vendor.vendorid],
      ...textFields.filter((field) => !last.includes(field)).map(text),
      ['is_1099', truth(vendor.is_1099)],
      text('note'),
      ['vis_state', vendor.vis_state],
      ['tax_defaults', taxes],
      ['outstanding_balance', outstanding],
      ['overdue_balance', overdue],
      text('created_at'),
      text('updated_at'),
      ...unknownFields(vendor.unknown_fields),
    ]),
    mirror: new Map(Object.entries(mirror)),
    outstanding,
    overdue,
    taxDefaults: taxes,
  };
}

/** The same as JSON: the mirror's data, and the record under `record`. */
export function vendorDocument(detail: StoredDetail): object {
  const { record, mirror } = vendorRecord(detail);
  return { ...Object.fromEntries(mirror), record: Object.fromEntries(record) };
}

function truth(flag: number | null): boolean | null {
  return flag === null ? null : flag === 1;
}

/** Unknown fields: their column has the JSON text of each. Invalid content, written by another program, is shown as it is. */
function unknownFields(column: string | null): [string, unknown][] {
  try {
    const texts = JSON.parse(column ?? '{}') as Record<string, string>;
    return Object.entries(texts).map(([name, json]) => [name, JSON.parse(json)]);
  } catch {
    return [['unknown_fields', column]];
  }
}
