/** A vendor as the sandbox keeps it, the taxes that it may have, and both as they go over the wire in a world. */
import { timestamp } from '../../domain/clock.ts';
import type { World } from './worlds.ts';
import type { SeededRandom } from './random.ts';

/** 0 active, 1 deleted, 2 archived. */
export type State = 0 | 1 | 2;

/** Texts that a client may set. */
export const writableTexts = [
  'vendor_name',
  'account_number',
  'primary_contact_first_name',
  'primary_contact_last_name',
  'primary_contact_email',
  'phone',
  'street',
  'street2',
  'city',
  'province',
  'postal_code',
  'country',
  'website',
  'currency_code',
  'language',
  'note',
] as const;
export type WritableText = (typeof writableTexts)[number];

export interface Money {
  readonly amount: string;
  readonly code: string;
}

export interface TaxRecord {
  readonly taxid: number;
  readonly system_taxid: number;
  readonly enabled: boolean;
  readonly name: string;
  readonly amount: string;
  readonly tax_authorityid: string | null;
  /** Milliseconds since 1970, as all times here. */
  readonly created: number;
  readonly updated: number;
}

export interface VendorRecord {
  readonly vendorid: number;
  /** A `note` that was never set is absent; every other text that was never set is null. */
  readonly texts: Readonly<Partial<Record<WritableText, string | null>>>;
  readonly is1099: boolean;
  readonly state: State;
  readonly taxes: readonly TaxRecord[];
  readonly outstanding: readonly Money[];
  readonly overdue: readonly Money[];
  readonly created: number;
  readonly updated: number;
}

/** A JSON object as it is sent. */
export type Wire = Readonly<Record<string, unknown>>;

/**
 * The record as the service sends it in this world, keys in alphabetical order as captured.
 * @param before the record as it was before, which lists show of some fields in some worlds
 */
export function vendorOnWire(
  record: VendorRecord,
  world: World,
  where: 'list' | 'single',
  before: VendorRecord = record,
): Wire {
  const wire = wholeOnWire(record, world, where);
  const { listedField } = world;
  if (where === 'single' || world.listedAs === 'whole' || !Object.hasOwn(wire, listedField)) return wire;
  const value = world.listedAs === 'older' ? wholeOnWire(before, world, 'single')[listedField] : wire[listedField];
  return { ...wire, [listedField]: listedValue(value ?? null, record, world) };
}

/** How lists of this world show a value. */
function listedValue(value: unknown, { vendorid }: VendorRecord, { listedAs, listedField }: World): unknown {
  switch (listedAs) {
    case 'whole':
    case 'older':
      return value;
    case 'blank':
      return Array.isArray(value) ? [] : null;
    case 'constant':
      return constants[listedField];
    case 'cut':
      return Array.isArray(value) ? value.slice(0, 1) : eachText(value, (text) => text.slice(0, 6));
    case 'masked':
      return eachText(value, masked);
    case 'some':
      return vendorid % 3 === 0 ? value : eachText(value, masked);
  }
}

const constants: Readonly<Record<World['listedField'], unknown>> = {
  account_number: 'on file',
  note: 'See the vendor.',
  outstanding_balance: [{ amount: { amount: '0.00', code: 'USD' } }],
  tax_defaults: [],
};

const masked = (text: string): string => (/^-?\d+\.\d+$/.test(text) ? '0.00' : `****${text.slice(4).slice(-4)}`);

/** The same value with every text in it changed, but for times and currencies. */
function eachText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => eachText(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key.endsWith('_at') || key === 'code' ? item : eachText(item, change),
    ]),
  );
}

function wholeOnWire(record: VendorRecord, world: World, where: 'list' | 'single'): Wire {
  const { texts } = record;
  const text = (key: WritableText): string | null => texts[key] ?? null;
  const strange = world.values === 'strange' ? strangeFields(record) : undefined;
  const withNote = texts.note !== undefined && (where === 'single' || world.noteInList === 'yes');
  return {
    account_number: text('account_number'),
    city: text('city'),
    country: text('country'),
    created_at: serviceTime(record.created, world),
    currency_code: text('currency_code'),
    is_1099: record.is1099,
    language: text('language'),
    ...(withNote ? { note: texts.note } : {}),
    outstanding_balance: balanceOnWire(record.outstanding, world),
    overdue_balance: balanceOnWire(record.overdue, world),
    phone: text('phone'),
    postal_code: text('postal_code'),
    primary_contact_email: text('primary_contact_email'),
    primary_contact_first_name: text('primary_contact_first_name'),
    primary_contact_last_name: text('primary_contact_last_name'),
    province: text('province'),
    street: text('street'),
    street2: text('street2'),
    tax_defaults: record.taxes.map((tax) => taxOnWire(tax, record.vendorid, world)),
    updated_at: world.serviceTime === 'mixed' ? newYork.format(record.updated) : serviceTime(record.updated, world),
    vendor_name: text('vendor_name'),
    vendorid: record.vendorid,
    vis_state: world.visState === 'text' ? String(record.state) : record.state,
    website: text('website'),
    ...strange,
  };
}

