/** What a POST of the service says: a delivery, or the code of a verification. */
import { Secret } from '../domain/log.ts';
import type { Pairs } from './signature.ts';

/** The parameters of a delivery. */
export interface Delivery {
  readonly name: string;
  readonly accountId: string;
  /** Null where it is not a valid id; the same for the next three. */
  readonly objectId: number | null;
  readonly businessId: number | null;
  readonly identityId: number | null;
  readonly userId: number | null;
}

const mostKeys = 32;

/**
 * Parses a delivery. Name, account and object are required; unknown parameters only count for the signature.
 * @returns undefined where it is malformed: too many keys, a repeated key, or a required one missing.
 */
export function readDelivery(pairs: Pairs): Delivery | undefined {
  const values = new Map(pairs);
  if (pairs.length > mostKeys || values.size < pairs.length) return undefined;
  const [name, accountId, objectId] = ['name', 'account_id', 'object_id'].map((key) => values.get(key));
  if (!name || !accountId || objectId === undefined) return undefined;
  return {
    name: name.replaceAll('\0', ''),
    accountId,
    objectId: idIn(objectId),
    businessId: idIn(values.get('business_id')),
    identityId: idIn(values.get('identity_id')),
    userId: idIn(values.get('user_id')),
  };
}

function idIn(text: string | undefined): number | null {
  const id = text !== undefined && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(id) ? id : null;
}

/** The vendor to read again; null where the delivery is not about a vendor, or has no valid id. */
export function vendorOf({ name, objectId }: Delivery): number | null {
  return name.split('.', 1)[0] === 'bill_vendor' ? objectId : null;
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
const mostFields = 64;

/** Occurs in every verification: a part of its name or of the code's, or an escape that may stand for one. */
const hint = /verif|code|[%\\]/;

type Field = readonly [name: string, value: string];

/** Searches the query and the body, as form and as JSON, whatever the content type says. */
export function readHandshake(request: { query: Pairs; form: Pairs; body: Uint8Array }): Handshake {
  const { query, form, body } = request;
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  // Almost every request is a delivery, which costs no more than this.
  if (query.length === 0 && !hint.test(text)) return undefined;
  const parts = [query, form, jsonIn(text)];
  const fields = parts.flatMap((part) => [...fieldsOf(part)]);
  if (fields.length > mostFields) return undefined;
  const valueOf = (names: readonly string[]): string | undefined =>
    names.map((name) => fields.find(([field]) => field === name)?.[1]).find((value) => value !== undefined);

  const event = valueOf(['name']);
  const verifier = valueOf(verifierNames);
  if (event === undefined ? verifier === undefined : event !== verifyEvent) return undefined;
  if (verifier === undefined || !/^[\x21-\x7e]{8,256}$/.test(verifier)) return 'malformed';
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
    const inner = jsonIn(value);
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
