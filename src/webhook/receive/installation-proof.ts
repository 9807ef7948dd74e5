/**
 * How somebody who shares the secrets of this installation learns that an address leads to it: the listener's `/healthz` answers a challenge
 * with what only the path token of an account could make of it. The token itself is never sent, so that a stranger at the address learns nothing.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Secret } from '../../domain/log.ts';
import type { PathTokens } from './account-of-path.ts';

/** Header of the request, `ACCOUNT.NONCE`, and of the answer. */
export const challengeHeader = 'x-vendor-mirror-challenge';
export const proofHeader = 'x-vendor-mirror-proof';

/** What the installation with this path token answers to a challenge. */
export function proofOf(token: Pick<Secret, 'reveal'>, challenge: string): string {
  return createHmac('sha256', token.reveal()).update(`vendor-mirror /healthz ${challenge}`).digest('base64url');
}

const challengeForm = /^([\w-]{1,64})\.[\w-]{22,64}$/;

/** An account that is not served gets an answer too, so that nobody learns from it which are. */
const nobody = { reveal: (): string => nobodysToken };
const nobodysToken = randomBytes(16).toString('base64url');

/** The answer to a challenge; undefined where it is none. */
export function answerTo(challenge: string | string[] | undefined, tokens: PathTokens): string | undefined {
  const account = typeof challenge === 'string' ? challengeForm.exec(challenge)?.[1] : undefined;
  return account === undefined ? undefined : proofOf(tokens.get(account) ?? nobody, String(challenge));
}
