/**
 * Verifies the signature of a delivery. The reference does not define the order of the keys and the escaping of characters, so every
 * plausible form is tried. None can be forged without the verifier, and because keys are unique, no two deliveries have a form in common.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../domain/log.ts';
import type { Pairs } from './form.ts';
import { pythonJson } from './python-json.ts';

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
