/**
 * Converts a vendor record from the service's JSON, in all its known variants, to a `Vendor`.
 *
 * A known field whose value is not understood is `Unreadable`: of a list, what can be read is kept. What no column holds stays in `raw`.
 */
import { decimalAmount } from '../../domain/amounts.ts';
import { parseInstant } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import {
  byKind,
  textFields,
  Unreadable,
  type Balance,
  type TaxDefault,
  type Vendor,
  type VisState,
} from '../../domain/vendor.ts';
import { isMap, JsonCursor } from '../../domain/json-cursor.ts';
import { canonical, identifier, list, member, text, truth, parseJson } from './document.ts';

/**
 * The vendor of a record. @throws MirrorError `answer_unreadable` if the text is not a JSON object.
 * @param members how many its objects have, where that was counted
 */
export function vendorOf(vendorid: number, raw: string, members?: number): Vendor {
  const record = parseJson(raw);
  if (!isMap(record))
    throw new MirrorError('answer_unreadable', `Vendor ${vendorid} is not a JSON object in the answer.`);
  const literal = hasNumberForText(record, raw) ? (parseJson(quotedNumbers(raw)) as typeof record) : record;
  const unknown = new Map<string, string>();
  const vendor: Record<string, unknown> = { vendorid, unknown };
  const ambiguous = ambiguousMembers(record, raw, members);
  const repeated: string[] = [];
  for (const key of Object.keys(record)) {
    const read = readers.get(key);
    if (read) {
      const sent = ambiguous.get(key) ?? record[key];
      const value = read(sent, ambiguous.get(key) ?? literal[key], () => repeated.push(key));
      vendor[key] = value === undefined ? unreadable(sent, null) : value;
    } else {
      // The mirror stores no NUL: a name may then be that of a known field, which this one is not.
      const name = key.replaceAll('\0', '');
      if (name !== 'vendorid' && (name === key || !readers.has(name))) unknown.set(name, canonical(record[key]));
    }
  }
  if (repeated.length > 0) vendor['repeated'] = repeated;
  return vendor as Vendor;
}

/**
 * The members that are there several times with different values, or contain one that is there several times: nobody knows which counts.
 * Each has an object with all that was sent, which no reader takes.
 */
function ambiguousMembers(record: object, raw: string, members = writtenMembers(raw)): ReadonlyMap<string, object> {
  const found = new Map<string, object>();
  if (members === membersOf(record)) return found;
  const bytes = Buffer.from(raw);
  const all = new Map<string, unknown[]>();
  const cursor = new JsonCursor(bytes, 0);
  cursor.members((written) => {
    const key = String(parseJson(`"${utf8(written)}"`));
    const from = cursor.nextStart();
    cursor.skip();
    const value = parseJson(bytes.toString('utf8', from, cursor.at));
    const sent = all.get(key) ?? [];
    all.set(key, sent);
    sent.push(value);
    const isRepeatedInside = typeof value === 'object' && value !== null && cursor.skippedMembers !== membersOf(value);
    if (isRepeatedInside || canonical(value) !== canonical(sent[0])) found.set(key, { sent });
  });
  return found;
}

/** How many members the objects of a JSON text have, repeated ones too. */
function writtenMembers(raw: string): number {
  const cursor = new JsonCursor(Buffer.from(raw), 0);
  cursor.skip();
  return cursor.skippedMembers;
}

/** How many members it and what it contains have. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner: unknown[] = Object.values(value);
  return inner.reduce<number>((sum, one) => sum + membersOf(one), Array.isArray(value) ? 0 : inner.length);
}

function utf8(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}

function unreadable<Value>(value: unknown, kept: Value): Unreadable<Value> {
  return new Unreadable(canonical(value), kept);
}

/**
 * Reads a value: `literal` is the same with its numbers as the text that was sent, and `repeat` reports a list with duplicates. Returns
 * undefined where nothing of it can be read.
 */
type FieldReader = (value: unknown, literal: unknown, repeat: () => void) => unknown;

