/** Which account a path belongs to: each account is behind a path that nobody can guess. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../domain/log.ts';

/** Accounts by id, with their path tokens. */
export type PathTokens = ReadonlyMap<string, Secret>;

/**
 * The account that a request's path leads to, compared as it was sent, escapes and all; undefined where it leads nowhere. An account
 * that is not served costs the same time as a token that is wrong.
 */
export function accountBehind(path: string, tokens: PathTokens): string | undefined {
  const [start, webhooks, accountId = '', given = '', ...more] = path.split('/');
  const served = tokens.get(accountId);
  const right = equalSecretly(given, served?.reveal() ?? 'nobody');
  const whole = start === '' && webhooks === 'webhooks' && more.length === 0;
  return right && served && whole ? accountId : undefined;
}

/** Compares in a time that tells nothing of where two texts differ, nor of how long the secret is. */
function equalSecretly(given: string, secret: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', secret, 'buffer'));
}
