/** The source of access tokens that the settings choose. */
import type { AuthSettings } from '../../settings/parse.ts';
import { oauthTokens, type TokenStore } from './oauth-tokens.ts';
import type { ExchangeDependencies } from '../http/request.ts';
import { fileToken, fixedToken, type TokenSource } from './token-source.ts';

/** A source that can be exchanged for another while requests are under way. */
export interface ExchangeableTokens extends TokenSource {
  exchange(source: TokenSource): void;
}

export function exchangeable(first: TokenSource): ExchangeableTokens {
  let source = first;
  return {
    current: () => source.current(),
    renew: (rejected) => source.renew(rejected),
    exchange(other) {
      source = other;
    },
  };
}

/** One source serves all accounts. The token store and the network are used for OAuth only. */
export function tokenSource(
  auth: AuthSettings,
  tokenStore: TokenStore,
  dependencies: ExchangeDependencies,
): TokenSource {
  if ('accessToken' in auth) return fixedToken(auth.accessToken);
  if ('accessTokenFile' in auth) return fileToken(auth.accessTokenFile);
  return oauthTokens(auth.oauth, tokenStore, dependencies);
}
