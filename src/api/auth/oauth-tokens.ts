/**
 * OAuth access tokens, renewed with refresh tokens that work once.
 *
 * So: one refresh at a time, in this process by sharing the promise and across processes by the token store's lock; the new
 * pair is kept before its first use; and before a refused refresh token counts as the end, a newer pair is looked for
 * in the token store and in the settings.
 */
import { MirrorError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/log.ts';
import { SingleFlight } from '../../domain/async/single-flight.ts';
import { refreshGrant } from './refresh-grant.ts';
import type { OAuthSettings, TokenPair } from './token-request.ts';
import type { ExchangeDependencies } from '../http/request.ts';
import type { TokenSource } from './token-source.ts';

/** Keeps the pair on disk, and lets one process at a time replace it. */
export interface TokenStore {
  load(): Promise<TokenPair | undefined>;
  /** Runs `work` while no other process can, with the newest pair; `save` resolves once the new one is durable. */
  exclusively<T>(
    work: (pair: TokenPair | undefined, save: (pair: TokenPair) => Promise<void>) => Promise<T>,
  ): Promise<T>;
}

/** How long before its end a token is renewed, in milliseconds. */
const margin = 60_000;

export function oauthTokens(
  settings: OAuthSettings,
  tokenStore: TokenStore,
  dependencies: ExchangeDependencies,
): TokenSource {
  let held: TokenPair | undefined;
  const renewal = new SingleFlight<TokenPair>();
  /** A new pair that could not be kept: its refresh token is the only one that still works. */
  let unkept: TokenPair | undefined;
  /** Refresh tokens that were refused once are not offered again. */
  const refused = new Set<string>();

  const fresh = (pair: TokenPair): boolean => pair.expiresAt - margin > dependencies.clock.now();

  /** Tries the stored refresh token, then the one of the settings: a person may have authorized anew. */
  const grant = async (pair: TokenPair | undefined): Promise<TokenPair> => {
    let failure: MirrorError | undefined;
    for (const refresh of [pair?.refresh, settings.refreshToken]) {
      if (!refresh || refused.has(refresh.reveal())) continue;
      try {
        return await refreshGrant(settings, refresh, dependencies);
      } catch (error) {
        if (!(error instanceof MirrorError) || error.code !== 'token_refresh_failed') throw error;
        refused.add(refresh.reveal());
        failure ??= error;
        const newer = await tokenStore.load();
        if (newer && newer.refresh.reveal() !== pair?.refresh.reveal() && fresh(newer)) return newer;
      }
    }
    throw (
      failure ??
      new MirrorError(
        'token_refresh_failed',
        refused.size === 0
          ? 'Nobody has logged in yet, and the settings hold no refresh token.'
          : 'Every refresh token known here was refused by the token endpoint before.',
      )
    );
  };

  const replace = (unwanted: Secret | undefined): Promise<TokenPair> =>
    tokenStore.exclusively(async (pair, save) => {
      if (pair && fresh(pair) && pair.access.reveal() !== unwanted?.reveal()) return pair;
      const next = (unkept ??= await grant(pair));
      await save(next);
      unkept = undefined;
      return next;
    });

  const renewed = async (unwanted: Secret | undefined): Promise<Secret> => {
    held = await renewal.run(() => replace(unwanted));
    return held.access;
  };

  return {
    async current() {
      held ??= await tokenStore.load();
      return held && fresh(held) ? held.access : renewed(held?.access);
    },
    async renew(rejected) {
      // Somebody else of this process may have renewed it since.
      if (held && fresh(held) && held.access.reveal() !== rejected.reveal()) return held.access;
      const token = await renewed(rejected);
      return token.reveal() === rejected.reveal() ? undefined : token;
    },
  };
}
