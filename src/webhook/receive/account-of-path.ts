/** Finds the account of a request path, which contains an unguessable token. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../domain/log.ts';

/** Path tokens by account id. */
export type PathTokens = ReadonlyMap<string, Secret>;

/**
 * The account of a request path, compared as sent, including escapes; undefined where it matches none. An unknown account takes as long as
 * a wrong token.
 */
export function accountOfPath(path: string, tokens: PathTokens): string | undefined {
  const [start, webhooks, accountId = '', given = '', ...more] = path.split('/');
  const served = tokens.get(accountId);
  const right = timingSafeEqual(digestOf(given), served ? digestOfToken(served) : nobody);
  const whole = start === '' && webhooks === 'webhooks' && more.length === 0;
  return right && served && whole ? accountId : undefined;
}

/** Digests are compared, so the time depends neither on where the texts differ nor on the length of the secret. */
function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

const nobody = digestOf('nobody');

/** Each request needs the digest of a token, and tokens do not change. */
const digests = new WeakMap<Secret, Buffer>();

function digestOfToken(token: Secret): Buffer {
  const digest = digests.get(token) ?? digestOf(token.reveal());
  digests.set(token, digest);
  return digest;
}
