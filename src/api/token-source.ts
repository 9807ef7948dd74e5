/** The source of access tokens that the settings choose. */
import type { AuthSettings } from '../config.ts';
import { oauthTokens, type TokenVault } from './oauth-tokens.ts';
import type { ExchangeSeams } from './request.ts';
import { fileToken, fixedToken, type TokenSource } from './tokens.ts';

/** One source serves all accounts. The vault and the network are used for OAuth only. */
export function tokenSource(auth: AuthSettings, vault: TokenVault, seams: ExchangeSeams): TokenSource {
  if ('accessToken' in auth) return fixedToken(auth.accessToken);
  if ('accessTokenFile' in auth) return fileToken(auth.accessTokenFile);
  return oauthTokens(auth.oauth, vault, seams);
}
