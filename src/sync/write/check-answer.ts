/** Compares a write request with what the service shows. */
import type { TaxDefaultFields, VendorEdit } from '../../api/requests.ts';
import { vendorFields, type TaxDefault, type Vendor, type VendorField } from '../../domain/vendor.ts';

/** Fields that a complete answer may leave out: the service sends them only if they were ever set, or never. */
const optional: ReadonlySet<VendorField> = new Set(['note', 'primary_contact']);

/** Known fields that are missing from an answer. */
export function missingFields(answer: Vendor, excluded?: ReadonlySet<string>): VendorField[] {
  return vendorFields.filter((field) => !optional.has(field) && !excluded?.has(field) && answer[field] === undefined);
}

/** The requested fields that the vendor does not show. A missing field counts as null. */
export function notTaken(requested: VendorEdit, shown: Vendor): string[] {
  return Object.entries(requested)
    .filter(([name, value]) => !isShown(name, value, shown))
    .map(([name]) => name);
}

function isShown(name: string, value: unknown, shown: Vendor): boolean {
  if (name === 'tax_defaults') return areSet((value ?? []) as readonly TaxDefaultFields[], shown.tax_defaults ?? []);
  const now = shown[name as VendorField];
  // Empty text may be returned as null, and the other way round; NUL is not stored.
  return plain(value) === plain(now);
}

function plain(value: unknown): unknown {
  if (value === null || value === undefined || value === false) return '';
  return typeof value === 'string' ? value.replaceAll('\0', '') : value;
}

/** A list of tax defaults replaces the previous one: exactly these must be shown. */
function areSet(requested: readonly TaxDefaultFields[], shown: readonly TaxDefault[]): boolean {
  return (
    requested.length === shown.length && requested.every((tax) => shown.some((candidate) => isTax(tax, candidate)))
  );
}

function isTax(requested: TaxDefaultFields, shown: TaxDefault): boolean {
  return (
    requested.system_taxid === shown.system_taxid &&
    (requested.enabled === undefined || requested.enabled === shown.enabled) &&
    (requested.tax_authorityid === undefined || plain(requested.tax_authorityid) === plain(shown.tax_authorityid))
  );
}
