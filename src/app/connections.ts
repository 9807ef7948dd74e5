/**
 * The connections of an installation: each gives access to some of its accounts with a grant of its own, and fails without the others.
 * What keeps failing is recorded, so that status can report it before a run ends.
 *
 * Tokens, their renewal and their failures belong to a connection, not to an account: with one grant for a hundred accounts, one refresh
 * serves all. A connection fails when it has no token to offer, or when the service answers 401 and there is no other token; it recovers
 * with any answer that it gave access to.
 */
import type { TokenPair } from '../domain/secret.ts';
import { tokenSource } from '../api/auth/oauth-tokens.ts';
import type { TokenSource } from '../api/auth/token-sources.ts';
import { ConnectionRate } from '../api/http/rate-limiter.ts';
import type { ExchangeDependencies } from '../api/http/request.ts';
import type { Clock } from '../domain/clock.ts';
import { Turns } from '../domain/concurrency.ts';
import { asMirrorError, isAccessRefused, isOfToken, MirrorError, withMessage, withRemedy } from '../domain/errors.ts';
import type { Log } from '../domain/log.ts';
import { defaultConnection, type AuthSettings, type Settings } from '../settings/parse.ts';
import { connectionNameOf, pathOfConnection } from '../settings/shape.ts';
import type { RequestFailures } from '../store/request-failures.ts';
import type { Secrets } from '../store/secrets/secrets.ts';
import type { TokenStore, TokenStoreProcess } from '../store/secrets/token-store.ts';

/** The address of the service. @throws MirrorError `settings_invalid` where it is not set, or no connection is. */
export function serviceAddress({ service: { baseUrl }, connections }: Settings): string {
  if (baseUrl === null || connections.size === 0)
    throw new MirrorError(
      'settings_invalid',
      'service.baseUrl and service.auth are not set, so there is no service to read from.',
    );
  return baseUrl;
}

