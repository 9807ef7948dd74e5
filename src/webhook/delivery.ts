/**
 * A POST of the service, read: its form, what it says (a delivery, or the code of a verification), and whether it is signed.
 *
 * A signature is over the ordered pairs of the form. The reference defines neither the order of the keys nor the escaping of characters, and
 * "a space after every colon and comma" may mean those between the values or also those in them. So every plausible form is tried, and an
 * order that is none of the plausible ones is searched for. None can be forged without the verifier. Because keys are unique, deliveries
 * that have a form in common differ at most in blanks after colons and commas, and so neither in what they are about nor in its id.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../domain/clock.ts';
import { asRegistered } from '../domain/events.ts';
import { Secret } from '../domain/secret.ts';
import type { KeyOrder, Verifiers } from '../store/secrets/verifiers.ts';

/** Parses a form body (WHATWG URL, urlencoded) into ordered pairs, because the signature depends on the order of the values. */
export type Pairs = readonly (readonly [name: string, value: string])[];

/** Strict: invalid UTF-8 throws; a byte order mark is kept as a character. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const escaped = /[%+\x80-\xff]/;

/** The pairs of a body in order; undefined where a name or value is not UTF-8. An invalid escape is kept as it is. */
export function parseForm(body: Uint8Array): Pairs | undefined {
  // One character for each byte, until escapes are decoded.
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  try {
    return bytes
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => {
        const equals = pair.indexOf('=');
        return equals < 0 ? [decode(pair), ''] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
      });
  } catch {
    return undefined;
  }
}

function decode(text: string): string {
  // Most names and values are plain ASCII and need no decoding.
  if (!escaped.test(text)) return text;
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return utf8.decode(Buffer.from(bytes, 'latin1'));
}

export interface Delivery {
  readonly name: string;
  readonly accountId: string;
  /** Null where it is not a valid id; the same for the next three. */
  readonly objectId: number | null;
  readonly businessId: number | null;
  readonly identityId: number | null;
  readonly userId: number | null;
}

const maxKeys = 32;

/**
 * Parses a delivery. Name and account are required; unknown parameters only count for the signature.
 * @returns undefined where it is malformed: too many keys, a repeated key, or a required one missing.
 */
export function readDelivery(pairs: Pairs): Delivery | undefined {
  const values = new Map(pairs);
  if (pairs.length > maxKeys || values.size < pairs.length) return undefined;
  const [name, accountId] = [values.get('name'), values.get('account_id')];
  if (!name || !accountId) return undefined;
  return {
    name: asRegistered(name.replaceAll('\0', '')),
    accountId,
    objectId: idIn(values.get('object_id')),
    businessId: idIn(values.get('business_id')),
    identityId: idIn(values.get('identity_id')),
    userId: idIn(values.get('user_id')),
  };
}

function idIn(text: string | undefined): number | null {
  const id = text !== undefined && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(id) ? id : null;
}

/**
 * Finds the code in a verification POST. The service does not document its form, so it may be a form (as captured), JSON or a query, flat
 * or nested: `callback[verifier]`, `callback.verifier`, JSON in a form field. Only the names of the fields count, not where they are.
 */
export interface Code {
  readonly verifier: Secret;
  /** The callback of the code; null where the request does not name one. */
  readonly callbackid: number | null;
  /** The account that the request names, if any. */
  readonly accountId: string | undefined;
}

/** `malformed`: a verification without a usable code; undefined: not a verification. */
export type Handshake = Code | 'malformed' | undefined;

const verifyEvent = 'callback.verify';
const verifierNames = ['verifier', 'verification_code', 'code'];
const callbackNames = ['callbackid', 'callback_id', 'object_id', 'id'];

const deepest = 6;
const maxFields = 64;

/** Occurs in every verification: a part of its name or of the code's, or an escape that may stand for one. */
const hint = /verif|code|[%\\]/;

type Field = readonly [name: string, value: string];

