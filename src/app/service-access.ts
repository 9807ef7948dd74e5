/** Access to the service: the tokens that requests bear, and what a person granted. */
import { tokenSource } from '../api/auth/configured-tokens.ts';
import type { TokenPair } from '../api/auth/token-request.ts';
import type { TokenSource } from '../api/auth/token-source.ts';
import type { ExchangeDependencies } from '../api/http/request.ts';
import { MirrorError } from '../domain/errors.ts';
import type { Log, Secret } from '../domain/log.ts';
import type { AuthSettings, Settings } from '../settings/parse.ts';
import type { Secrets } from '../store/secrets/secrets.ts';
import type { TokenStorage, TokenStorageUser } from '../store/secrets/token-store.ts';

/** The service's address, and how to get access. @throws MirrorError `settings_invalid` where they are not told. */
export function whereToRead({ service: { baseUrl, auth } }: Settings): { baseUrl: string; auth: AuthSettings } {
  if (baseUrl === null || auth === null)
    throw new MirrorError(
      'settings_invalid',
      'service.baseUrl and service.auth are not set: there is nothing to read.',
    );
  return { baseUrl, auth };
}

type OAuthAccess = Extract<AuthSettings, { oauth: unknown }>;

export interface ServiceAccessOptions {
  readonly auth: AuthSettings;
  readonly secrets: Secrets;
  readonly process: TokenStorageUser['process'];
  readonly exchange: ExchangeDependencies;
  readonly log: Log;
}

/** One source of tokens for all accounts. Another may take its place while requests are under way. */
export class ServiceAccess implements TokenSource {
  readonly #options: ServiceAccessOptions;
  #source: TokenSource;

  constructor(options: ServiceAccessOptions) {
    this.#options = options;
    this.#source = this.#sourceOf(options.auth);
  }

  current(): Promise<Secret> {
    return this.#source.current();
  }

  renew(rejected: Secret): Promise<Secret | undefined> {
    return this.#source.renew(rejected);
  }

  /** Asks for access in another way from now on. */
  authorize(auth: AuthSettings): void {
    this.#source = this.#sourceOf(auth);
  }

  /** Keeps a pair of tokens that a person got, for every process of this mirror. */
  keepGrant(auth: OAuthAccess, pair: TokenPair): Promise<void> {
    return this.#tokenStore(auth).exclusively((_, save) => save(pair));
  }

  /** Forgets such a pair. @returns whether there was one. */
  forgetGrant(auth: OAuthAccess): Promise<boolean> {
    return this.#tokenStore(auth).forget();
  }

  #sourceOf(auth: AuthSettings): TokenSource {
    return tokenSource(auth, this.#tokenStore(auth), this.#options.exchange);
  }

  #tokenStore(auth: AuthSettings): TokenStorage {
    const { secrets, process, log } = this.#options;
    const client = 'oauth' in auth ? `${auth.oauth.tokenUrl} ${auth.oauth.clientId}` : '';
    const onWait = (): void => log.warn('another process renews the access token: waiting until it has ended');
    return secrets.tokenStore(client, { process, onWait });
  }
}
