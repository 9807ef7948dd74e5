/** One installation: the mirror, the service's accounts, and the jobs between them, built from the settings. */
import type { ApiDependencies } from '../api/caller.ts';
import { connect, type ServiceClient } from '../api/client.ts';
import type { Clock, Random } from '../domain/clock.ts';
import { SingleFlight } from '../domain/concurrency.ts';
import { asMirrorError, MirrorError } from '../domain/errors.ts';
import type { Log } from '../domain/log.ts';
import { ServiceTime } from '../domain/service-time.ts';
import type { PostgresStore, Settings } from '../settings/parse.ts';
import { newFiles, refuseOtherService, serviceNameOf } from '../store/files/identity.ts';
import { MadeFiles } from '../store/made-files.ts';
import { settingsFileOf } from '../store/files/own-files.ts';
import { openMirror, openPostgresMirror, type MirrorFile, type Store } from '../store/mirror.ts';
import type { RunCounts } from '../store/runs.ts';
import { refuseMigrationBesideDaemon } from '../store/files/locks.ts';
import { openPostgresSecrets, openSecrets, secretsSealing, type Secrets } from '../store/secrets/secrets.ts';
import { verify, type VerifyOptions, type VerifyReport } from '../sync/compare.ts';
import { pull, pullGateways, type GatewayCount, type PullOptions, type RunReport } from '../sync/run.ts';
import { VendorReader, type SyncAccount } from '../sync/sync-account.ts';
import { Connections, RequestFailureLog, serviceAddress } from './connections.ts';

export interface InstallationDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly fetch: ApiDependencies['fetch'];
  readonly log: Log;
  readonly lockProcess: MirrorFile['lockProcess'];
  /** Called when a file stays locked by another program, with its path and who that is. */
  readonly onLocked?: (path: string, holder: string) => void;
  /** The folder that holds the migrations of both files. */
  readonly migrations: string;
  readonly observe?: NonNullable<ApiDependencies['observe']>;
  readonly retryLimits?: NonNullable<ApiDependencies['retryLimits']>;
  /** The name by which the mirror knows the service; default: its address. */
  readonly serviceName?: string | undefined;
  /** Whether the service may be another one than that of the mirror, to compare them. Then nothing may be applied. */
  readonly anyService?: boolean;
  /** The path of the mirror that this one stands in for, until it is removed: the secrets stay that one's, or nobody's. */
  readonly standsInFor?: string;
  /** Whether the mirror is a draft, whose commits need not wait for the disk. */
  readonly isDraft?: boolean;
  /** Whether a person waits for whatever is asked of the service, sweeps included. */
  readonly isCommand?: boolean;
  /** Called when a file can no longer be trusted; every later operation on it fails. */
  readonly onFatal?: (error: MirrorError) => void;
  /** Receives the progress of a long migration; default: the log. */
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
  /** The service declined it: why, or null where it was not asked. */
  readonly declined?: MirrorError | null;
}

export interface ServedAccount extends SyncAccount {
  /** The whole API of the account at the service. */
  readonly client: ServiceClient;
}

/** The opened files, and the accounts at the service. */
export class Installation {
  readonly settings: Settings;
  readonly mirror: Store;
  readonly secrets: Secrets;
  readonly connections: Connections;
  /** Whether the clocks of this machine and of the service agree. */
  readonly serviceTime: ServiceTime;
  /** The name by which the mirror knows the service. */
  readonly serviceName: string;
  readonly #failures: RequestFailureLog;
  readonly #log: Log;
  readonly #adoption = new SingleFlight<void>((outcome) => outcome === 'done');
  readonly #open: (accountId: string) => ServedAccount;
  #opened: ReadonlyMap<string, ServedAccount>;

  constructor(settings: Settings, mirror: Store, secrets: Secrets, dependencies: InstallationDependencies) {
    const { clock, fetch, log } = dependencies;
    const baseUrl = serviceAddress(settings);
    this.settings = settings;
    this.#log = log;
    this.mirror = mirror;
    this.secrets = secrets;
    this.serviceName = dependencies.serviceName ?? serviceNameOf(baseUrl);
    const { place, requestFailures, connectionFailures } = mirror;
    const files = { secrets, process: place.process, failures: connectionFailures };
    const { isCommand } = dependencies;
    const { timeout } = settings.service;
    this.connections = new Connections({ settings, ...files, fetch, clock, timeout, log, isCommand });
    this.serviceTime = new ServiceTime(clock, settings.sync.lag, (aheadBy) => this.#clockJudged(aheadBy));
    this.#failures = new RequestFailureLog({ failures: requestFailures, clock, log });
    const service = { ...settings.service, baseUrl, lag: settings.sync.lag, exclude: settings.vendors.exclude };
    const api = this.#api(dependencies);
    this.#open = (id) => {
      const ofConnection = { tokens: this.connections.tokens(id), rate: () => this.connections.rate(id) };
      return this.#connected(id, connect(service, id, { ...api, ...ofConnection }), dependencies);
    };
    this.#opened = new Map(settings.accounts.map((id) => [id, this.#open(id)]));
  }