/** Searches the query and the body, as form and as JSON, whatever the content type says. */
export function readHandshake(request: { query: Pairs; form: Pairs; body: Uint8Array }): Handshake {
  const { query, form, body } = request;
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  // Almost every request is a delivery, which costs no more than this.
  if (query.length === 0 && !hint.test(text)) return undefined;
  // A code in JSON may contain what separates the fields of a form.
  const parts = [query, jsonIn(text) ?? form];
  const fields = parts.flatMap((part) => [...fieldsOf(part)]);
  if (fields.length > maxFields) return undefined;
  const valueOf = (names: readonly string[]): string | undefined =>
    names.map((name) => fields.find(([field]) => field === name)?.[1]).find((value) => value !== undefined);

  const event = valueOf(['name']);
  const verifier = valueOf(verifierNames);
  if (event === undefined ? verifier === undefined : event !== verifyEvent) return undefined;
  if (verifier === undefined || verifier === '') return 'malformed';
  const callbackid = Number(valueOf(callbackNames));
  return {
    verifier: new Secret(verifier),
    callbackid: Number.isSafeInteger(callbackid) && callbackid > 0 ? callbackid : null,
    accountId: valueOf(['account_id']),
  };
}

/** All plain values of a parsed body, by the last part of their names. */
function* fieldsOf(value: unknown, name = '', depth = 0): Generator<Field> {
  if (depth > deepest || value === null || value === undefined) return;
  if (typeof value === 'string') {
    // A code may have any form, also one that looks like JSON.
    const inner = verifierNames.includes(name) ? undefined : jsonIn(value);
    if (inner === undefined) yield [name, value];
    else yield* fieldsOf(inner, name, depth + 1);
  } else if (typeof value === 'object') {
    for (const [key, item] of entriesOf(value)) yield* fieldsOf(item, lastPart(key), depth + 1);
  } else if (typeof value === 'number') yield [name, String(value)];
}

/** The entries of an object, or of a list of pairs. */
function entriesOf(value: object): Iterable<readonly [string, unknown]> {
  const isPairs = Array.isArray(value) && value.every((item) => Array.isArray(item) && typeof item[0] === 'string');
  return isPairs ? (value as [string, unknown][]) : Object.entries(value);
}

/** `verifier` of `callback[verifier]`, of `callback.verifier`, and of itself. */
function lastPart(name: string): string {
  return (
    name
      .split(/[[\].]/)
      .filter((part) => part !== '')
      .at(-1) ?? ''
  );
}

/** The object or list in a JSON text; undefined where there is none. */
function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The order of the keys in the service's documentation. */
const documented = ['name', 'object_id', 'account_id', 'business_id', 'identity_id', 'user_id'];

/** What JSON and the reference leave open, the most likely first. */
const spellings = [false, true].flatMap((inner) =>
  [false, true].flatMap((slash) => [true, false].map((ascii): Spelling => ({ ascii, slash, inner }))),
);

const digestLength = 32;

/**
 * Whether `signature`, the header's value, is the base64 HMAC-SHA256 of the pairs with one of the verifiers.
 * @param learned orders of keys to try besides the usual ones
 */
export function isSigned(
  pairs: Pairs,
  signature: string,
  verifiers: readonly Secret[],
  learned: readonly KeyOrder[] = [],
): boolean {
  const given = digestOf(signature);
  if (!given) return false;
  for (const form of signedForms(pairs, learned))
    for (const verifier of verifiers) if (fits(given, form, verifier)) return true;
  return false;
}

function fits(given: Buffer, form: string, verifier: Secret): boolean {
  return timingSafeEqual(createHmac('sha256', verifier.reveal()).update(form).digest(), given);
}

