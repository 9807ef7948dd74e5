/**
 * A bill vendor: its fields, their kinds, and how two readings of it are compared.
 *
 * An answer says one of three things of a field, and a reading never confuses them: it leaves the field out (absent from `Vendor`; the mirror
 * keeps its value), it is empty (null, or an empty list), or it is there and not understood (`Unreadable`; NULL in the mirror, and a finding).
 */

/** 0 active, 1 deleted, 2 archived. */
export type VisState = 0 | 1 | 2;

export type StateWord = 'active' | 'deleted' | 'archived' | 'unknown';

export function stateWord(state: VisState | null): StateWord {
  return state === null ? 'unknown' : (['active', 'deleted', 'archived'] as const)[state];
}

/** The kind of a field decides how it is read from an answer, stored and compared. */
type FieldKind = 'text' | 'time' | 'flag' | 'state' | 'balances' | 'tax_defaults';

/** Every known field of a vendor, in the order of the service. Each but balances and tax defaults is a column, which a migration adds. */
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
  created_at: 'time',
  updated_at: 'time',
  is_1099: 'flag',
  vis_state: 'state',
  outstanding_balance: 'balances',
  overdue_balance: 'balances',
  tax_defaults: 'tax_defaults',
} as const satisfies Record<string, FieldKind>;

export type VendorField = keyof typeof fieldKinds;
export const vendorFields = Object.keys(fieldKinds) as VendorField[];

/**
 * Fields that cannot be excluded: the key; the name, by which a lost creation is searched for; the state; and the timestamps, which show
 * the order of a list and what entered it.
 */
export const neededFields = ['vendorid', 'vendor_name', 'vis_state', 'created_at', 'updated_at'] as const;

type FieldOf<Kind extends FieldKind> = {
  [Field in VendorField]: (typeof fieldKinds)[Field] extends Kind ? Field : never;
}[VendorField];

function fieldsOf<Kind extends FieldKind>(kind: Kind): readonly FieldOf<Kind>[] {
  return vendorFields.filter((field) => fieldKinds[field] === kind) as FieldOf<Kind>[];
}

/** The service sends each as text, null, or not at all. */
export type TextField = FieldOf<'text' | 'time'>;
export const textFields: readonly TextField[] = [...fieldsOf('text'), ...fieldsOf('time')];

/** True or false; 1 or 0 in the mirror. */
export type FlagField = FieldOf<'flag'>;

export type StateField = FieldOf<'state'>;

/** Fields that are columns of the vendor's row. */
export type ColumnField = TextField | FlagField | StateField;
export const columnFields: readonly ColumnField[] = [...textFields, ...fieldsOf('flag'), ...fieldsOf('state')];

export type BalanceField = FieldOf<'balances'>;
export const balanceFields = fieldsOf('balances');

/** Fields that move without an edit of the vendor. */
export const movingFields: ReadonlySet<string> = new Set([...balanceFields, ...fieldsOf('tax_defaults')]);

/** An amount in one currency; `amount` is exactly the service's text. */
export interface Balance {
  readonly amount: string;
  readonly code: string;
}

/** A tax that applies to the vendor's bills by default. */
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

/** Unknown fields, each as the JSON text of its value. */
export type UnknownFields = ReadonlyMap<string, string>;

/** What a field holds, by its kind. A state is null only where none was ever read. */
interface FieldValue {
  text: string | null;
  time: string | null;
  flag: boolean | null;
  state: VisState | null;
  balances: readonly Balance[];
  tax_defaults: readonly TaxDefault[];
}

/** A field that an answer contains and that cannot be read. */
export class Unreadable<Value> {
  /** The JSON text of what was sent. */
  readonly json: string;
  /** What of it can be read: a part of a list; of everything else nothing. */
  readonly kept: Value;

  constructor(json: string, kept: Value) {
    this.json = json;
    this.kept = kept;
  }
}

/** What the mirror holds of a field: of an unreadable one, what can be read. */
export function kept<Value>(said: Value | Unreadable<Value>): Value {
  return said instanceof Unreadable ? said.kept : said;
}

/** The fields of a vendor that could not be read, each as the JSON text that was sent. */
export function unreadableFields(vendor: Vendor): ReadonlyMap<VendorField, string> {
  const found = new Map<VendorField, string>();
  for (const field of vendorFields) {
    const said = vendor[field];
    if (said instanceof Unreadable) found.set(field, said.json);
  }
  return found;
}

/** A vendor as one reading shows it. A field that the answer left out is absent here: absent, null and unreadable are three things. */
export type Vendor = {
  readonly [Field in VendorField]?:
    FieldValue[(typeof fieldKinds)[Field]] | Unreadable<FieldValue[(typeof fieldKinds)[Field]]>;
} & {
  readonly vendorid: number;
  readonly unknown: UnknownFields;
  /** Fields in which the answer listed a currency or a tax twice; the first of each counts. */
  readonly repeated?: readonly VendorField[];
};

/** One value for each field, chosen by its kind. */
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

/** The vendor without these fields, as if no reading had ever shown them. */
export function withoutFields(vendor: Vendor, names: ReadonlySet<string> | undefined): Vendor {
  if (!names || names.size === 0) return vendor;
  const unknown = new Map([...vendor.unknown].filter(([name]) => !names.has(name)));
  const left = Object.fromEntries(Object.entries(vendor).filter(([name]) => !names.has(name)));
  return { ...left, vendorid: vendor.vendorid, unknown };
}

/** Merges a reading into the stored vendor: fields that the reading leaves out keep their value. `changed` names the fields that differ. */
export function mergeReading(stored: Vendor, reading: Vendor): { vendor: Vendor; changed: string[] } {
  const unknown = new Map([...stored.unknown, ...reading.unknown]);
  const vendor: Vendor = { ...stored, ...reading, unknown };
  return { vendor, changed: changedFields(stored, vendor) };
}

/** Names of the fields in which two versions differ; a field that is absent from either does not count. */
function changedFields(before: Vendor, after: Vendor): string[] {
  const known = vendorFields.filter((field) => {
    const [old, now] = [before[field], after[field]];
    return old !== undefined && now !== undefined ? JSON.stringify(old) !== JSON.stringify(now) : now !== undefined;
  });
  const strange = [...after.unknown].filter(([name, json]) => before.unknown.get(name) !== json).map(([name]) => name);
  return [...known, ...strange];
}
