/**
 * How an application gets tokens: the page where a person allows it, and new tokens for a code or a refresh token, each of which works
 * once.
 */
import { createHash } from 'node:crypto';
import { allScopes, type Access } from '../core/access.ts';
import type { SeededRandom } from '../core/random.ts';
import type { Reply } from '../core/reply.ts';
import { headerOf, type SandboxRequest } from './sandbox-call.ts';

export const tokenPath = '/auth/oauth/token';

const usualLifetime = 43_200;

/** Lifetime and scopes of new tokens. */
export interface TokenTerms {
  /** In seconds; default: twelve hours. */
  readonly lifetime?: number | undefined;
  /** Default: all. */
  readonly scopes?: readonly string[] | undefined;
}

const hex = '0123456789abcdef';

/** A new pair of tokens, or `invalid_grant`; takes a form or JSON. */
export function answerToken(
  request: SandboxRequest,
  access: Access,
  { lifetime = usualLifetime, scopes = allScopes }: TokenTerms,
  now: number,
  random: SeededRandom,
): Reply {
  if (request.method !== 'POST')
    return { ...refused(405, 'invalid_request', 'A token is asked for with POST.'), headers: { allow: 'POST' } };
  const parameters = parametersOf(request);
  const granted = grants[parameters.get('grant_type') ?? '']?.(parameters, access, now);
  if (granted === undefined)
    return refused(400, 'unsupported_grant_type', 'The authorization grant type is not supported.');
  if (!granted)
    return refused(400, 'invalid_grant', 'The provided authorization grant is invalid, expired, or revoked.');

  const [accessToken, refreshToken] = [random.text(64, hex), random.text(64, hex)];
  access.forgetExpired(now);
  access.grant(accessToken, scopes, undefined, now + lifetime * 1_000);
  access.allowRefresh(refreshToken);
  return {
    status: 200,
    payload: {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: lifetime,
      refresh_token: refreshToken,
      scope: scopes.join(' '),
      created_at: Math.floor(now / 1_000),
      direct_buy_tokens: {},
    },
  };
}

/** Whether a grant is valid, by its type. */
const grants: Readonly<
  Record<string, ((parameters: URLSearchParams, access: Access, now: number) => boolean) | undefined>
> = {
  refresh_token: (parameters, access) => access.takeRefresh(parameters.get('refresh_token') ?? ''),
  authorization_code(parameters, access, now) {
    const issued = access.takeCode(parameters.get('code') ?? '');
    const verifier = parameters.get('code_verifier') ?? '';
    return (
      issued !== undefined &&
      issued.expires > now &&
      issued.clientId === parameters.get('client_id') &&
      issued.redirectUri === parameters.get('redirect_uri') &&
      (issued.challenge === null || issued.challenge === createHash('sha256').update(verifier).digest('base64url'))
    );
  },
};

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
  { scopes = allScopes }: TokenTerms,
  now: number,
  random: SeededRandom,
): Reply {
  if (request.method !== 'GET' && request.method !== 'POST')
    return { status: 405, html: page('Only GET and POST.'), headers: { allow: 'GET, POST' } };
  const asked = request.method === 'GET' ? request.query : parametersOf(request);
  const [clientId, redirectUri] = [asked.get('client_id') ?? '', asked.get('redirect_uri') ?? ''];
  if (asked.get('response_type') !== 'code' || clientId === '' || !URL.canParse(redirectUri))
    return { status: 400, html: page('The request lacks response_type=code, client_id or redirect_uri.') };
  if (request.method === 'GET') return { status: 200, html: question(clientId, asked) };

  const back = new URL(redirectUri);
  const state = asked.get('state');
  if (state !== null) back.searchParams.set('state', state);
  if (asked.get('decision') === 'allow') {
    const code = random.text(64, '0123456789abcdef');
    const challenge = asked.get('code_challenge');
    access.issueCode(code, { clientId, redirectUri, scopes, challenge, expires: now + codeLifetime });
    back.searchParams.set('code', code);
  } else back.searchParams.set('error', 'access_denied');
  return { status: 302, headers: { location: back.href } };
}

function question(clientId: string, asked: URLSearchParams): string {
  const fields = [...asked].map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  );
  return page(
    `May <strong>${escaped(clientId)}</strong> read and change the bill vendors of this sandbox?</p>` +
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
