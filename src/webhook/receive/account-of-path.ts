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
  const right = equalInConstantTime(given, served?.reveal() ?? 'nobody');
  const whole = start === '' && webhooks === 'webhooks' && more.length === 0;
  return right && served && whole ? accountId : undefined;
}

/** Compares in a time that depends neither on where the texts differ nor on the length of the secret. */
function equalInConstantTime(given: string, secret: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', secret, 'buffer'));
}
