/** Access to the admin port: refuses rebound host names, pages of other sites and requests without the token, cheapest check first. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isLoopback } from '../settings/parse.ts';
import type { HttpAnswer, HttpRequest, HttpRoute } from '../http/server.ts';
import type { Secret } from '../domain/log.ts';

export interface GuardRules {
  /** `admin.host`, the address that is listened on. */
  readonly host: string;
  /** `admin.publicUrl`, under which a proxy passes requests on; null where there is none. */
  readonly publicUrl: string | null;
  /** `admin.token`; null gives access to everybody who reaches the port, which is then on this machine only. */
  readonly token: Secret | null;
}

export type Handle = HttpRoute['handle'];

/**
 * Puts the refusals before a handler: 421 for a host name that is not this machine's (a page elsewhere whose name was rebound to our
 * address), 403 for requests made by pages of other sites, 401 without the token.
 */
export function guarded(rules: GuardRules, handle: Handle): Handle {
  const isRefused = lacksToken(rules.token);
  return async (request) => {
    if (!isOurName(request.headersDistinct['host'], rules)) return refusal(421);
    if (isForeignPage(request.headers)) return refusal(403);
    if (isRefused(request.headers.authorization)) return refusal(401, { 'www-authenticate': challenge });
    return handle(request);
  };
}

/**
 * Puts a refusal before a handler that changes something: 403 for what a page of another site sends, a followed link or form included,
 * because a browser adds the password to them. Programs name no origin.
 */
export function ownPagesOnly(publicUrl: string | null, handle: Handle): Handle {
  return async (request) => {
    const { origin, host = '', 'sec-fetch-site': site = 'none' } = request.headers;
    const own = [`http://${host}`, `https://${host}`, ...(publicUrl === null ? [] : [new URL(publicUrl).origin])];
    const isOwn = origin === undefined || own.includes(origin.toLowerCase());
    if (!isOwn || (site !== 'same-origin' && site !== 'none')) return refusal(403);
    return handle(request);
  };
}

const challenge = 'Basic realm="vendor-mirror", charset="UTF-8"';

/** What a person reads who meets a refusal in a browser or with curl; none says anything about the installation. */
const reasons = {
  401: 'admin.token is required: send it as a bearer token, or as the password of HTTP Basic.',
  403: 'Requests by pages of other sites are refused.',
  421: 'This host name is not allowed. Behind a proxy, set admin.publicUrl to the address that it serves.',
} as const;

function refusal(status: keyof typeof reasons, headers: HttpAnswer['headers'] = {}): HttpAnswer {
  const plain = { 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8' };
  return { status, headers: { ...plain, ...headers }, body: `${reasons[status]}\n` };
}

/** On an address beyond this machine any name is accepted: the token is required there, and no rebound page knows it. */
function isOurName(hosts: readonly string[] | undefined, { host, publicUrl }: GuardRules): boolean {
  const [sent, ...others] = hosts ?? [];
  const name = /^(\[[0-9a-f:.]+\]|[\w.-]+)(?::\d+)?$/i.exec(sent ?? '')?.[1]?.toLowerCase();
  if (name === undefined || others.length > 0) return false;
  const isPublic = publicUrl !== null && new URL(publicUrl).hostname === name;
  return isLoopback(name) || isPublic || !isLoopback(host);
}

/** Following a link to the dashboard is no harm: it shows, does nothing, and cannot be framed. */
function isForeignPage(headers: HttpRequest['headers']): boolean {
  const site = headers['sec-fetch-site'] ?? 'none';
  const followed = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return site !== 'same-origin' && site !== 'none' && !followed;
}

/** Whether the token is missing or wrong: it is sent as a bearer token or as the password of HTTP Basic, for which browsers ask. */
function lacksToken(token: Secret | null): (authorization: string | undefined) => boolean {
  if (token === null) return () => false;
  const right = digest(token.reveal());
  return (authorization = '') => !timingSafeEqual(digest(credential(authorization)), right);
}

function credential(authorization: string): string {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return value;
  return Buffer.from(value, 'base64')
    .toString('utf8')
    .replace(/^[^:]*:/, '');
}

/** Digests are of equal length and say nothing about where two texts differ. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
