/**
 * Which installation answers at a public address: `/healthz` of a listener proves by a challenge that it has the same secrets, and names its
 * process, so that an address that leads back to this one is not taken for another installation.
 */
import { randomBytes } from 'node:crypto';
import { exchange, type Fetch } from '../api/http/request.ts';
import type { Clock } from '../domain/clock.ts';
import type { Secret } from '../domain/secret.ts';
import { challengeHeader, processHeader, proofHeader, proofOf } from './address.ts';

/** Milliseconds for an answer that is made of nothing. */
export const answerTimeout = 5_000;

export interface AskingDependencies {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** `ours`: with these secrets; `process` is its random name. */
export interface Answerer {
  readonly status: number;
  readonly isOurs: boolean;
  readonly process: string | null;
}

/** @param token the path token of the account; undefined where it is not known. @throws MirrorError where nothing answers. */
export async function answererAt(
  base: string,
  { account, token }: { readonly account: string; readonly token: Secret | undefined },
  { fetch, clock, signal }: AskingDependencies,
): Promise<Answerer> {
  const challenge = `${account}.${randomBytes(24).toString('base64url')}`;
  const headers = { [challengeHeader]: challenge };
  const request = { url: new URL(`${base}/healthz`), method: 'GET', headers, signal };
  const answer = await exchange(request, { fetch, clock, timeout: answerTimeout });
  const isOurs = token !== undefined && answer.headers.get(proofHeader) === proofOf(token, challenge);
  return { status: answer.status, isOurs, process: answer.headers.get(processHeader) };
}
