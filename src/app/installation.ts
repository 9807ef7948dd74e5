/** One installation: the mirror, the service's accounts, and the jobs between them, built from the settings. */
import { connect, type ServiceClient } from '../api/client.ts';
import type { ApiDependencies } from '../api/call/call.ts';
import { exchangeable, tokenSource } from '../api/auth/configured-tokens.ts';
import type { TokenPair } from '../api/auth/token-request.ts';
import type { TokenSource } from '../api/auth/token-source.ts';
import type { Clock, Random } from '../domain/clock.ts';
import type { AuthSettings, Settings } from '../settings/parse.ts';
import { asMirrorError, MirrorError } from '../domain/errors.ts';
import type { Log } from '../domain/log.ts';
import { SingleFlight } from '../domain/async/single-flight.ts';
import { migrationLog } from './migration-log.ts';
import { RequestFailureLog } from './request-failures.ts';
import { settingsFileOf } from '../store/files/own-files.ts';
import { openMirror, type MirrorFile } from '../store/open/sqlite-store.ts';
import { openSecrets, type Secrets } from '../store/secrets/secrets.ts';
import type { TokenStorage } from '../store/secrets/token-store.ts';
import type { Engine } from '../sync/account/engine.ts';
import { pullGateways, type GatewayCount } from '../sync/run/pull-gateways.ts';
import { pull, type PullOptions, type RunReport } from '../sync/run/run.ts';
import { OneReader } from '../sync/account/read-vendor.ts';
import { verify, type VerifyOptions, type VerifyReport } from '../sync/run/compare.ts';
import type { RunCounts } from '../store/records/run-record.ts';
import type { Store } from '../store/store.ts';

export type { SweepProgress } from '../sync/sweep/sweep.ts';

export interface InstallationDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly fetch: ApiDependencies['fetch'];
  readonly log: Log;
  readonly lockProcess: MirrorFile['lockProcess'];
  /** The folder that holds the migrations of both files. */
  readonly migrations: string;
  readonly observe?: NonNullable<ApiDependencies['observe']>;
  readonly retryLimits?: NonNullable<ApiDependencies['retryLimits']>;
  /** By what name the mirror knows the service; its address unless told. */
  readonly serviceName?: string | undefined;
  /** Whether the service may be another one than the mirror belongs to: to compare them. Nothing of it is to be applied then. */
  readonly anyService?: boolean;
  /** Going on would be wrong: a file is not to be trusted any more. Whatever is asked of it fails from then on. */
  readonly onFatal?: (error: MirrorError) => void;
  /** Hears how far a long migration of the mirror has come; the log does unless told. */
  readonly onMigration?: MirrorFile['onMigration'];
}

/** How a run ended, in the names of `sync --json`. */
export interface RunSummary extends RunCounts {
  readonly account: string;
  readonly run_id: number;
  readonly kind: PullOptions['kind'];
  readonly outcome: RunReport['outcome'];
  /** How the list was proven complete; null where it was not. */
  readonly proof: RunReport['proof'];
  readonly seconds: number;
  readonly error?: MirrorError;
  /** What else a person should know, in sentences. */
  readonly notes: readonly string[];
}

export interface GatewaySummary extends GatewayCount {
  readonly account: string;
  readonly error?: MirrorError;
}

/** What belongs to one account. */
export interface Account {
  readonly id: string;
  readonly client: ServiceClient;
  readonly engine: Engine;
}

type OAuthAccess = Extract<AuthSettings, { oauth: unknown }>;

export interface Installation {
  readonly settings: Settings;
  readonly mirror: Store;
  readonly secrets: Secrets;
  /** By what name the mirror knows the service. */
  readonly serviceName: string;
  readonly accounts: readonly string[];
  account(accountId: string): Account;
  /** One run over an account's vendors. Expected failures stand in the summary. */
  pull(accountId: string, options: PullOptions): Promise<RunSummary>;
  /** Compares an account with its source. Expected failures stand in the report. */
  verify(accountId: string, options: VerifyOptions): Promise<VerifyReport>;
  /** Mirrors an account's gateways. Expected failures stand in the summary. */
  pullGateways(accountId: string, options: { readonly signal: AbortSignal }): Promise<GatewaySummary>;
  /** Asks for access in another way from now on. */
  authorize(auth: AuthSettings): void;
  /** Keeps a pair of tokens that a person got, for every process of this mirror. */
  keepGrant(auth: OAuthAccess, pair: TokenPair): Promise<void>;
  /** Forgets such a pair. @returns whether there was one. */
  forgetGrant(auth: OAuthAccess): Promise<boolean>;
  close(): Promise<void>;
}

/** The service's address, and how to get access. @throws MirrorError `settings_invalid` where they are not told. */
export function whereToRead({ service: { baseUrl, auth } }: Settings): { baseUrl: string; auth: AuthSettings } {
  if (baseUrl === null || auth === null)
    throw new MirrorError(
      'settings_invalid',
      'service.baseUrl and service.auth are not set: there is nothing to read.',
    );
  return { baseUrl, auth };
}

/** The address of a service, in one spelling. */
function nameOf(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl);
  return origin + pathname.replace(/\/+$/, '');
}

