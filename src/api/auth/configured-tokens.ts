/** Chooses the token source by the settings. */
import type { AuthSettings } from '../../settings/parse.ts';
import { OAuthTokens, type TokenStore } from './oauth-tokens.ts';
import { CommandToken } from './command-token.ts';
import type { ExchangeDependencies } from '../http/request.ts';
import { FileToken } from './file-token.ts';
import { fixedToken, type TokenSource } from './token-source.ts';

/** The token source of a connection, shared by its accounts. The token store and the network are used for OAuth only. */
export function tokenSource(
  auth: AuthSettings,
  tokenStore: TokenStore,
  dependencies: ExchangeDependencies,
): TokenSource {
  if ('accessToken' in auth) return fixedToken(auth.accessToken);
  if ('accessTokenCommand' in auth) return new CommandToken(auth.accessTokenCommand, dependencies);
  if ('accessTokenFile' in auth) return new FileToken(auth.accessTokenFile);
  return new OAuthTokens(auth.oauth, tokenStore, dependencies);
}
