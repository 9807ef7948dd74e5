/**
 * How an application gets tokens: the page where a person allows it, and new tokens for a code or a refresh token, each of which works
 * once, and only for the application that got it. Tokens have the scopes that were asked for, and allowed. And who a token is, and which
 * accounts it opens: the only place where the service tells the ids of accounts.
 */
import { createHash } from 'node:crypto';
import { allScopes, type Access, requireScope, profileRead, type Grant } from '../core/access.ts';
import type { Client } from '../core/memory.ts';
import type { SeededRandom } from '../core/random.ts';
import { type Reply, unsupported } from '../core/reply.ts';
import { headerOf, type SandboxRequest } from './sandbox-call.ts';
import type { World } from '../core/worlds.ts';

export const tokenPath = '/auth/oauth/token';

const usualLifetime = 43_200;

/** Who gets tokens, with which lifetime and scopes. */
export interface TokenTerms {
  /** In seconds; default: twelve hours. */
  readonly lifetime?: number | undefined;
  /** Those that there are; default: all. */
  readonly scopes?: readonly string[] | undefined;
  /** The only application; default: any. */
  readonly client?: { readonly id: string; readonly secret?: string | undefined } | undefined;
}

/** Why there is no token. */
type Refused = 'invalid_client' | 'invalid_grant' | 'invalid_scope' | 'unsupported_grant_type';

const hex = '0123456789abcdef';

/** A new pair of tokens; takes a form or JSON, and the application's secret in it or as HTTP Basic. */
export function answerToken(
  request: SandboxRequest,
  access: Access,
  terms: TokenTerms,
  now: number,
  random: SeededRandom,
): Reply {
  if (request.method !== 'POST')
    return { ...refused(405, 'invalid_request', 'A token is asked for with POST.'), headers: { allow: 'POST' } };
  const parameters = parametersOf(request);
  const client = clientOf(request, parameters);
  const granted = isAllowed(client, terms) ? grantOf(parameters, { client, access, terms, now }) : 'invalid_client';
  if (typeof granted === 'string') return refusedGrant(granted);

  const { lifetime = usualLifetime } = terms;
  const [accessToken, refreshToken] = [random.text(64, hex), random.text(64, hex)];
  access.forgetExpired(now);
  access.grant(accessToken, granted.scopes, undefined, now + lifetime * 1_000);
  access.allowRefresh(refreshToken, { scopes: granted.allScopes, client });
  return {
    status: 200,
    payload: {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: lifetime,
      refresh_token: refreshToken,
      scope: granted.scopes.join(' '),
      created_at: Math.floor(now / 1_000),
      direct_buy_tokens: {},
    },
  };
}

export const revokePath = '/auth/oauth/revoke';

/** Makes a token invalid, of either kind; one that is not known is as good as revoked. */
export function answerRevoke(request: SandboxRequest, access: Access, terms: TokenTerms): Reply {
  if (request.method !== 'POST')
    return { ...refused(405, 'invalid_request', 'A token is revoked with POST.'), headers: { allow: 'POST' } };
  const parameters = parametersOf(request);
  const client = clientOf(request, parameters);
  const token = parameters.get('token') ?? '';
  const issued = access.refreshOf(token);
  const isOthers = issued !== undefined && issued !== 'anybody' && !isSame(issued.client, client);
  if (isOthers || !isAllowed(client, terms)) return refusedGrant('invalid_client');
  access.revoke(token);
  access.takeRefresh(token);
  return { status: 200, payload: {} };
}