/** The texts that may have been signed, without duplicates, the most likely first: most correct deliveries need no second one. */
export function* signedForms(pairs: Pairs, learned: readonly KeyOrder[] = []): Generator<string> {
  const seen = new Set<string>();
  const orders = [pairs, sorted(pairs), inOrder(pairs, documented), ...learned.map((order) => inOrder(pairs, order))];
  for (const spelling of spellings)
    for (const ordered of orders) {
      const form = pythonJson(ordered.map((pair) => spelled(pair, spelling)));
      if (seen.has(form)) continue;
      seen.add(form);
      yield form;
    }
}

/** By code point, like Python; JavaScript sorts by UTF-16 unit. */
function sorted(pairs: Pairs): Pairs {
  return [...pairs].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** Keys that the order does not name come last, as they arrived. */
function inOrder(pairs: Pairs, order: KeyOrder): Pairs {
  const rank = ([name]: Pairs[number]): number => {
    const at = order.indexOf(name);
    return at < 0 ? order.length : at;
  };
  return [...pairs].sort((a, b) => rank(a) - rank(b));
}

/** The most keys whose orders are searched: 7 have 5,040. */
const maxSearchedKeys = 7;
/** The most digests of one search: every order and spelling with three verifiers. They take less than a second, with pauses. */
const maxDigests = 3 * 8 * 5_040;
const digestsAtOnce = 500;
/** Anyone who learns a callback's address can cause searches, so an account has one a minute. */
const timeBetweenSearches = 60_000;

/** Where orders that were found outlast the process. */
export type FoundOrders = Pick<Verifiers, 'keyOrders' | 'keepKeyOrder'>;

/**
 * Checks signatures, and learns in which order this service signs keys. Where no usual form fits, all orders are tried, in pieces between
 * which others have their turn. The order that fits is the service's, so it serves all accounts and keys. It is on disk before it is used:
 * a delivery that was accepted in an order is not the last one, neither after a restart nor at another process that takes deliveries, nor where
 * others use up the searches.
 */
export class SignatureCheck {
  readonly #clock: Clock;
  readonly #store: FoundOrders;
  #learned: readonly KeyOrder[] = [];
  /** The last search of each account. */
  readonly #searches = new Map<string, { readonly begun: number; readonly ended: Promise<void> }>();

  constructor(clock: Clock, store: FoundOrders) {
    this.#clock = clock;
    this.#store = store;
  }

  /** @throws MirrorError where the orders cannot be read, or one that fits cannot be kept; the next delivery tries again. */
  async isSigned(accountId: string, pairs: Pairs, signature: string, verifiers: readonly Secret[]): Promise<boolean> {
    const known = this.#learned;
    if (isSigned(pairs, signature, verifiers, known)) return true;
    const given = digestOf(signature);
    if (!given || verifiers.length === 0) return false;
    const kept = await this.#store.keyOrders();
    // Another delivery may have found one more meanwhile.
    if (this.#learned === known) this.#learned = kept;
    if (isSigned(pairs, signature, verifiers, this.#learned)) return true;
    const last = this.#searches.get(accountId);
    if (last && this.#clock.monotonic() - last.begun < timeBetweenSearches) await last.ended;
    else {
      const ended = this.#search(pairs, given, verifiers);
      this.#searches.set(accountId, { begun: this.#clock.monotonic(), ended });
      try {
        await ended;
      } catch (error) {
        this.#searches.delete(accountId);
        throw error;
      }
    }
    return isSigned(pairs, signature, verifiers, this.#learned);
  }

  async #search(pairs: Pairs, given: Buffer, verifiers: readonly Secret[]): Promise<void> {
    if (pairs.length > maxSearchedKeys) return;
    const seen = new Set<string>();
    let digests = 0;
    for (const spelling of spellings) {
      const parts = pairs.map((pair) => spelled(pair, spelling));
      if (seen.has(pythonJson(parts))) continue;
      seen.add(pythonJson(parts));
      for (const order of permutations(pairs.length)) {
        const form = pythonJson(order.map((index) => parts[index] ?? ''));
        if (verifiers.some((verifier) => fits(given, form, verifier))) {
          const names = order.map((index) => pairs[index]?.[0] ?? '');
          await this.#store.keepKeyOrder(names);
          this.#learned = await this.#store.keyOrders();
          return;
        }
        const before = digests;
        digests += verifiers.length;
        if (digests >= maxDigests) return;
        if (Math.floor(before / digestsAtOnce) < Math.floor(digests / digestsAtOnce)) await this.#clock.yield();
      }
    }
  }
}

/** All orders of the numbers from 0 up to `count` (Heap's algorithm); each is valid until the next is asked for. */
function* permutations(count: number): Generator<readonly number[]> {
  const order = Array.from({ length: count }, (_, index) => index);
  const turns = order.map(() => 0);
  yield order;
  for (let level = 0; level < count;) {
    const turn = turns[level] ?? 0;
    if (turn === level) {
      turns[level] = 0;
      level += 1;
      continue;
    }
    const other = level % 2 === 0 ? 0 : turn;
    [order[other], order[level]] = [order[level] ?? 0, order[other] ?? 0];
    yield order;
    turns[level] = turn + 1;
    level = 0;
  }
}

/** The bytes of a signature; undefined unless it is the canonical base64 of exactly one digest. */
function digestOf(signature: string): Buffer | undefined {
  const bytes = Buffer.from(signature, 'base64');
  return bytes.length === digestLength && bytes.toString('base64') === signature ? bytes : undefined;
}

/** Whether a signature has the form of one, whatever it signs. */
export function isDigest(signature: string): boolean {
  return digestOf(signature) !== undefined;
}

/** Finds the signature header: its name contains the name of the service. */
const pattern = /^x-.+-hmac-sha256$/i;

/**
 * The value of the signature header; undefined unless there is exactly one.
 * @param headers names and values in turn, as they were received
 * @param signatureHeader the name of the header, or `auto` to detect it
 */
export function signatureIn(headers: readonly string[], signatureHeader: string): string | undefined {
  const wanted = signatureHeader.toLowerCase();
  const isSignature = (name: string): boolean =>
    signatureHeader === 'auto' ? pattern.test(name) : name.toLowerCase() === wanted;
  const values = headers.filter((_, index) => index % 2 === 1 && isSignature(headers[index - 1] ?? ''));
  return values.length === 1 ? values[0] : undefined;
}

/** The names of headers that look like a signature, for a person who wonders why none was found. */
export function signatureNames(headers: readonly string[]): string {
  const looks = headers.filter((name, index) => index % 2 === 0 && /signature|hmac/i.test(name));
  const names = [...new Set(looks.map((name) => name.toLowerCase().slice(0, maxName)))].slice(0, maxNames);
  if (names.length === 0) return 'no header looks like one';
  return looks.length === 1 ? `${names.join()} came instead` : `several came: ${names.join(', ')}`;
}

const [maxNames, maxName] = [3, 64];

/** What may differ between two texts of the same pairs in the same order. */
export interface Spelling {
  /** Characters outside space to tilde as `\uXXXX` for each UTF-16 unit; otherwise unescaped. */
  readonly ascii: boolean;
  /** `/` as `\/`. */
  readonly slash: boolean;
  /** A space also after each colon and comma inside names and values. */
  readonly inner: boolean;
}

/** JSON as Python's `json.dumps` writes it, which the service's sample signs: with a space after each colon and comma. */
function pythonJson(members: readonly string[]): string {
  return `{${members.join(', ')}}`;
}

/** One member of the object. */
function spelled([name, value]: Pairs[number], { ascii, slash, inner }: Spelling): string {
  const quote = (text: string): string => {
    const spaced = inner ? text.replace(/[:,]/g, '$& ') : text;
    const json = JSON.stringify(spaced);
    const written = ascii ? json.replace(/[^ -~]/g, escapeUnit) : json;
    return slash ? written.replaceAll('/', '\\/') : written;
  };
  return `${quote(name)}: ${quote(value)}`;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
