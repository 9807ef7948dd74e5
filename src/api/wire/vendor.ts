/** One vendor's record: from the service's spelling, in all the variants known and feared, to a `Vendor` (reference 2.1, 2.2). */
import { MirrorError } from '../../errors.ts';
import {
  balanceFields,
  textFields,
  vendorFields,
  type Balance,
  type TaxDefault,
  type Vendor,
  type VisState,
} from '../../vendor.ts';
import { canonical, identifier, isMap, list, member, text, truth } from './json.ts';
import { parseJson } from './document.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const knownFields: ReadonlySet<string> = new Set(['vendorid', ...vendorFields]);

/**
 * The vendor in a record. A known field whose value is of no known spelling counts as left out and joins the unknown ones, so that it
 * shows, overwrites nothing, and stays in `raw`.
 * @throws MirrorError `answer_unreadable` if the text is no JSON object.
 */
export function vendorOf(vendorid: number, raw: string): Vendor {
  const record = parseJson(raw);
  if (!isMap(record)) throw new MirrorError('answer_unreadable', `Vendor ${vendorid} is no JSON object in the answer.`);
  const known = knownOf(hasNumbersForText(record, raw) ? parseJson(quotedNumbers(raw)) : record);
  const unknown = new Map<string, string>();
  for (const [name, value] of Object.entries(record))
    if (!knownFields.has(name) || (name !== 'vendorid' && !(name in known)))
      unknown.set(name.replaceAll('\0', ''), canonical(value));
  return { vendorid, unknown, ...known };
}

type Known = Omit<Vendor, 'vendorid' | 'unknown'>;

function knownOf(record: unknown): Known {
  const known: Partial<Mutable<Known>> = {};
  for (const field of textFields) {
    const value = text(member(record, field));
    if (value !== undefined) known[field] = value;
  }
  for (const field of balanceFields) {
    const value = balances(member(record, field));
    if (value) known[field] = value;
  }
  const contractor = member(record, 'is_1099');
  const is1099 = contractor === null ? null : truth(contractor);
  if (is1099 !== undefined) known.is_1099 = is1099;
  const state = visState(member(record, 'vis_state'));
  if (state !== undefined) known.vis_state = state;
  const taxes = taxDefaults(member(record, 'tax_defaults'));
  if (taxes) known.tax_defaults = taxes;
  return known;
}

const states = new Map<unknown, VisState>([
  [0, 0],
  [1, 1],
  [2, 2],
  ['0', 0],
  ['1', 1],
  ['2', 2],
]);

function visState(value: unknown): VisState | undefined {
  return states.get(value);
}

/** Seen as `[{amount: {amount, code}}]`, described as `{amount, code}`; one currency each, so sorted by it. */
function balances(value: unknown): Balance[] | undefined {
  if (value === undefined) return undefined;
  const read = (value === null ? [] : (list(value) ?? [value])).map(balance);
  return read.every((one) => one !== undefined)
    ? read.sort((a, b) => order(a.code, b.code) || order(a.amount, b.amount))
    : undefined;
}

function balance(value: unknown): Balance | undefined {
  const inner = isMap(member(value, 'amount')) ? member(value, 'amount') : value;
  const [amount, code] = [text(member(inner, 'amount')), text(member(inner, 'code'))];
  return typeof amount === 'string' && typeof code === 'string' ? { amount, code } : undefined;
}

/** One without a usable taxid makes the whole list unusable: a part of it would read as a removal of the rest. */
function taxDefaults(value: unknown): TaxDefault[] | undefined {
  if (value === undefined) return undefined;
  const read = value === null ? [] : list(value)?.map(taxDefault);
  return read?.every((one) => one !== undefined) ? read.sort((a, b) => a.taxid - b.taxid) : undefined;
}

function taxDefault(value: unknown): TaxDefault | undefined {
  const taxid = identifier(member(value, 'taxid'));
  if (taxid === undefined) return undefined;
  const words = (name: string): string | null => text(member(value, name)) ?? null;
  return {
    taxid,
    system_taxid: identifier(member(value, 'system_taxid')) ?? null,
    enabled: truth(member(value, 'enabled')) ?? null,
    name: words('name'),
    amount: words('amount'),
    tax_authorityid: words('tax_authorityid'),
    created_at: words('created_at'),
    updated_at: words('updated_at'),
  };
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** JSON.parse makes 0.1 of 0.10: where a number stands for text, its digits are needed as they came. */
function hasNumbersForText(record: unknown, raw: string): boolean {
  return textFields.some((field) => typeof member(record, field) === 'number') || /"amount"\s*:\s*[-\d]/.test(raw);
}

function quotedNumbers(raw: string): string {
  return raw.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => (token.startsWith('"') ? token : `"${token}"`));
}
