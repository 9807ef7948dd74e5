/**
 * OAuth access tokens, renewed with refresh tokens that work once.
 *
 * Therefore only one refresh runs at a time, within the process through a shared promise and across processes through the lock of the token
 * store, and none goes on once that is lost; a new pair is saved before it is used; and when a refresh token is refused, the token store and the settings are checked for a
 * newer one. Whatever else an answer of the token endpoint contains, its refresh token is saved: it is the only one that still works.
 */
import {
  allowInsecureRequests,
  ClientSecretPost,
  customFetch,
  refreshTokenGrantRequest,
  type AuthorizationServer,
  type Client,
  type ClientAuth,
  type TokenEndpointRequestOptions,
} from 'oauth4webapi';
import { SingleFlight } from '../../domain/concurrency.ts';
import { MirrorError, withMessage } from '../../domain/errors.ts';
import { Secret, type TokenPair } from '../../domain/secret.ts';
import { isLoopback, type AuthSettings } from '../../settings/parse.ts';
import { exchange, neverArrived, type Answer, type ExchangeDependencies } from '../http/request.ts';
import { CommandToken, FileToken, fixedToken, usableToken, type TokenSource } from './token-sources.ts';

/** Stores the token pair, and lets one process at a time replace it. */
export interface TokenStore {
  load(): Promise<TokenPair | undefined>;
  /** Runs `work` under the lock, with the newest pair; `save` resolves when the new pair is on disk. */
  exclusively<T>(
    work: (pair: TokenPair | undefined, save: (pair: TokenPair) => Promise<void>, hold: Hold) => Promise<T>,
  ): Promise<T>;
}

/** The lock as its owner sees it: once it is lost, another process may send the refresh token. */
export interface Hold {
  /** Aborted when it is lost. */
  readonly signal: AbortSignal;
  /** @throws MirrorError once it is lost. */
  assert(): void;
}

/** A token is renewed this long before it expires, in milliseconds. */
const margin = 60_000;

