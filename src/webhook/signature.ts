/**
 * The signature of a delivery, over the ordered pairs of its form. The reference does not define the order of the keys and the escaping of
 * characters, so every plausible form is tried. None can be forged without the verifier, and because keys are unique, no two deliveries
 * have a form in common.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../domain/log.ts';

/** The order of the keys in the service's documentation. */
const documented = ['name', 'object_id', 'account_id', 'business_id', 'identity_id', 'user_id'];

const escapings = [
  { ascii: true, slash: false },
  { ascii: false, slash: false },
  { ascii: true, slash: true },
  { ascii: false, slash: true },
] as const;

const digestLength = 32;

/** Whether `signature`, the header's value, is the base64 HMAC-SHA256 of the pairs with one of the verifiers. */
export function isSigned(pairs: Pairs, signature: string, verifiers: readonly Secret[]): boolean {
  const given = digestOf(signature);
  if (!given) return false;
  for (const form of signedForms(pairs))
    for (const verifier of verifiers)
      if (timingSafeEqual(createHmac('sha256', verifier.reveal()).update(form).digest(), given)) return true;
  return false;
}

/** The texts that may have been signed, without duplicates, the most likely first: most correct deliveries need no second one. */
export function* signedForms(pairs: Pairs): Generator<string> {
  const seen = new Set<string>();
  for (const escaping of escapings)
    for (const inOrder of orders) {
      const form = pythonJson(inOrder(pairs), escaping);
      if (seen.has(form)) continue;
      seen.add(form);
      yield form;
    }
}

const orders = [(pairs: Pairs) => pairs, sorted, inDocumentedOrder];

/** By code point, like Python; JavaScript sorts by UTF-16 unit. */
function sorted(pairs: Pairs): Pairs {
  return [...pairs].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function inDocumentedOrder(pairs: Pairs): Pairs {
  const rank = ([name]: Pairs[number]): number => {
    const at = documented.indexOf(name);
    return at < 0 ? documented.length : at;
  };
  return [...pairs].sort((a, b) => rank(a) - rank(b));
}

/** The bytes of a signature; undefined unless it is the canonical base64 of exactly one digest. */
function digestOf(signature: string): Buffer | undefined {
  const bytes = Buffer.from(signature, 'base64');
  return bytes.length === digestLength && bytes.toString('base64') === signature ? bytes : undefined;
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

/** Escapes that JSON leaves open. */
export interface Escaping {
  /** Characters outside space to tilde as `\uXXXX` for each UTF-16 unit; otherwise unescaped. */
  readonly ascii: boolean;
  /** `/` as `\/`. */
  readonly slash: boolean;
}

/** JSON as Python's `json.dumps` writes it, which the service's sample signs: with a space after each colon and comma. */
function pythonJson(pairs: Pairs, { ascii, slash }: Escaping): string {
  const quote = (text: string): string => {
    const json = JSON.stringify(text);
    const written = ascii ? json.replace(/[^ -~]/g, escapeUnit) : json;
    return slash ? written.replaceAll('/', '\\/') : written;
  };
  return `{${pairs.map(([name, value]) => `${quote(name)}: ${quote(value)}`).join(', ')}}`;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