const readers: ReadonlyMap<string, FieldReader> = byKind<FieldReader>({
  text: (_, literal) => text(literal),
  time: (value) => time(value),
  flag: (value) => (value === null ? null : truth(value)),
  state: (value) => states.get(value),
  balances: (value, literal, repeat) => {
    // Observed as `[{amount: {amount, code}}]`, documented as `{amount, code}`.
    const entries = value === null ? [] : (list(literal) ?? [literal]);
    const { read, isWhole } = readEach(entries, balance, ({ code }) => code, repeat);
    const sorted = read.sort((a, b) => order(a.code, b.code));
    return isWhole ? sorted : unreadable(value, sorted);
  },
  tax_defaults: (value, literal, repeat) => {
    const { read, isWhole } = readEach(value === null ? [] : list(literal), taxDefault, ({ taxid }) => taxid, repeat);
    const sorted = read.sort((a, b) => a.taxid - b.taxid);
    return isWhole ? sorted : unreadable(value, sorted);
  },
});

const states = new Map<unknown, VisState>([
  [0, 0],
  [1, 1],
  [2, 2],
  ['0', 0],
  ['1', 1],
  ['2', 2],
]);

const timeForm = /^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** A time as it was sent, null for none; undefined for text that is no time: programs that read the column as one would fail on it. */
function time(value: unknown): string | null | undefined {
  if (value === null || value === '') return null;
  return typeof value === 'string' && timeForm.test(value) && parseInstant(value) !== undefined ? value : undefined;
}

/** An entry of a list, and whether all of it could be read. */
interface Entry<T> {
  readonly read: T;
  readonly isWhole: boolean;
}

/** What can be read of the entries; undefined for no list. Of several with one key, the first is kept; if they differ, nobody knows what they mean together. */
function readEach<T>(
  entries: readonly unknown[] | undefined,
  readOne: (value: unknown) => Entry<T> | undefined,
  keyOf: (one: T) => unknown,
  repeat: () => void,
): { readonly read: T[]; readonly isWhole: boolean } {
  const first = new Map<unknown, T>();
  let isWhole = entries !== undefined;
  let isRepeated = false;
  for (const value of entries ?? []) {
    const entry = readOne(value);
    isWhole &&= entry?.isWhole === true;
    if (!entry) continue;
    const before = first.get(keyOf(entry.read));
    if (before === undefined) first.set(keyOf(entry.read), entry.read);
    else {
      isRepeated = true;
      isWhole &&= canonical(before) === canonical(entry.read);
    }
  }
  if (isRepeated) repeat();
  return { read: [...first.values()], isWhole };
}

/** An amount that is not a decimal number keeps its text, so that a person sees it. */
function balance(value: unknown): Entry<Balance> | undefined {
  const inner = isMap(member(value, 'amount')) ? member(value, 'amount') : value;
  const [amount, code] = [text(member(inner, 'amount')), text(member(inner, 'code'))];
  if (typeof amount !== 'string' || typeof code !== 'string' || code === '') return undefined;
  const read = { amount, code: currency(code) };
  return { read, isWhole: decimalAmount(read) !== null };
}

/** A code of ISO 4217 as it is written there, so that `eur` and `EUR ` are one currency with `EUR`; any other text as it is. */
function currency(code: string): string {
  const letters = code.trim();
  return /^[a-z]{3}$/i.test(letters) ? letters.toUpperCase() : code;
}

/** A part of a tax default that cannot be read is null; without a taxid, nothing can be kept of it. */
function taxDefault(value: unknown): Entry<TaxDefault> | undefined {
  const taxid = identifier(member(value, 'taxid'));
  if (taxid === undefined) return undefined;
  let isWhole = true;
  const part = <T>(name: string, readPart: (value: unknown) => T | null | undefined): T | null => {
    const sent = member(value, name);
    if (sent === undefined || sent === null) return null;
    const read = readPart(sent);
    isWhole &&= read !== undefined;
    return read ?? null;
  };
  const read = {
    taxid,
    system_taxid: part('system_taxid', identifier),
    enabled: part('enabled', truth),
    name: part('name', text),
    amount: part('amount', text),
    tax_authorityid: part('tax_authorityid', text),
    created_at: part('created_at', time),
    updated_at: part('updated_at', time),
  };
  return { read, isWhole };
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
