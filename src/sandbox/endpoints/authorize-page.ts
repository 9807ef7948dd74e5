/** The page where a person allows an application to use the service: it sends the browser back with a code that works once. */
import { allScopes, type Access } from '../core/access.ts';
import type { SeededRandom } from '../core/random.ts';
import type { Reply } from '../core/reply.ts';
import type { SandboxRequest } from './sandbox-call.ts';
import { parametersOf, type TokenTerms } from './token-endpoint.ts';

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
