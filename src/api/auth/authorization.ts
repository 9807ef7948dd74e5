/**
 * The OAuth authorization code flow with PKCE: a URL for the user to open, and a token pair for the code that comes back; and which accounts a
 * token sees, which a person needs to know before anything can be mirrored.
 */
import {
  AuthorizationResponseError,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  validateAuthResponse,
} from 'oauth4webapi';
import type { TokenPair, Secret } from '../../domain/secret.ts';
import type { Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { type ExchangeDependencies, exchange } from '../http/request.ts';
import {
  clientAuth,
  clientOf,
  errorName,
  pairOf,
  requestOptions,
  scopesOf,
  serverOf,
  tokensOf,
  type OAuthSettings,
} from './oauth-tokens.ts';
import { list, member, parseDocument, refusal, text } from '../wire/document.ts';

/** One login attempt; only the redirect with its `state` belongs to it. */
export interface AuthorizationRequest {
  /** The URL to open in a browser. */
  readonly address: URL;
  readonly state: string;
  /** The PKCE verifier: proves to the token endpoint that the code is redeemed by the one who requested it. */
  readonly verifier: string;
}

export interface Authorized {
  readonly pair: TokenPair;
  /** The granted scopes; undefined where the service did not list them. */
  readonly scopes: readonly string[] | undefined;
}

/** Starts a login. @throws MirrorError `settings_invalid` where the settings have no `authorizeUrl`. */
export async function authorizationRequest(settings: OAuthSettings, random: Random): Promise<AuthorizationRequest> {
  const { authorizeUrl, clientId, redirectUri, scopes } = settings;
  if (authorizeUrl === undefined)
    throw new MirrorError(
      'settings_invalid',
      'service.auth.oauth.authorizeUrl is not set, so there is no page to log in at.',
    );
  const word = (bytes: number): string => Buffer.from(random.bytes(bytes)).toString('base64url');
  const [state, verifier] = [word(16), word(32)] as const;
  const address = new URL(authorizeUrl);
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(scopes && { scope: scopes.join(' ') }),
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return { address, state, verifier };
}

/**
 * Exchanges the query of the redirect for tokens.
 * @throws MirrorError `token_refresh_failed` where the user or the service refused, `usage` where the answer does not belong to this login.
 */
export async function redeem(
  settings: OAuthSettings,
  request: Pick<AuthorizationRequest, 'state' | 'verifier'>,
  answer: URLSearchParams,
  dependencies: ExchangeDependencies,
): Promise<Authorized> {
  const [server, client] = [serverOf(settings), clientOf(settings)];
  const named = new URLSearchParams(answer);
  // `iss` is not checked: no setting has the issuer, and the code is sent only to the configured token endpoint.
  named.delete('iss');
  const parameters = accepted(() => validateAuthResponse(server, client, named, request.state));
  const begun = dependencies.clock.now();
  const response = await authorizationCodeGrantRequest(
    server,
    client,
    clientAuth(settings),
    parameters,
    settings.redirectUri,
    request.verifier,
    requestOptions(settings, dependencies),
  );
  const tokens = await tokensOf(response, 'the code');
  return { pair: pairOf(tokens, begun), scopes: scopesOf(tokens) };
}

function accepted(validate: () => URLSearchParams): URLSearchParams {
  let parameters: URLSearchParams;
  try {
    parameters = validate();
  } catch (error) {
    if (error instanceof AuthorizationResponseError) {
      const reason = errorName(error.error);
      throw new MirrorError('token_refresh_failed', `The service did not authorize vendor-mirror: ${reason}.`);
    }
    throw new MirrorError('usage', 'This is not the answer to this login: its state is missing or different.');
  }
  if (!parameters.get('code')) throw new MirrorError('usage', 'There is no code in the address that came back.');
  return parameters;
}

export interface SeenAccount {
  readonly account: string;
  /** The name of its business; null where it is not told. */
  readonly business: string | null;
}

/**
 * The accounts of the person behind a token: those of their businesses, then those in which they have a role. Either may be null or left out.
 * @throws MirrorError as any request; `access_denied` without the scope `user:profile:read`.
 */
export async function accountsSeen(
  baseUrl: string,
  token: Secret,
  dependencies: ExchangeDependencies,
): Promise<SeenAccount[]> {
  const answer = await exchange(
    {
      url: new URL(`${baseUrl.replace(/\/+$/, '')}/auth/api/v1/users/me`),
      method: 'GET',
      headers: { authorization: `Bearer ${token.reveal()}`, accept: 'application/json' },
    },
    dependencies,
  );
  const document = answer.status < 300 ? parseDocument(answer.bytes) : parsedOrNone(answer.bytes);
  const refused = refusal(answer.status, document);
  if (refused) throw refused;
  return accountsIn(document);
}

/** A refusal may have any body. */
function parsedOrNone(bytes: Uint8Array): unknown {
  try {
    return parseDocument(bytes);
  } catch {
    return undefined;
  }
}

function accountsIn(document: unknown): SeenAccount[] {
  const person = member(document, 'response') ?? document;
  const named = (name: string): readonly unknown[] => list(member(person, name)) ?? [];
  const businesses = [...named('business_memberships'), ...named('business_clients')].map((membership) => {
    const business = member(membership, 'business');
    return {
      account: member(business, 'account_id') ?? member(membership, 'account_id'),
      business: member(business, 'name') ?? member(membership, 'name'),
    };
  });
  const roles = named('roles').map((role) => ({
    account: member(role, 'accountid') ?? member(role, 'account_id'),
    business: null,
  }));
  const seen = new Map<string, SeenAccount>();
  for (const { account, business } of [...businesses, ...roles]) {
    const id = text(account);
    if (id && !seen.has(id)) seen.set(id, { account: id, business: text(business) || null });
  }
  return [...seen.values()];
}