function refuseOther(known: string | null, name: string, { path }: Store): void {
  if (known !== null && known !== name)
    throw new MirrorError('other_service', `${path} mirrors ${known}, and this is ${name}.`);
}

/** The work, done until it succeeded once. */
function once(work: () => Promise<void>): () => Promise<void> {
  const flight = new SingleFlight<void>((outcome) => outcome === 'done');
  return () => flight.run(work);
}

/**
 * Opens the files and connects to the service; nothing is requested yet.
 * @throws MirrorError of files and settings.
 */
export async function openInstallation(
  settings: Settings,
  dependencies: InstallationDependencies,
): Promise<Installation> {
  const { service, accounts } = settings;
  const { baseUrl, auth } = whereToRead(settings);
  const { clock, random, migrations, fetch, log } = dependencies;
  const files = { migrations, clock, random, onDistrust: dependencies.onFatal };
  const { lockProcess, onMigration = migrationLog(log) } = dependencies;
  const mirror = await openMirror({ ...files, path: settings.database, lockProcess, onMigration });
  const serviceName = dependencies.serviceName ?? nameOf(baseUrl);
  let secrets: Secrets | undefined;
  try {
    const { mirrorId, service: known } = await mirror.identity();
    if (!dependencies.anyService) refuseOther(known, serviceName, mirror);
    secrets = await openSecrets({ ...files, path: settings.secrets });
    await secrets.claim({ mirrorId, path: mirror.path });
    const served = { accounts: settings.namedAccounts, settingsFile: settingsFileOf(settings) };
    for (const account of await mirror.addAccounts(accounts, served))
      log.warn({ account }, `the account ${account} is not in the settings any more: nothing keeps it fresh`);
  } catch (error) {
    await secrets?.close();
    await mirror.close();
    throw error;
  }
  const held = secrets;
  const tokenStoreOf = (chosen: AuthSettings): TokenStorage => {
    const client = 'oauth' in chosen ? `${chosen.oauth.tokenUrl} ${chosen.oauth.clientId}` : '';
    const onWait = (): void => log.warn('another process renews the access token: waiting until it has ended');
    return held.tokenStore(client, { process: mirror.process, onWait });
  };
  const sourceOf = (chosen: AuthSettings): TokenSource =>
    tokenSource(chosen, tokenStoreOf(chosen), { fetch, clock, timeout: service.timeout });
  const tokens = exchangeable(sourceOf(auth));
  const adopt = once(async () => refuseOther(await mirror.adoptService(serviceName), serviceName, mirror));
  const failures = new RequestFailureLog({ failures: mirror.requestFailures, clock, log });
  const api: ApiDependencies = {
    clock,
    random,
    fetch,
    log,
    tokens,
    reserveRequest: mirror.reserveRequest,
    ...(!dependencies.anyService && {
      async onAnswer(id) {
        await adopt();
        await failures.answered(id);
      },
      onFailure: (id, error) => failures.failed(id, error),
    }),
    ...(dependencies.observe && { observe: dependencies.observe }),
    ...(dependencies.retryLimits && { retryLimits: dependencies.retryLimits }),
  };
  const open = (id: string): Account => {
    const client = connect({ ...service, baseUrl }, id, api);
    const { vendors } = client;
    const engine: Engine = {
      accountId: id,
      vendors,
      mirror,
      reader: new OneReader({ vendors, mirror, clock, setting: service.readOne }),
      clock,
      random,
      log,
      sync: settings.sync,
      concurrency: service.paging.concurrency,
      extraWalks: service.extraWalks,
    };
    return { id, client, engine };
  };
  const opened = new Map(accounts.map((id) => [id, open(id)]));
  const account = (id: string): Account => {
    const found = opened.get(id);
    if (!found) throw new MirrorError('usage', `${id} is not among the accounts of the settings.`);
    return found;
  };
  return {
    settings,
    mirror,
    secrets: held,
    serviceName,
    accounts,
    account,
    async pull(id, options) {
      const { run, outcome, proof, counts, seconds, error, notes } = await pull(account(id).engine, options);
      const { kind } = options;
      return { account: id, run_id: run.id, kind, outcome, proof, ...counts, seconds, notes, ...(error && { error }) };
    },
    verify: (id, options) => verify(account(id).engine, options),
    async pullGateways(id, { signal }) {
      const { gateways } = account(id).client;
      try {
        return { account: id, ...(await pullGateways({ gateways, mirror, accountId: id }, signal)) };
      } catch (caught) {
        const error = signal.aborted
          ? new MirrorError('interrupted', 'Interrupted before the gateways were read.')
          : asMirrorError(caught);
        return { account: id, seen: 0, removed: 0, error };
      }
    },
    authorize: (chosen) => tokens.exchange(sourceOf(chosen)),
    keepGrant: (chosen, pair) => tokenStoreOf(chosen).exclusively((_, save) => save(pair)),
    forgetGrant: (chosen) => tokenStoreOf(chosen).forget(),
    async close() {
      failures.stop();
      await Promise.all([held.close(), mirror.close()]);
    },
  };
}
