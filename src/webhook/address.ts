/**
 * Callback addresses, `{publicUrl}/webhooks/{account_id}/{path token}`: made, found in a request, and proven to lead to this installation. It
 * proves that by a challenge at `/healthz`, which also names its process, so that an address that leads back to this one is not taken for another
 * installation.
 */
import { createHash, createHmac, hash, timingSafeEqual, randomBytes } from 'node:crypto';
import { isAboutVendors } from '../domain/events.ts';
import type { Secret } from '../domain/secret.ts';
import { exchange, type Fetch } from '../api/http/request.ts';
import type { Clock } from '../domain/clock.ts';

/** The common prefix of an account's callback addresses. */
export function addressPrefix(publicUrl: string, accountId: string): string {
  return `${publicUrl}/webhooks/${accountId}/`;
}

/**
 * What all spellings of an address have in common: a service may write the host in another case, name the default port, escape what needs no
 * escape, and add a slash.
 */
function plainAddress(uri: string): string {
  return plainPath(URL.canParse(uri) ? new URL(uri).href : uri);
}

function plainPath(path: string): string {
  const unescaped = path.replaceAll(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(parseInt(escape.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase();
  });
  return unescaped.replace(/\/$/, '');
}

/** Whether two addresses are one, however each is spelled. */
export function isSameAddress(one: string, other: string): boolean {
  return plainAddress(one) === plainAddress(other);
}

/** Whether an address is one of an account below a public address, however that is spelled. */
export function isBelow(uri: string, publicUrl: string, accountId: string): boolean {
  const prefix = plainAddress(addressPrefix(publicUrl, accountId));
  return `${plainAddress(uri)}/`.startsWith(`${prefix}/`);
}

/** The public address, where callbacks of the account are registered and none of them leads there; null otherwise. */
export function movedTo(
  publicUrl: string | null,
  accountId: string,
  callbacks: readonly { readonly event: string; readonly uri: string }[],
): string | null {
  const ours = callbacks.filter(({ event }) => isAboutVendors(event));
  if (publicUrl === null || ours.length === 0) return null;
  return ours.some(({ uri }) => isBelow(uri, publicUrl, accountId)) ? null : publicUrl;
}

/** The address to register. It contains the path token, which is secret. */
export function callbackAddress(publicUrl: string, accountId: string, pathToken: Secret): string {
  return addressPrefix(publicUrl, accountId) + pathToken.reveal();
}

/** Whether this installation made the address, whatever its host: only it knows the path token. */
export function containsToken(uri: string, accountId: string, pathToken: Secret): boolean {
  return plainAddress(uri).endsWith(plainPath(`/webhooks/${accountId}/${pathToken.reveal()}`));
}

/** The address without its path token, for display; one that has none already stays as it is. */
export function withoutToken(uri: string): string {
  const [below] = /^.*\/webhooks\/[^/]+\//.exec(plainAddress(uri) + '/') ?? [];
  return below ?? uri.slice(0, uri.lastIndexOf('/') + 1);
}

/** Path tokens by account id. */
export type PathTokens = ReadonlyMap<string, Secret>;

/**
 * The account of a request path, however that is spelled; undefined where it matches none. An unknown account takes as long as a wrong token.
 */
export function accountOfPath(path: string, tokens: PathTokens): string | undefined {
  const [start, webhooks, accountId = '', given = '', ...more] = plainPath(path).split('/');
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

/**
 * Proves to a holder of the same secrets that an address leads to this installation, and that deliveries arrive there unchanged: `/healthz` of
 * the listener, and a probe below `/webhooks`, answer a challenge with an HMAC by the account's path token. The token is never sent, so an
 * impostor at the address learns nothing.
 */

/** Request header `ACCOUNT.NONCE`, and answer header. */
export const challengeHeader = 'x-vendor-mirror-challenge';
export const proofHeader = 'x-vendor-mirror-proof';

/** Answer header beside the proof: a random name of the process that answered. */
export const processHeader = 'x-vendor-mirror-process';

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

/** The account of no one, which no address can name. With its stored path token, challenges for accounts that are not served are answered. */
export const nobodysAccount = '';

/** By what challenges are answered. Unknown accounts get an answer too, the same after each start: it does not reveal which accounts are served. */
export interface ProofTokens {
  readonly tokens: PathTokens;
  readonly nobodysToken: Secret;
}

/** The answer to a challenge; undefined where the header is missing or malformed. */
export function answerTo(challenge: string | string[] | undefined, by: ProofTokens): string | undefined {
  const account = accountOf(challenge);
  return account === undefined ? undefined : proofOf(by.tokens.get(account) ?? by.nobodysToken, String(challenge));
}

/** Whether a request is a probe: by its path, and the challenge for the same account. */
export function isProbe(path: string, challenge: string | string[] | undefined): boolean {
  const account = accountOf(challenge);
  return account !== undefined && path === probePath(account);
}

export function answerToProbe(challenge: string, content: ProbeContent, by: ProofTokens): string {
  return probeProof(by.tokens.get(accountOf(challenge) ?? '') ?? by.nobodysToken, challenge, content);
}

function accountOf(challenge: string | string[] | undefined): string | undefined {
  return typeof challenge === 'string' ? challengeForm.exec(challenge)?.[1] : undefined;
}

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
