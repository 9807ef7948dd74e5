/** One refresh at the token endpoint: a refresh token in, a new pair out. */
import {
  allowInsecureRequests,
  ClientSecretPost,
  customFetch,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
  ResponseBodyError,
  type AuthorizationServer,
  type Client,
  type TokenEndpointResponse,
} from 'oauth4webapi';
import { isLoopback, type AuthSettings } from '../../settings/parse.ts';
import { MirrorError } from '../../domain/errors.ts';
import { Secret } from '../../domain/log.ts';
import { exchange, type ExchangeDependencies } from '../http/request.ts';
import { usableToken } from './token-source.ts';

export type OAuthSettings = Extract<AuthSettings, { oauth: unknown }>['oauth'];

/**
 * An access token, the refresh token that came with it and works once, and when the access token ends (milliseconds
 * since 1970).
 */
export interface TokenPair {
  readonly access: Secret;
  readonly refresh: Secret;
  readonly expiresAt: number;
}

/** Life of an access token where the answer does not tell. */
const defaultLifetime = 43_200;
/** A shorter life than this is not believed: it would mean a refresh before every request. A 401 still renews. */
const shortestLifetime = 120;

/**
 * A new pair for a refresh token. Nothing of the answer is kept in an error: it may hold tokens.
 * @throws MirrorError `token_refresh_failed` where the refresh token is refused; otherwise as `exchange` and
 * `unavailable`.
 */
export async function refreshGrant(
  settings: OAuthSettings,
  refresh: Secret,
  dependencies: ExchangeDependencies,
): Promise<TokenPair> {
  const server: AuthorizationServer = { issuer: new URL(settings.tokenUrl).origin, token_endpoint: settings.tokenUrl };
  const client: Client = { client_id: settings.clientId };
  const begun = dependencies.clock.now();
  const response = await refreshTokenGrantRequest(
    server,
    client,
    ClientSecretPost(settings.clientSecret.reveal()),
    refresh.reveal(),
    {
      additionalParameters: { redirect_uri: settings.redirectUri },
      [allowInsecureRequests]: isLoopback(new URL(settings.tokenUrl).hostname),
      [customFetch]: (url, { method, headers, body }) => boundedFetch(url, method, headers, String(body), dependencies),
    },
  );
  if (response.status === 429 || response.status >= 500) {
    throw new MirrorError('service_unavailable', `The token endpoint answered with status ${response.status}.`, {
      status: response.status,
    });
  }
  const tokens = await processed(server, client, response);
  const lifetime = Math.max(tokens.expires_in ?? defaultLifetime, shortestLifetime);
  return {
    access: usableToken(tokens.access_token, 'The answer of the token endpoint'),
    refresh: tokens.refresh_token === undefined ? refresh : new Secret(tokens.refresh_token),
    // Counted by this machine's clock: the pair is a moment old, and the service's created_at may be of another time.
    expiresAt: begun + lifetime * 1_000,
  };
}

async function boundedFetch(
  url: string,
  method: string,
  headers: Record<string, string>,
  body: string,
  dependencies: ExchangeDependencies,
): Promise<Response> {
  const answer = await exchange({ url: new URL(url), method, headers, body }, dependencies);
  return new Response(new Uint8Array(answer.bytes), { status: answer.status, headers: answer.headers });
}

async function processed(
  server: AuthorizationServer,
  client: Client,
  response: Response,
): Promise<TokenEndpointResponse> {
  try {
    return await processRefreshTokenResponse(server, client, response);
  } catch (error) {
    if (error instanceof ResponseBodyError) {
      const reason = /^[a-z_]{1,40}$/.test(error.error) ? error.error : 'an unknown error';
      throw new MirrorError('token_refresh_failed', `The token endpoint refused the refresh token: ${reason}.`, {
        status: error.status,
      });
    }
    if (response.status === 400 || response.status === 401 || response.status === 403)
      throw new MirrorError('token_refresh_failed', `The token endpoint refused with status ${response.status}.`, {
        status: response.status,
      });
    throw new MirrorError(
      'answer_unreadable',
      `The token endpoint answered with status ${response.status} and no usable tokens.`,
    );
  }
}
