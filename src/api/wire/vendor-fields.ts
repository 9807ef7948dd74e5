/**
 * Converts a vendor record from the service's JSON, in all its known variants, to a `Vendor`.
 *
 * A known field with an unreadable type counts as left out, and stays in `raw`.
 */
import { MirrorError } from '../../domain/errors.ts';
import { byKind, textFields, type Balance, type TaxDefault, type Vendor, type VisState } from '../../domain/vendor.ts';
import { canonical, identifier, isMap, list, member, text, truth, parseJson } from './document.ts';

/**
 * The vendor of a record. A known field with an unreadable value counts as left out and is kept among the unknown fields, so that it is
 * visible, overwrites nothing and stays in `raw`.
 * @throws MirrorError `answer_unreadable` if the text is not a JSON object.
 */
export function vendorOf(vendorid: number, raw: string): Vendor {
  const record = parseJson(raw);
  if (!isMap(record))
    throw new MirrorError('answer_unreadable', `Vendor ${vendorid} is not a JSON object in the answer.`);
  const literal = hasNumberForText(record, raw) ? (parseJson(quotedNumbers(raw)) as typeof record) : record;
  const unknown = new Map<string, string>();
  const vendor: Record<string, unknown> = { vendorid, unknown };
  for (const name of Object.keys(record)) {
    if (name === 'vendorid') continue;
    const value = readers.get(name)?.(literal[name]);
    const unique = uniqueIn(name, value);
    if (unique !== value) ((vendor['repeated'] as string[] | undefined) ?? (vendor['repeated'] = [])).push(name);
    if (value !== undefined) vendor[name] = unique;
    else unknown.set(name.replaceAll('\0', ''), canonical(record[name]));
  }
  return vendor as Vendor;
}

/** A reader for each known field; it returns undefined for an unreadable value. */
const readers = byKind<(value: unknown) => unknown>({
  text,
  flag: (value) => (value === null ? null : truth(value)),
  state: (value) => states.get(value),
  balances,
  tax_defaults: taxDefaults,
});

/** A list without repeated currencies or taxes: the first of each is kept. */
function uniqueIn(name: string, value: unknown): unknown {
  if (!Array.isArray(value) || value.length < 2) return value;
  const key = name === 'tax_defaults' ? 'taxid' : 'code';
  const first = new Map<unknown, unknown>();
  for (const child of value as readonly Readonly<Record<string, unknown>>[])
    if (!first.has(child[key])) first.set(child[key], child);
  return first.size === value.length ? value : [...first.values()];
}

const states = new Map<unknown, VisState>([
  [0, 0],
  [1, 1],
  [2, 2],
  ['0', 0],
  ['1', 1],
  ['2', 2],
]);

/** Observed as `[{amount: {amount, code}}]`, documented as `{amount, code}`. Each currency occurs unique, so they are sorted by it. */
function balances(value: unknown): Balance[] | undefined {
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

/** One entry without a valid taxid makes the list unreadable: a partial list would look as if the others were removed. */
function taxDefaults(value: unknown): TaxDefault[] | undefined {
  const read = value === null ? [] : list(value)?.map(taxDefault);
  return read?.every((one) => one !== undefined) ? read.sort((a, b) => a.taxid - b.taxid) : undefined;
}

function taxDefault(value: unknown): TaxDefault | undefined {
  const taxid = identifier(member(value, 'taxid'));
  if (taxid === undefined) return undefined;
  const textOf = (name: string): string | null => text(member(value, name)) ?? null;
  return {
    taxid,
    system_taxid: identifier(member(value, 'system_taxid')) ?? null,
    enabled: truth(member(value, 'enabled')) ?? null,
    name: textOf('name'),
    amount: textOf('amount'),
    tax_authorityid: textOf('tax_authorityid'),
    created_at: textOf('created_at'),
    updated_at: textOf('updated_at'),
  };
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const textNames: ReadonlySet<string> = new Set(textFields);

/** JSON.parse turns 0.10 into 0.1: where a number is used as text, its digits must stay as received. */
function hasNumberForText(record: Readonly<Record<string, unknown>>, raw: string): boolean {
  return (
    Object.keys(record).some((name) => typeof record[name] === 'number' && textNames.has(name)) ||
    /"amount"\s*:\s*[-\d]/.test(raw)
  );
}

function quotedNumbers(raw: string): string {
  return raw.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => (token.startsWith('"') ? token : `"${token}"`));
}