  get accounts(): readonly string[] {
    return [...this.#opened.keys()];
  }

  /** From now on serves the accounts of these settings, with their connections. @throws MirrorError of the mirror. */
  async serve(settings: Settings): Promise<void> {
    await recordServed(this.mirror, settings, this.#log);
    this.connections.update(settings);
    this.#opened = new Map(settings.accounts.map((id) => [id, this.#opened.get(id) ?? this.#open(id)]));
  }

  /** @throws MirrorError `usage` where the settings do not name the account. */
  account(accountId: string): ServedAccount {
    const found = this.#opened.get(accountId);
    if (!found) throw new MirrorError('usage', `${accountId} is not among the accounts of the settings.`);
    return found;
  }

  /** One run over an account's vendors. Expected failures are in the summary. */
  async pull(accountId: string, options: PullOptions): Promise<RunSummary> {
    const report = await pull(this.account(accountId), options);
    const { run, outcome, proof, counts, seconds, error, notes } = report;
    const { kind } = options;
    return {
      account: accountId,
      run_id: run.id,
      kind,
      outcome,
      proof,
      ...counts,
      seconds,
      notes,
      ...(error && { error }),
    };
  }

  /** Compares an account with its source. Expected failures are in the report. */
  verify(accountId: string, options: VerifyOptions): Promise<VerifyReport> {
    return verify(this.account(accountId), options);
  }

  /** Mirrors an account's gateways. Expected failures are in the summary. */
  async pullGateways(accountId: string, { signal }: { readonly signal: AbortSignal }): Promise<GatewaySummary> {
    const none = { account: accountId, seen: 0, removed: 0 };
    if (this.settings.service.gateways === 'never') return { ...none, declined: null };
    try {
      const counts = await pullGateways(this.account(accountId), signal);
      if ('seen' in counts) return { account: accountId, ...counts };
      return { ...none, declined: counts.declined };
    } catch (caught) {
      const error = signal.aborted
        ? new MirrorError('interrupted', 'Interrupted before the gateways were read.')
        : asMirrorError(caught);
      return { ...none, error };
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.secrets.close(), this.mirror.close()]);
  }

  #api({ clock, random, fetch, log, ...more }: InstallationDependencies): Omit<ApiDependencies, 'tokens' | 'rate'> {
    return {
      clock,
      random,
      fetch,
      log,
      reserveRequest: this.mirror.reserveRequest,
      optionalMemory: this.mirror.notHonoured,
      serviceTime: this.serviceTime,
      ...(!more.anyService && {
        onAnswer: (id) => this.#answered(id),
        onFailure: (id, error) => this.#failures.failed(id, error),
      }),
      ...(more.observe && { observe: more.observe }),
      ...(more.retryLimits && { retryLimits: more.retryLimits }),
    };
  }

  /** The clock was found to be wrong, or right again: other processes read it in the mirror. */
  #clockJudged(aheadBy: number | null): void {
    if (aheadBy === null) this.#log.info('the clocks of this machine and of the service agree again');
    else
      this.#log.warn(
        { seconds: Math.round(aheadBy / 1_000) },
        'the clock of this machine contradicts the time of the service: the mirror claims no freshness, and removes nothing old',
      );
    // Without it, only the reason is missing from what other processes say.
    this.mirror.noteClock(aheadBy).catch(() => undefined);
  }

  /** The service answered: a mirror that belonged to no service belongs to this one from now on. */
  async #answered(accountId: string): Promise<void> {
    const { mirror, serviceName } = this;
    const adopt = async (): Promise<void> =>
      refuseOtherService(await mirror.adoptService(serviceName), serviceName, mirror);
    await this.#adoption.run(adopt);
    await Promise.all([this.#failures.answered(accountId), this.connections.answered(accountId)]);
  }

  #connected(id: string, client: ServiceClient, { clock, random, log }: InstallationDependencies): ServedAccount {
    const { vendors, optional } = client;
    const { mirror } = this;
    const { service, sync } = this.settings;
    return {
      accountId: id,
      client,
      vendors,
      optional,
      mirror,
      reader: new VendorReader({ vendors, mirror, clock, readOne: service.readOne }),
      clock,
      random,
      log,
      sync,
      serviceTime: this.serviceTime,
      concurrency: service.paging.concurrency,
      extraWalks: service.extraWalks,
    };
  }
}

