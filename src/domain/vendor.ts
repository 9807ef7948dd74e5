/** What a bill vendor is, whatever spelling it came in. */

/** 0 active, 1 deleted, 2 archived. */
export type VisState = 0 | 1 | 2;

/** What the value of a field is; from it follows how the field is read from an answer, kept, and compared. */
type FieldKind = 'text' | 'flag' | 'state' | 'balances' | 'tax_defaults';

/**
 * Every field of a vendor that has a name here, in the service's order. A field that is added fails to compile until the table of the
 * mirror has its column and the commands say whether it can be set; the tests ask for its migration.
 */
const fieldKinds = {
  vendor_name: 'text',
  account_number: 'text',
  primary_contact_first_name: 'text',
  primary_contact_last_name: 'text',
  primary_contact_email: 'text',
  primary_contact: 'text',
  phone: 'text',
  street: 'text',
  street2: 'text',
  city: 'text',
  province: 'text',
  postal_code: 'text',
  country: 'text',
  website: 'text',
  currency_code: 'text',
  language: 'text',
  note: 'text',
  created_at: 'text',
  updated_at: 'text',
  is_1099: 'flag',
  vis_state: 'state',
  outstanding_balance: 'balances',
  overdue_balance: 'balances',
  tax_defaults: 'tax_defaults',
} as const satisfies Record<string, FieldKind>;

export type VendorField = keyof typeof fieldKinds;
export const vendorFields = Object.keys(fieldKinds) as VendorField[];

/**
 * Fields without which no mirror could be kept true: the key; the name, by which a vendor is looked for whose creation was not answered; the
 * state; and the stamps, by which it is told in which order a list stands and what entered it.
 */
export const neededFields = ['vendorid', 'vendor_name', 'vis_state', 'created_at', 'updated_at'] as const;

type FieldOf<Kind extends FieldKind> = {
  [Field in VendorField]: (typeof fieldKinds)[Field] extends Kind ? Field : never;
}[VendorField];

function fieldsOf<Kind extends FieldKind>(kind: Kind): readonly FieldOf<Kind>[] {
  return vendorFields.filter((field) => fieldKinds[field] === kind) as FieldOf<Kind>[];
}

/** The service sends each as text, null, or not at all. */
export type TextField = FieldOf<'text'>;
export const textFields = fieldsOf('text');

/** What stands in the vendor's own row. */
export type ColumnField = FieldOf<'text' | 'flag' | 'state'>;
export const columnFields: readonly ColumnField[] = [...textFields, ...fieldsOf('flag'), ...fieldsOf('state')];

export type BalanceField = FieldOf<'balances'>;
export const balanceFields = fieldsOf('balances');

/** An amount of one currency: `amount` exactly as the service wrote it. */
export interface Balance {
  readonly amount: string;
  readonly code: string;
}

/** A tax that the vendor's bills bear unless they say otherwise. */
export interface TaxDefault {
  readonly taxid: number;
  readonly system_taxid: number | null;
  readonly enabled: boolean | null;
  readonly name: string | null;
  readonly amount: string | null;
  readonly tax_authorityid: string | null;
  readonly created_at: string | null;
  readonly updated_at: string | null;
}

/** Fields that we have no name for, as the JSON text of their values. */
export type UnknownFields = ReadonlyMap<string, string>;

/** What a field holds, by its kind. */
interface FieldValue {
  text: string | null;
  flag: boolean | null;
  state: VisState;
  balances: readonly Balance[];
  tax_defaults: readonly TaxDefault[];
}

/** One reading's view of a vendor. A field that the answer left out is absent here, and absent is not null. */
export type Vendor = { readonly [Field in VendorField]?: FieldValue[(typeof fieldKinds)[Field]] } & {
  readonly vendorid: number;
  readonly unknown: UnknownFields;
  /** Lists in which the answer named a currency or a tax twice; the first of each counts. */
  readonly repeated?: readonly VendorField[];
};

/** How each field's value is made, one way for each kind. */
export function byKind<Result>(ways: Readonly<Record<FieldKind, Result>>): ReadonlyMap<string, Result> {
  return new Map(vendorFields.map((field) => [field, ways[fieldKinds[field]]]));
}

/** A payment processor that is enabled for the business. */
export interface Gateway {
  readonly sgid: number;
  readonly connectionid: string | null;
  readonly gateway_name: string | null;
}

/** One registration for webhooks at the service. */
export interface Callback {
  readonly callbackid: number;
  readonly event: string;
  readonly uri: string;
  readonly verified: boolean;
}

/** The vendor without some of its fields, of which nobody can tell any more what they were. */
export function withoutFields(vendor: Vendor, names: ReadonlySet<string> | undefined): Vendor {
  if (!names || names.size === 0) return vendor;
  const unknown = new Map([...vendor.unknown].filter(([name]) => !names.has(name)));
  const left = Object.fromEntries(Object.entries(vendor).filter(([name]) => !names.has(name)));
  return { ...left, vendorid: vendor.vendorid, unknown };
}

/** What a reading makes of what we hold: left-out fields keep their value, and `changed` names the fields that differ. */
export function mergeReading(held: Vendor, reading: Vendor): { vendor: Vendor; changed: string[] } {
  const unknown = new Map([...held.unknown, ...reading.unknown]);
  const vendor: Vendor = { ...held, ...reading, unknown };
  return { vendor, changed: changedFields(held, vendor) };
}

/** Names of the fields in which two views of a vendor differ; a field that either leaves out does not. */
function changedFields(before: Vendor, after: Vendor): string[] {
  const known = vendorFields.filter((field) => {
    const [old, now] = [before[field], after[field]];
    return old !== undefined && now !== undefined ? JSON.stringify(old) !== JSON.stringify(now) : now !== undefined;
  });
  const strange = [...after.unknown].filter(([name, json]) => before.unknown.get(name) !== json).map(([name]) => name);
  return [...known, ...strange];
}
