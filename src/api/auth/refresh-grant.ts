/** Exchanges a refresh token for a new token pair. */
import { processRefreshTokenResponse, refreshTokenGrantRequest } from 'oauth4webapi';
import type { Secret } from '../../domain/log.ts';
import type { ExchangeDependencies } from '../http/request.ts';
import {
  clientAuth,
  clientOf,
  pairOf,
  requestOptions,
  serverOf,
  tokensOf,
  type OAuthSettings,
  type TokenPair,
} from './token-request.ts';

/**
 * A new pair for a refresh token.
 * @throws MirrorError `token_refresh_failed` where the refresh token is refused; otherwise as `exchange` and
 * `unavailable`.
 */
export async function refreshGrant(
  settings: OAuthSettings,
  refresh: Secret,
  dependencies: ExchangeDependencies,
): Promise<TokenPair> {
  const [server, client] = [serverOf(settings), clientOf(settings)];
  const begun = dependencies.clock.now();
  const response = await refreshTokenGrantRequest(server, client, clientAuth(settings), refresh.reveal(), {
    ...requestOptions(settings, dependencies),
    additionalParameters: { redirect_uri: settings.redirectUri },
  });
  const tokens = await tokensOf(response, 'the refresh token', () =>
    processRefreshTokenResponse(server, client, response),
  );
  return pairOf(tokens, begun, refresh);
}