/** Records which accounts the settings name. */
async function recordServed(mirror: Store, settings: Settings, log: Log): Promise<void> {
  const { accounts, namedAccounts, connectionOf } = settings;
  const served = { accounts: namedAccounts, connectionOf, settingsFile: settingsFileOf(settings) };
  for (const account of await mirror.addAccounts(accounts, served))
    log.warn({ account }, `the account ${account} is no longer in the settings, so nothing keeps it fresh`);
}

/**
 * Opens the files and connects to the service; nothing is requested yet.
 * @throws MirrorError of files and settings.
 */
export async function openInstallation(
  settings: Settings,
  dependencies: InstallationDependencies,
): Promise<Installation> {
  const baseUrl = serviceAddress(settings);
  const { mirror, openItsSecrets, undo } = await (settings.postgres
    ? openInPostgres(settings.postgres, dependencies)
    : openFiles(settings, dependencies));
  const serviceName = dependencies.serviceName ?? serviceNameOf(baseUrl);
  let secrets: Secrets | undefined;
  try {
    const { mirrorId, service: known } = await mirror.identity();
    if (!dependencies.anyService) refuseOtherService(known, serviceName, mirror);
    secrets = await openItsSecrets();
    await secrets.place.claim({ mirrorId, path: mirror.path, standsInFor: dependencies.standsInFor });
    await recordServed(mirror, settings, dependencies.log);
    return new Installation(settings, mirror, secrets, dependencies);
  } catch (error) {
    await secrets?.close();
    await mirror.close();
    undo();
    throw error;
  }
}

/** A mirror, and how to open its secrets. */
interface Opened {
  readonly mirror: Store;
  readonly openItsSecrets: () => Promise<Secrets>;
  /** Removes what was made, after everything was closed. */
  readonly undo: () => void;
}

async function openFiles(settings: Settings, dependencies: InstallationDependencies): Promise<Opened> {
  const { clock, random, migrations, log } = dependencies;
  const files = { migrations, clock, random, onDistrust: dependencies.onFatal };
  const { isDraft, lockProcess, onLocked, onMigration = migrationLog(log) } = dependencies;
  const lockedAt = (path: string) => ({ path, onLocked: (holder: string) => onLocked?.(path, holder) });
  const fresh = settings.sandbox === null && dependencies.standsInFor === undefined ? newFiles(settings) : undefined;
  if (fresh !== undefined)
    log.warn(
      `this begins ${fresh}; if there should be earlier ones, check \`database\` and \`secrets\` in the settings, and whether their folder is mounted`,
    );
  const made = new MadeFiles(settings);
  const mirror = await openMirror({ ...files, ...lockedAt(settings.database), isDraft, lockProcess, onMigration });
  const mayMigrate = (): void => refuseMigrationBesideDaemon(mirror.path);
  return {
    mirror,
    openItsSecrets: () => openSecrets({ ...files, ...lockedAt(settings.secrets), mayMigrate }),
    undo() {
      made.remove();
      made.removeFolders();
    },
  };
}

/** What is made on a server stays: an empty schema is filled by the next start as by this one. */
async function openInPostgres(store: PostgresStore, dependencies: InstallationDependencies): Promise<Opened> {
  const { clock, random, migrations, log } = dependencies;
  const options = { store, migrations, clock, random };
  // Before anything is made: a server that cannot be reached, or a key that cannot be used.
  const sealing = secretsSealing(store, random);
  const isThere = await (await import('../store/postgres/glimpse.ts')).isMirrorOn(store);
  const mirror = await openPostgresMirror(options);
  if (!isThere) log.warn(`this begins a new mirror, ${mirror.path}`);
  return { mirror, openItsSecrets: () => openPostgresSecrets({ ...options, sealing }), undo: () => undefined };
}

/** How far a long migration has come, in the log: a line for every tenth part. */
function migrationLog(log: Log): NonNullable<MirrorFile['onMigration']> {
  let reported = -10;
  return ({ name, percent }) => {
    if (percent < reported + 10) return;
    reported = percent - (percent % 10);
    log.info({ migration: name, percent }, `migrating the mirror: ${percent} %`);
  };
}
