/** Requests to the OAuth token endpoint, and their answers. */
import {
  allowInsecureRequests,
  ClientSecretPost,
  customFetch,
  ResponseBodyError,
  type AuthorizationServer,
  type Client,
  type ClientAuth,
  type TokenEndpointRequestOptions,
  type TokenEndpointResponse,
} from 'oauth4webapi';
import { isLoopback, type AuthSettings } from '../../settings/parse.ts';
import { MirrorError } from '../../domain/errors.ts';
import { Secret } from '../../domain/log.ts';
import { exchange, type Answer, type ExchangeDependencies } from '../http/request.ts';
import { usableToken } from './token-source.ts';

export type OAuthSettings = Extract<AuthSettings, { oauth: unknown }>['oauth'];

/** A token pair: the refresh token works once; `expiresAt` is the expiry of the access token, milliseconds since 1970. */
export interface TokenPair {
  readonly access: Secret;
  readonly refresh: Secret;
  readonly expiresAt: number;
}

/** Lifetime of an access token, in seconds, where the answer has none. */
const defaultLifetime = 43_200;
/** Shorter lifetimes are raised to this, in seconds: they would cause a refresh before every request. A 401 still renews. */
const shortestLifetime = 120;

export function serverOf({ tokenUrl }: OAuthSettings): AuthorizationServer {
  return { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
}

export function clientOf({ clientId }: OAuthSettings): Client {
  return { client_id: clientId };
}

export function clientAuth({ clientSecret }: OAuthSettings): ClientAuth {
  return ClientSecretPost(clientSecret.reveal());
}

/** Sends the library's requests through our own client, with its limits. */
export function requestOptions(
  { tokenUrl }: OAuthSettings,
  dependencies: ExchangeDependencies,
): TokenEndpointRequestOptions {
  return {
    [allowInsecureRequests]: isLoopback(new URL(tokenUrl).hostname),
    [customFetch]: async (url, { method, headers, body }) => {
      const answer = await exchange({ url: new URL(url), method, headers, body: String(body) }, dependencies);
      return new Response(new Uint8Array(answer.bytes), { status: answer.status, headers: readHeaders(answer) });
    },
  };
}

/** The headers that the library reads. */
function readHeaders({ headers }: Answer): [string, string][] {
  return ['content-type', 'www-authenticate'].flatMap((name): [string, string][] => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value]];
  });
}

/**
 * Reads the tokens of an answer. Errors contain nothing of the answer, which may hold tokens.
 * @param what what was sent, for messages: 'the refresh token', 'the code'
 * @throws MirrorError `token_refresh_failed` where it was refused, `service_unavailable`, `answer_unreadable`.
 */
export async function tokensOf(
  response: Response,
  what: string,
  process: () => Promise<TokenEndpointResponse>,
): Promise<TokenEndpointResponse> {
  const { status } = response;
  if (status === 429 || status >= 500)
    throw new MirrorError('service_unavailable', `The token endpoint answered with status ${status}.`, { status });
  try {
    return await process();
  } catch (error) {
    if (error instanceof ResponseBodyError) {
      const reason = /^[a-z_]{1,40}$/.test(error.error) ? error.error : 'an unknown error';
      throw new MirrorError('token_refresh_failed', `The token endpoint refused ${what}: ${reason}.`, {
        status: error.status,
      });
    }
    if (status === 400 || status === 401 || status === 403)
      throw new MirrorError('token_refresh_failed', `The token endpoint refused with status ${status}.`, { status });
    throw new MirrorError(
      'answer_unreadable',
      `The token endpoint answered with status ${status} and no usable tokens.`,
    );
  }
}

/**
 * The token pair of an answer.
 * @param begun when it was requested, milliseconds since 1970
 * @param before the refresh token that stays valid where the answer has none
 */
export function pairOf(tokens: TokenEndpointResponse, begun: number, before?: Secret): TokenPair {
  const refresh = tokens.refresh_token === undefined ? before : new Secret(tokens.refresh_token);
  if (refresh === undefined)
    throw new MirrorError(
      'token_refresh_failed',
      'The service returned an access token without a refresh token, so access would end within hours.',
    );
  const lifetime = Math.max(tokens.expires_in ?? defaultLifetime, shortestLifetime);
  return {
    access: usableToken(tokens.access_token, 'The answer of the token endpoint'),
    refresh,
    // By this machine's clock: the service's created_at may be from another clock.
    expiresAt: begun + lifetime * 1_000,
  };
}