interface ConnectionsOptions extends ExchangeDependencies {
  readonly settings: Pick<Settings, 'accounts' | 'connections' | 'connectionOf' | 'service'>;
  readonly secrets: Pick<Secrets, 'tokenStore'>;
  readonly process: TokenStoreProcess['process'];
  readonly failures: Pick<RequestFailures, 'add' | 'forget'>;
  readonly log: Log;
  /** Whether a person waits for whatever is asked. */
  readonly isCommand?: boolean | undefined;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #failures: RequestFailureLog;
  /** Token sources, each with the settings from which it was created. */
  readonly #sources = new Map<string, { readonly from: AuthSettings; readonly source: TokenSource }>();
  /** Connections that give no access, with the error code that was logged last. */
  readonly #failing = new Map<string, MirrorError['code']>();
  readonly #rates = new Map<string, ConnectionRate>();
  #settings: ConnectionsOptions['settings'];
  #firstOfGrant: ReadonlyMap<unknown, string>;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#firstOfGrant = firstOfEachGrant(options.settings);
    this.#failures = new RequestFailureLog(options);
  }

  get names(): readonly string[] {
    return [...this.#settings.connections.keys()];
  }

  /** The name of the connection that gives access to an account. */
  of(accountId: string): string {
    return connectionNameOf(this.#settings, accountId);
  }

  /** Replaces the connections. Tokens are read again, those in memory too, unless the connections are unchanged. */
  update(settings: ConnectionsOptions['settings']): void {
    if (settings.connections !== this.#settings.connections) this.#sources.clear();
    this.#settings = settings;
    this.#firstOfGrant = firstOfEachGrant(settings);
  }

  /** The tokens of an account. Its connection may change meanwhile. */
  tokens(accountId: string): TokenSource {
    const recorded = async <T>(work: (source: TokenSource) => Promise<T>): Promise<T> => {
      const name = this.of(accountId);
      try {
        return await work(this.#source(name));
      } catch (thrown) {
        throw this.#refused(name, asMirrorError(thrown));
      }
    };
    return {
      current: () => recorded((source) => source.current()),
      renew: (rejected) => recorded((source) => source.renew(rejected)),
      refused: (error) => this.#refused(this.of(accountId), error),
    };
  }

  /** The rate of an account: that of its connection, or of the first one that uses the same token. */
  rate(accountId: string): ConnectionRate {
    const { connections, service } = this.#settings;
    const own = this.of(accountId);
    const auth = connections.get(own);
    const name = (auth && this.#firstOfGrant.get(grantOf(auth))) ?? own;
    const known = this.#rates.get(name);
    if (known) return known;
    const { clock, isCommand } = this.#options;
    const rate = new ConnectionRate(name, service.rateLimit, clock, { isCommand });
    this.#rates.set(name, rate);
    return rate;
  }

  /** A request about an account was answered. Never fails. */
  async answered(accountId: string): Promise<void> {
    const name = this.of(accountId);
    if (this.#failing.delete(name))
      this.#options.log.info({ connection: name }, `${describe(name)} gives access again`);
    await this.#failures.answered(name);
  }

  /** Stores the tokens of a login, for every process of this mirror. */
  keepGrant(name: string, pair: TokenPair): Promise<void> {
    return this.#tokenStore(name).exclusively((_, save) => save(pair));
  }

  /** Deletes the tokens of a login. @returns whether there were any. */
  forgetGrant(name: string): Promise<boolean> {
    return this.#tokenStore(name).forget();
  }

  #source(name: string): TokenSource {
    const from = this.#auth(name);
    const cached = this.#sources.get(name);
    if (cached?.from === from) return cached.source;
    const source = tokenSource(from, this.#tokenStore(name), this.#options);
    this.#sources.set(name, { from, source });
    return source;
  }

  #auth(name: string): AuthSettings {
    const auth = this.#settings.connections.get(name);
    if (auth) return auth;
    throw new MirrorError(
      'settings_invalid',
      name === defaultConnection ? 'service.auth is not set.' : 'It is not in `connections` of the settings.',
    );
  }

  #tokenStore(name: string): TokenStore {
    const auth = this.#auth(name);
    const client = 'oauth' in auth ? `${auth.oauth.tokenUrl} ${auth.oauth.clientId}` : '';
    // Two connections may use one client, each with the consent of another person.
    const grant = name === defaultConnection ? client : `${name} ${client}`;
    const { secrets, process, log } = this.#options;
    const onWait = (): void =>
      log.warn({ connection: name }, 'another process renews the access token: waiting until it has ended');
    return secrets.tokenStore(grant, { process, onWait });
  }

  /** Records why a connection gives no access. @returns the error to report. */
  #refused(name: string, refused: MirrorError): MirrorError {
    const auth = this.#settings.connections.get(name);
    const error = isOfToken(refused.code) && auth ? withRemedy(refused, newToken(name, auth)) : refused;
    this.#failed(name, error);
    return inConnection(name, error);
  }

  #failed(name: string, error: MirrorError): void {
    if (error.code === 'interrupted') return;
    this.#failures.failed(name, error);
    if (this.#failing.get(name) === error.code) return;
    this.#failing.set(name, error.code);
    const { log } = this.#options;
    const accounts = this.#settings.accounts.filter((id) => this.of(id) === name).length;
    const facts = { connection: name, accounts, code: error.code };
    const whose = accounts > 1 ? ` to its ${accounts.toLocaleString('en')} accounts` : '';
    const message = `${describe(name)} gives no access${whose}: ${error.message} ${error.hint}`;
    if (isAccessRefused(error.code)) log.error(facts, message);
    else log.warn(facts, message);
  }
}

/** By each grant, the first connection that uses it. */
function firstOfEachGrant({ connections }: Pick<Settings, 'connections'>): Map<unknown, string> {
  return new Map([...connections].map(([name, auth]) => [grantOf(auth), name] as const).toReversed());
}

/** What is equal where connections use the same token, as far as the settings show. */
function grantOf(auth: AuthSettings): unknown {
  if ('accessToken' in auth) return `token ${auth.accessToken.reveal()}`;
  if ('accessTokenFile' in auth) return `file ${auth.accessTokenFile}`;
  if ('accessTokenCommand' in auth) return `command ${String(auth.accessTokenCommand)}`;
  return auth;
}

/** A connection, as the settings name it. */
function describe(name: string): string {
  return name === defaultConnection ? 'service.auth' : `the connection ${name}`;
}

/** What to do where there is no token that the service accepts. No path is named: a token may stand in its place. */
function newToken(name: string, auth: AuthSettings): string {
  const setting = pathOfConnection(name).join('.');
  if ('accessTokenFile' in auth)
    return `Put a new token into the file of ${setting}.accessTokenFile, as one line that this user may read; a running daemon uses it with its next run, or at once on SIGHUP.`;
  if ('oauth' in auth) return `Run \`vendor-mirror login${name === defaultConnection ? '' : ` ${name}`}\`.`;
  if ('accessToken' in auth) return `Set a new token as ${setting}.accessToken.`;
  return `Run the command of ${setting}.accessTokenCommand by hand: it should print a token that the service accepts.`;
}

/** The error, naming the connection where the settings give it a name. */
function inConnection(name: string, error: MirrorError): MirrorError {
  return name === defaultConnection ? error : withMessage(error, `Connection ${name}: ${error.message}`);
}

interface Dependencies {
  readonly failures: Pick<RequestFailures, 'add' | 'forget'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
}

/** How long it is relied on that there is no record, in milliseconds: another process, such as a command, may have made one since. */
const cleanFor = 1_000;

/** Records the failures of accounts or connections, and the first answer after them, in the order in which they came. */
export class RequestFailureLog {
  readonly #failures: Pick<RequestFailures, 'add' | 'forget'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Log;
  readonly #turns = new Turns();
  /** When those without a record in the mirror were last looked for, in monotonic time. */
  readonly #cleanAt = new Map<string, number>();
  /** Those whose answer could not be recorded, which is logged once. */
  readonly #unrecorded = new Set<string>();

  constructor({ failures, clock, log }: Dependencies) {
    this.#failures = failures;
    this.#clock = clock;
    this.#log = log;
  }

  /** Says nothing of the service where the request was interrupted here. */
  failed(name: string, error: MirrorError): void {
    if (error.code === 'interrupted') return;
    this.#cleanAt.delete(name);
    // A file that cannot be written is reported by the work that needs it.
    this.#turns.take(() => this.#failures.add(name, error)).catch(() => undefined);
  }

  /** Never fails: an answer of the service counts even if it cannot be recorded, which the next one tries again. */
  async answered(name: string): Promise<void> {
    const now = this.#clock.monotonic();
    if (now - (this.#cleanAt.get(name) ?? -Infinity) < cleanFor) return;
    this.#cleanAt.set(name, now);
    try {
      await this.#turns.take(() => this.#failures.forget(name));
      this.#unrecorded.delete(name);
    } catch (error) {
      this.#cleanAt.delete(name);
      if (this.#unrecorded.has(name)) return;
      this.#unrecorded.add(name);
      this.#log.warn(
        { account: name, err: asMirrorError(error) },
        'the service answers again, but this could not be recorded: status may still name the old error',
      );
    }
  }
}
