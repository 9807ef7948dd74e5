/**
 * OAuth access tokens, renewed with refresh tokens that work once.
 *
 * Therefore only one refresh runs at a time, within the process through a shared promise and across processes through the lock of the token
 * store; a new pair is saved before it is used; and when a refresh token is refused, the token store and the settings are checked for a
 * newer one.
 */
import { MirrorError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/log.ts';
import { SingleFlight } from '../../domain/async/single-flight.ts';
import { refreshGrant } from './refresh-grant.ts';
import type { OAuthSettings, TokenPair } from './token-request.ts';
import type { ExchangeDependencies } from '../http/request.ts';
import type { TokenSource } from './token-source.ts';

/** Stores the token pair, and lets one process at a time replace it. */
export interface TokenStore {
  load(): Promise<TokenPair | undefined>;
  /** Runs `work` under the lock, with the newest pair; `save` resolves when the new pair is on disk. */
  exclusively<T>(
    work: (pair: TokenPair | undefined, save: (pair: TokenPair) => Promise<void>) => Promise<T>,
  ): Promise<T>;
}

/** A token is renewed this long before it expires, in milliseconds. */
const margin = 60_000;

export class OAuthTokens implements TokenSource {
  readonly #settings: OAuthSettings;
  readonly #store: TokenStore;
  readonly #dependencies: ExchangeDependencies;
  readonly #renewal = new SingleFlight<TokenPair>();
  #pair: TokenPair | undefined;
  /** A new pair that could not be saved: its refresh token is the only one that still works. */
  #unsaved: TokenPair | undefined;
  /** Refused refresh tokens, which are not tried again. */
  readonly #refused = new Set<string>();

  constructor(settings: OAuthSettings, tokenStore: TokenStore, dependencies: ExchangeDependencies) {
    this.#settings = settings;
    this.#store = tokenStore;
    this.#dependencies = dependencies;
  }

  async current(): Promise<Secret> {
    this.#pair ??= await this.#store.load();
    return this.#pair && this.#isFresh(this.#pair) ? this.#pair.access : this.#renewed(this.#pair?.access);
  }

  async renew(rejected: Secret): Promise<Secret | undefined> {
    // Another request may have renewed it already.
    if (this.#pair && this.#isFresh(this.#pair) && this.#pair.access.reveal() !== rejected.reveal())
      return this.#pair.access;
    const token = await this.#renewed(rejected);
    return token.reveal() === rejected.reveal() ? undefined : token;
  }

  #isFresh(pair: TokenPair): boolean {
    return pair.expiresAt - margin > this.#dependencies.clock.now();
  }

  async #renewed(unwanted: Secret | undefined): Promise<Secret> {
    this.#pair = await this.#renewal.run(() => this.#replace(unwanted));
    return this.#pair.access;
  }

  #replace(unwanted: Secret | undefined): Promise<TokenPair> {
    return this.#store.exclusively(async (pair, save) => {
      if (pair && this.#isFresh(pair) && pair.access.reveal() !== unwanted?.reveal()) return pair;
      const next = (this.#unsaved ??= await this.#grant(pair));
      await save(next);
      this.#unsaved = undefined;
      return next;
    });
  }

  /** Tries the stored refresh token, then that of the settings, which a person may have replaced. */
  async #grant(pair: TokenPair | undefined): Promise<TokenPair> {
    let failure: MirrorError | undefined;
    for (const refresh of [pair?.refresh, this.#settings.refreshToken]) {
      if (!refresh || this.#refused.has(refresh.reveal())) continue;
      try {
        return await refreshGrant(this.#settings, refresh, this.#dependencies);
      } catch (error) {
        if (!(error instanceof MirrorError) || error.code !== 'token_refresh_failed') throw error;
        this.#refused.add(refresh.reveal());
        failure ??= error;
        const newer = await this.#store.load();
        if (newer && newer.refresh.reveal() !== pair?.refresh.reveal() && this.#isFresh(newer)) return newer;
      }
    }
    throw failure ?? this.#noRefreshToken();
  }

  #noRefreshToken(): MirrorError {
    return new MirrorError(
      'token_refresh_failed',
      this.#refused.size === 0
        ? 'Nobody has logged in yet, and the settings hold no refresh token.'
        : 'The token endpoint has already refused every known refresh token.',
    );
  }
}