/** The application that asks, by its own words. */
function clientOf(request: SandboxRequest, parameters: URLSearchParams): Client {
  const [, basic] = /^Basic +(\S+)$/i.exec(headerOf(request, 'authorization') ?? '') ?? [];
  if (basic === undefined)
    return { id: parameters.get('client_id') ?? '', secret: digestOf(parameters.get('client_secret') ?? '') };
  // Both parts are encoded as in a form.
  const [id = '', secret = ''] = Buffer.from(basic, 'base64')
    .toString('utf8')
    .split(/:(.*)/s, 2)
    .map((part) => new URLSearchParams(`part=${part}`).get('part') ?? '');
  return { id, secret: digestOf(secret) };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function isAllowed(client: Client, { client: only }: TokenTerms): boolean {
  if (!only) return true;
  return client.id === only.id && (only.secret === undefined || client.secret === digestOf(only.secret));
}

function isSame(one: Client, other: Client): boolean {
  return one.id === other.id && one.secret === other.secret;
}

interface Asking {
  readonly client: Client;
  readonly access: Access;
  readonly terms: TokenTerms;
  readonly now: number;
}

/** Scopes of the access token, and of later ones. */
interface Granted {
  readonly scopes: readonly string[];
  readonly allScopes: readonly string[];
}

function grantOf(parameters: URLSearchParams, asking: Asking): Granted | Refused {
  const type = parameters.get('grant_type');
  if (type === 'refresh_token') return ofRefreshToken(parameters, asking);
  return type === 'authorization_code' ? ofCode(parameters, asking) : 'unsupported_grant_type';
}

function ofRefreshToken(parameters: URLSearchParams, { client, access, terms }: Asking): Granted | Refused {
  const token = parameters.get('refresh_token') ?? '';
  const issued = access.refreshOf(token);
  if (!issued) return 'invalid_grant';
  if (issued !== 'anybody' && !isSame(issued.client, client))
    return issued.client.id === client.id ? 'invalid_client' : 'invalid_grant';
  const all = issued === 'anybody' ? (terms.scopes ?? allScopes) : issued.scopes;
  const scopes = scopesIn(parameters, all);
  if (!scopes) return 'invalid_scope';
  access.takeRefresh(token);
  return { scopes, allScopes: all };
}

function ofCode(parameters: URLSearchParams, { client, access, now }: Asking): Granted | Refused {
  const issued = access.takeCode(parameters.get('code') ?? '');
  const verifier = parameters.get('code_verifier') ?? '';
  const isRight =
    issued !== undefined &&
    issued.expires > now &&
    issued.clientId === client.id &&
    issued.redirectUri === parameters.get('redirect_uri') &&
    (issued.challenge === null || issued.challenge === digestOf(verifier));
  return isRight ? { scopes: issued.scopes, allScopes: issued.scopes } : 'invalid_grant';
}

/** The scopes that are asked for, all of them by default; undefined if one is not among them. */
function scopesIn(parameters: URLSearchParams, all: readonly string[]): readonly string[] | undefined {
  const asked = (parameters.get('scope') ?? '').split(/\s+/).filter((scope) => scope !== '');
  if (asked.length === 0) return all;
  return asked.every((scope) => all.includes(scope)) ? asked : undefined;
}

const reasons: Readonly<Record<Refused, string>> = {
  invalid_client:
    'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.',
  invalid_grant: 'The provided authorization grant is invalid, expired, or revoked.',
  invalid_scope: 'The requested scope is invalid, unknown, or malformed.',
  unsupported_grant_type: 'The authorization grant type is not supported.',
};

function refusedGrant(error: Refused): Reply {
  return refused(error === 'invalid_client' ? 401 : 400, error, reasons[error]);
}

function parametersOf(request: SandboxRequest): URLSearchParams {
  const text = Buffer.from(request.body).toString('utf8');
  if (!headerOf(request, 'content-type')?.startsWith('application/json')) return new URLSearchParams(text);
  try {
    return new URLSearchParams(JSON.parse(text) as Record<string, string>);
  } catch {
    return new URLSearchParams();
  }
}

function refused(status: number, error: string, error_description: string): Reply {
  return { status, payload: { error, error_description } };
}

/** The page where a person allows an application to use the service: it sends the browser back with a code that works once. */
export const authorizePath = '/auth/oauth/authorize';

/** Milliseconds. */
const codeLifetime = 600_000;

/** GET shows the page; POST, its button, answers with a redirect. */
export function answerAuthorize(
  request: SandboxRequest,
  access: Access,
  { scopes: known = allScopes, client }: TokenTerms,
  now: number,
  random: SeededRandom,
): Reply {
  if (request.method !== 'GET' && request.method !== 'POST')
    return { status: 405, html: page('Only GET and POST.'), headers: { allow: 'GET, POST' } };
  const asked = request.method === 'GET' ? request.query : parametersOf(request);
  const [clientId, redirectUri] = [asked.get('client_id') ?? '', asked.get('redirect_uri') ?? ''];
  if (asked.get('response_type') !== 'code' || clientId === '' || !URL.canParse(redirectUri))
    return { status: 400, html: page('The request lacks response_type=code, client_id or redirect_uri.') };
  if (client && client.id !== clientId)
    return { status: 400, html: page('There is no application of this client_id.') };
  const scopes = scopesIn(asked, known);
  if (scopes && request.method === 'GET') return { status: 200, html: question(clientId, asked, scopes) };

  const back = new URL(redirectUri);
  const state = asked.get('state');
  if (state !== null) back.searchParams.set('state', state);
  if (!scopes) back.searchParams.set('error', 'invalid_scope');
  else if (asked.get('decision') === 'allow') {
    const code = random.text(64, hex);
    const challenge = asked.get('code_challenge');
    access.issueCode(code, { clientId, redirectUri, scopes, challenge, expires: now + codeLifetime });
    back.searchParams.set('code', code);
  } else back.searchParams.set('error', 'access_denied');
  return { status: 302, headers: { location: back.href } };
}

function question(clientId: string, asked: URLSearchParams, scopes: readonly string[]): string {
  const fields = [...asked].map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  );
  return page(
    `May <strong>${escaped(clientId)}</strong> use this sandbox? It gets the scopes ${scopes.map(escaped).join(', ')}.</p>` +
      `<form method="post" action="${authorizePath}">${fields.join('')}` +
      '<button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button></form><p>',
  );
}

function page(html: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sandbox</title><p>${html}</p></html>\n`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export const identityPath = '/auth/api/v1/users/me';

/** @throws Refusal for another method than GET, and without the scope. */
export function answerIdentity(method: string, grant: Grant, accounts: readonly string[], world: World): Reply {
  if (method !== 'GET') throw unsupported(method, ['GET']);
  requireScope(grant, profileRead);
  const opened = accounts.filter((account) => grant.accounts?.has(account) ?? true);
  const isNull = world.accountIds === 'roles';
  return {
    status: 200,
    payload: {
      response: {
        id: 2_192_788,
        first_name: 'Jo',
        last_name: 'Doe',
        email: 'jo@example.com',
        ...{ phone_numbers: [], addresses: [], groups: [], profession: null },
        ...{ links: {}, permissions: {}, subscription_statuses: {} },
        business_memberships: opened.map((account, index) => ({
          id: 168_372 + index,
          role: 'owner',
          business: {
            id: 77_128 + index,
            name: `Business ${account}`,
            account_id: isNull ? null : account,
            ...{ address: null, phone_number: null, business_clients: [] },
          },
        })),
        roles: opened.map((account, index) => ({
          id: 682_349 + index,
          role: 'admin',
          systemid: 1,
          userid: 1,
          accountid: account,
          created_at: '2020-10-09T15:25:05Z',
          links: {},
        })),
      },
    },
  };
}