class OAuthTokens implements TokenSource {
  readonly #settings: OAuthSettings;
  readonly #store: TokenStore;
  readonly #dependencies: ExchangeDependencies;
  readonly #renewal = new SingleFlight<TokenPair>();
  #pair: TokenPair | undefined;
  /** A new pair that could not be saved: its refresh token is the only one that still works. */
  #unsaved: TokenPair | undefined;
  /** Refused refresh tokens, which are not tried again. */
  readonly #refused = new Set<string>();
  /** The first failure of refresh tokens that were sent, and may be spent since. */
  readonly #failures = new Map<string, string>();
  /** Why the refresh tokens that are known were refused. */
  #refusal: MirrorError | undefined;

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
    return this.#store.exclusively(async (pair, save, hold) => {
      if (pair && this.#isFresh(pair) && pair.access.reveal() !== unwanted?.reveal()) return pair;
      const next = (this.#unsaved ??= await this.#grant(pair, hold));
      await save(next);
      this.#unsaved = undefined;
      if (!isUsable(next))
        throw new MirrorError(
          'answer_unreadable',
          'The token endpoint answered without a usable access_token. Its refresh token is stored, and is used next.',
        );
      return next;
    });
  }

  /** Tries the stored refresh token, then that of the settings, which a person may have replaced. */
  async #grant(pair: TokenPair | undefined, hold: Hold): Promise<TokenPair> {
    let failure: MirrorError | undefined;
    for (const refresh of [pair?.refresh, this.#settings.refreshToken]) {
      if (!refresh || this.#refused.has(refresh.reveal())) continue;
      try {
        return await refreshGrant(this.#settings, refresh, this.#dependencies, hold);
      } catch (error) {
        if (!(error instanceof MirrorError)) throw error;
        const first = this.#failures.get(refresh.reveal());
        if (error.code !== 'token_refresh_failed') {
          if (!neverArrived(error)) this.#failures.set(refresh.reveal(), first ?? error.message);
          throw error;
        }
        this.#refused.add(refresh.reveal());
        failure ??=
          first === undefined
            ? error
            : withMessage(error, `${error.message} It was sent before, without a usable answer: ${first}`);
        const newer = await this.#store.load();
        if (newer && newer.refresh.reveal() !== pair?.refresh.reveal() && this.#isFresh(newer)) return newer;
      }
    }
    this.#refusal = failure ?? this.#refusal;
    throw (
      this.#refusal ??
      new MirrorError('token_unusable', 'Nobody has logged in yet, and the settings hold no refresh token.')
    );
  }
}

/**
 * A new pair for a refresh token.
 * @throws MirrorError `token_refresh_failed` where the refresh token is refused; otherwise as `exchange` and
 * `unavailable`.
 */
async function refreshGrant(
  settings: OAuthSettings,
  refresh: Secret,
  dependencies: ExchangeDependencies,
  hold: Hold,
): Promise<TokenPair> {
  const [server, client] = [serverOf(settings), clientOf(settings)];
  const begun = dependencies.clock.now();
  const response = await refreshTokenGrantRequest(server, client, clientAuth(settings), refresh.reveal(), {
    ...requestOptions(settings, dependencies, hold),
    additionalParameters: { redirect_uri: settings.redirectUri },
  });
  return pairOf(await tokensOf(response, 'the refresh token'), begun, refresh);
}

export type OAuthSettings = Extract<AuthSettings, { oauth: unknown }>['oauth'];

/** Lifetime of an access token, in seconds, where the answer has none. */
const defaultLifetime = 43_200;
/**
 * Shorter lifetimes are raised, in seconds: they would cause a refresh before every request. Longer ones are cut, since their end may be beyond
 * all dates. A 401 still renews.
 */
const minLifetime = 120;
const maxLifetime = 366 * 86_400;

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
  hold?: Hold,
): TokenEndpointRequestOptions {
  return {
    [allowInsecureRequests]: isLoopback(new URL(tokenUrl).hostname),
    [customFetch]: async (url, { method, headers, body }) => {
      hold?.assert();
      const request = { url: new URL(url), method, headers, body: String(body), signal: hold?.signal };
      const answer = await exchange(request, dependencies);
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

/** What another login does not mend (RFC 6749, 5.2). */
const remedies: Readonly<Record<string, string>> = {
  invalid_client:
    'Check clientId and clientSecret of service.auth.oauth: the token endpoint does not know this application.',
  unauthorized_client: 'Allow this application to use refresh tokens, where it is registered at the service.',
  invalid_request: 'Check redirectUri of service.auth.oauth: it has to be the one that is registered at the service.',
  invalid_scope: 'Check scopes of service.auth.oauth: the application is not registered for all of them.',
};

const noRefreshToken =
  'Let the service give one: many do for a scope such as offline_access in service.auth.oauth.scopes, or by a setting of the application. If it gives none, put tokens of another kind into service.auth.accessTokenFile.';

/** What an answer of the token endpoint may contain; of any form, since one odd field must not cost the others. */
interface TokenAnswer {
  readonly access_token?: unknown;
  readonly refresh_token?: unknown;
  readonly expires_in?: unknown;
  readonly scope?: unknown;
  readonly error?: unknown;
}

/**
 * Reads the tokens of an answer. Errors contain nothing of the answer, which may hold tokens.
 * @param what what was sent, for messages: 'the refresh token', 'the code'
 * @throws MirrorError `token_refresh_failed` where it was refused, `service_unavailable`, `answer_unreadable`.
 */
export async function tokensOf(response: Response, what: string): Promise<TokenAnswer> {
  const { status } = response;
  if (status === 429 || status >= 500)
    throw new MirrorError('service_unavailable', `The token endpoint answered with status ${status}.`, { status });
  const answer = answerOf(await response.text());
  if (response.ok && (textOf(answer.refresh_token) || textOf(answer.access_token))) return answer;
  if (textOf(answer.error)) {
    const reason = errorName(answer.error);
    throw new MirrorError('token_refresh_failed', `The token endpoint refused ${what}: ${reason}.`, {
      status,
      remedy: remedies[reason],
    });
  }
  if (status === 400 || status === 401 || status === 403)
    throw new MirrorError('token_refresh_failed', `The token endpoint refused with status ${status}.`, { status });
  throw new MirrorError('answer_unreadable', `The token endpoint answered with status ${status} and no usable tokens.`);
}

function answerOf(text: string): TokenAnswer {
  try {
    return (JSON.parse(text) ?? {}) as TokenAnswer;
  } catch {
    // The parser's own message would quote the answer.
    return {};
  }
}

/** The text of a field; undefined for an empty one and for anything else. */
function textOf(field: unknown): string | undefined {
  const text = typeof field === 'string' ? field.trim() : '';
  return text === '' ? undefined : text;
}

/** The name of an OAuth error, which is safe to show; any other text is not. */
export function errorName(error: unknown): string {
  return typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? error : 'an unknown error';
}

/**
 * The token pair of an answer; one without a usable access token has expired.
 * @param begun when it was requested, milliseconds since 1970
 * @param before the refresh token that stays valid where the answer has none
 */
export function pairOf(tokens: TokenAnswer, begun: number, before?: Secret): TokenPair {
  const named = textOf(tokens.refresh_token);
  const refresh = named === undefined ? before : new Secret(named);
  if (refresh === undefined)
    throw new MirrorError(
      'token_refresh_failed',
      'The service returned an access token without a refresh token, so access would end within hours.',
      { remedy: noRefreshToken },
    );
  const access = accessOf(tokens);
  // By this machine's clock: the service's created_at may be from another clock.
  const expiresAt = access ? begun + lifetimeOf(tokens) * 1_000 : 0;
  return { access: access ?? new Secret(''), refresh, expiresAt };
}

function isUsable({ access }: TokenPair): boolean {
  return access.reveal() !== '';
}

function accessOf({ access_token }: TokenAnswer): Secret | undefined {
  try {
    return usableToken(textOf(access_token) ?? '', 'The answer of the token endpoint');
  } catch {
    return undefined;
  }
}

/** In seconds, which may come as a number or as text. */
function lifetimeOf({ expires_in }: TokenAnswer): number {
  const seconds = typeof expires_in === 'number' ? expires_in : Number(textOf(expires_in));
  return seconds > 0 ? Math.min(Math.max(seconds, minLifetime), maxLifetime) : defaultLifetime;
}

/** The granted scopes; undefined where the answer does not list them. */
export function scopesOf({ scope }: TokenAnswer): string[] | undefined {
  const named = Array.isArray(scope) ? scope.map(textOf) : textOf(scope)?.split(/\s+/);
  return named?.filter((name) => name !== undefined);
}

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
