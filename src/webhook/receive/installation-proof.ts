/**
 * Proves to a holder of the same secrets that an address leads to this installation: `/healthz` of the listener answers a challenge with an
 * HMAC by the account's path token. The token is never sent, so an impostor at the address learns nothing.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Secret } from '../../domain/log.ts';
import type { PathTokens } from './account-of-path.ts';

/** Request header `ACCOUNT.NONCE`, and answer header. */
export const challengeHeader = 'x-vendor-mirror-challenge';
export const proofHeader = 'x-vendor-mirror-proof';

/** The answer to a challenge by the installation that has this path token. */
export function proofOf(token: Pick<Secret, 'reveal'>, challenge: string): string {
  return createHmac('sha256', token.reveal()).update(`vendor-mirror /healthz ${challenge}`).digest('base64url');
}

const challengeForm = /^([\w-]{1,64})\.[\w-]{22,64}$/;

/** Unknown accounts get an answer too, so that it does not reveal which accounts are served. */
const nobody = { reveal: (): string => nobodysToken };
const nobodysToken = randomBytes(16).toString('base64url');

/** The answer to a challenge; undefined where the header is missing or malformed. */
export function answerTo(challenge: string | string[] | undefined, tokens: PathTokens): string | undefined {
  const account = typeof challenge === 'string' ? challengeForm.exec(challenge)?.[1] : undefined;
  return account === undefined ? undefined : proofOf(tokens.get(account) ?? nobody, String(challenge));
}