/** What no client can be expected to understand. Of each field, the sender's idea of it. */
const strangeForms: readonly ((record: VendorRecord) => Wire)[] = [
  () => ({ outstanding_balance: {} }),
  () => ({ outstanding_balance: [{}], overdue_balance: { amount: null } }),
  ({ outstanding }) => ({ outstanding_balance: [...outstanding.map((amount) => ({ amount })), 'EUR'] }),
  ({ overdue }) => ({ overdue_balance: [{ amount: { amount: null, code: 'USD' } }, ...overdue] }),
  () => ({ is_1099: 'ja' }),
  () => ({ is_1099: [1] }),
  () => ({ phone: { number: 7 }, city: true }),
  () => ({ tax_defaults: 'none' }),
  () => ({ tax_defaults: [{ taxid: 1, name: 'VAT', amount: '5', enabled: true }, { name: 'GST' }] }),
  ({ state }) => (state === 2 ? { vis_state: 3 } : {}),
  ({ state }) => (state === 2 ? { vis_state: 'archived' } : {}),
  () => ({ created_at: 'yesterday' }),
];

/** A third of the vendors has one of these, another one after each edit. */
function strangeFields({ vendorid, updated, ...record }: VendorRecord): Wire {
  const drawn = Math.imul(vendorid, 40_503) + Math.imul(Math.floor(updated / 1_000), 9_973);
  const form = strangeForms[(drawn >>> 4) % (strangeForms.length * 3)];
  return form?.({ vendorid, updated, ...record }) ?? {};
}

function taxOnWire(tax: TaxRecord, vendorid: number, world: World): Wire {
  return {
    amount: tax.amount,
    created_at: serviceTime(tax.created, world),
    enabled: tax.enabled,
    name: tax.name,
    system_taxid: tax.system_taxid,
    tax_authorityid: tax.tax_authorityid,
    taxid: tax.taxid,
    updated_at: serviceTime(tax.updated, world),
    vendorid,
  };
}

function balanceOnWire(amounts: readonly Money[], world: World): unknown {
  if (world.balances === 'object') return amounts[0] ?? null;
  return amounts.map(({ amount, code }) => ({ amount: { amount, code } }));
}

const newYork = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'America/New_York',
  dateStyle: 'short',
  timeStyle: 'medium',
});

/** `YYYY-MM-DD HH:MM:SS`. */
function serviceTime(ms: number, world: World): string {
  return world.serviceTime === 'local' ? newYork.format(ms) : timestamp(ms).slice(0, 19);
}

export type SystemTax = Pick<TaxRecord, 'name' | 'amount'> & { readonly system_taxid: number };

const oddTaxes: readonly SystemTax[] = [
  { system_taxid: 36859, name: 'GST', amount: '13.56' },
  { system_taxid: 37696, name: 'HST', amount: '13' },
  { system_taxid: 37701, name: 'MwSt. 7 %', amount: '7' },
  { system_taxid: 37702, name: 'ΦΠΑ', amount: '24.000' },
];
const systemTaxes: readonly SystemTax[] = [
  ...oddTaxes,
  { system_taxid: 36860, name: 'GST', amount: '5' },
  { system_taxid: 37703, name: 'MwSt. 19 %', amount: '19' },
];

/** The tax of that number; undefined if there is none. */
export function systemTax(id: unknown): SystemTax | undefined {
  return systemTaxes.find((tax) => tax.system_taxid === id);
}

/** Mostly none, otherwise some of the odd taxes. */
export function drawnTaxes(random: SeededRandom, created: number): TaxRecord[] {
  if (!random.happens(0.2)) return [];
  return oddTaxes
    .filter(() => random.happens(0.4))
    .map((tax, position) =>
      taxRecord(tax, {
        taxid: position * 2 + 1,
        enabled: random.happens(0.8),
        tax_authorityid: random.happens(0.2) ? `№ ${random.text(4, '0123456789')}` : null,
        created,
      }),
    );
}

/** Mostly none, otherwise one of the numbers. */
export function taxesOf(numbers: readonly number[], random: SeededRandom, created: number): TaxRecord[] {
  const tax = random.happens(0.4) ? systemTax(random.pick(numbers)) : undefined;
  if (!tax) return [];
  return [taxRecord(tax, { taxid: 1, enabled: true, tax_authorityid: random.text(9, '123456789'), created })];
}

function taxRecord(
  tax: SystemTax,
  rest: Pick<TaxRecord, 'taxid' | 'enabled' | 'tax_authorityid' | 'created'>,
): TaxRecord {
  return { ...tax, ...rest, updated: rest.created };
}
