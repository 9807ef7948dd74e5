/**
 * Proves to a holder of the same secrets that an address leads to this installation, and that deliveries arrive there unchanged: `/healthz` of
 * the listener, and a probe below `/webhooks`, answer a challenge with an HMAC by the account's path token. The token is never sent, so an
 * impostor at the address learns nothing.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Secret } from '../../domain/log.ts';
import type { PathTokens } from './account-of-path.ts';

/** Request header `ACCOUNT.NONCE`, and answer header. */
export const challengeHeader = 'x-vendor-mirror-challenge';
export const proofHeader = 'x-vendor-mirror-proof';

/** The answer to a challenge by the installation that has this path token. */
export function proofOf(token: Pick<Secret, 'reveal'>, challenge: string): string {
  return createHmac('sha256', token.reveal()).update(`vendor-mirror /healthz ${challenge}`).digest('base64url');
}

/** The parts of a probe that a delivery needs too: without either, no signature can be verified. */
export interface ProbeContent {
  readonly signature: string | undefined;
  readonly body: Uint8Array;
}

/** The path of a probe: like that of a delivery, without the path token. */
export function probePath(account: string): string {
  return `/webhooks/${account}/probe`;
}

/** What the installation with this path token answers to a probe that arrived with this content. */
export function probeProof(
  token: Pick<Secret, 'reveal'>,
  challenge: string,
  { signature, body }: ProbeContent,
): string {
  const digest = createHash('sha256').update(body).digest('hex');
  const seen = `vendor-mirror probe ${challenge} ${digest} ${signature === undefined ? 'unsigned' : `signed ${signature}`}`;
  return createHmac('sha256', token.reveal()).update(seen).digest('base64url');
}

const challengeForm = /^([\w-]{1,64})\.[\w-]{22,64}$/;

/** Unknown accounts get an answer too, so that it does not reveal which accounts are served. */
const unknownAccount = { reveal: (): string => unknownToken };
const unknownToken = randomBytes(16).toString('base64url');

/** The answer to a challenge; undefined where the header is missing or malformed. */
export function answerTo(challenge: string | string[] | undefined, tokens: PathTokens): string | undefined {
  const account = accountOf(challenge);
  return account === undefined ? undefined : proofOf(tokens.get(account) ?? unknownAccount, String(challenge));
}

/** Whether a request is a probe: by its path, and the challenge for the same account. */
export function isProbe(path: string, challenge: string | string[] | undefined): boolean {
  const account = accountOf(challenge);
  return account !== undefined && path === probePath(account);
}

/** The answer to a probe. */
export function answerToProbe(challenge: string, content: ProbeContent, tokens: PathTokens): string {
  return probeProof(tokens.get(accountOf(challenge) ?? '') ?? unknownAccount, challenge, content);
}

function accountOf(challenge: string | string[] | undefined): string | undefined {
  return typeof challenge === 'string' ? challengeForm.exec(challenge)?.[1] : undefined;
}
