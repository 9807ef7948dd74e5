/** What was asked for in a write, held against what the service shows. */
import type { TaxDefaultFields, VendorEdit } from '../../api/requests.ts';
import { vendorFields, type TaxDefault, type Vendor, type VendorField } from '../../domain/vendor.ts';

/** Fields that an answer may leave out without being a part of a vendor only: they are sent where they were ever set, or never. */
const optional: ReadonlySet<VendorField> = new Set(['note', 'primary_contact']);

/** Known fields that an answer should have and has not. */
export function missingFields(answer: Vendor, excluded?: ReadonlySet<string>): VendorField[] {
  return vendorFields.filter((field) => !optional.has(field) && !excluded?.has(field) && answer[field] === undefined);
}

/** The fields that do not show as they were asked for. One that is not shown is taken for null. */
export function notTaken(requested: VendorEdit, shown: Vendor): string[] {
  return Object.entries(requested)
    .filter(([name, value]) => !isShown(name, value, shown))
    .map(([name]) => name);
}

function isShown(name: string, value: unknown, shown: Vendor): boolean {
  if (name === 'tax_defaults') return areSet((value ?? []) as readonly TaxDefaultFields[], shown.tax_defaults ?? []);
  const now = shown[name as VendorField];
  // Text may come back as null or empty, whichever it was; NUL is kept in no column.
  return plain(value) === plain(now);
}

function plain(value: unknown): unknown {
  if (value === null || value === undefined || value === false) return '';
  return typeof value === 'string' ? value.replaceAll('\0', '') : value;
}

/** A list of tax defaults takes the place of the one before: each stands there, and no other. */
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
