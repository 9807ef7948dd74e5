/** The daemon: builds everything, starts it in order, stops it in reverse. */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { createAdminServer } from '../admin/admin-server.ts';
import type { Actions } from '../admin/api/actions-api.ts';
import { Metrics } from '../admin/metrics.ts';
import { CauseLog } from '../domain/cause-log.ts';
import { timestamp, type Clock } from '../domain/clock.ts';
import { SingleFlight, startAll, stopAll, type Service } from '../domain/concurrency.ts';
import type { MirrorError } from '../domain/errors.ts';
import type { Log } from '../domain/log.ts';
import type { Roles } from '../domain/processes.ts';
import {
  connectionFacts,
  listenerMoved,
  listenerRemedy,
  publicationStatuses,
  targetStatuses,
  type Ability,
  type AccountFacts,
  type HealthFacts,
  type HealthSource,
} from '../health/judge.ts';
import type { Post } from '../http/post.ts';
import type { HttpServer } from '../http/server.ts';
import { createNotifier } from '../notify/target-sender.ts';
import { isLoopback, publishedSchemas, type Settings } from '../settings/parse.ts';
import { hasDamagedSchema, quarantineIfDamaged } from '../store/files/damage.ts';
import { listenerMovedAt, type DaemonEpoch } from '../store/files/identity.ts';
import { takeSideLock, type SideLock } from '../store/files/locks.ts';
import { MadeFiles } from '../store/made-files.ts';
import { isDamageNoted, settingsFileOf } from '../store/files/own-files.ts';
import type { Store } from '../store/mirror.ts';
import { mirrorMigrations, mirrorMode } from '../store/reader.ts';
import { connectionFailures } from '../store/account-reports.ts';
import { FiguresThread, type FiguresService } from '../store/reports/figures.ts';
import { accountsNotServed } from '../store/reports/known-accounts.ts';
import { publicationReports } from '../store/publications.ts';
import { targetReports } from '../store/reports/outbox-report.ts';
import { sinkMigrations } from '../store/sink/tables.ts';
import type { Secrets } from '../store/secrets/secrets.ts';
import { doubtfulFileSystem, localDisk, prepareFile } from '../store/sqlite/file-systems.ts';
import { isCausedByDamage } from '../store/sqlite/sqlite-errors.ts';
import { CronSlots, type Slots } from '../schedule/cron-slots.ts';
import type { RunReport } from '../sync/run.ts';
import type { DeliveryReceiverOptions } from '../webhook/delivery-receiver.ts';
import { movedTo, nobodysAccount } from '../webhook/address.ts';
import { createListener, type ListenerOptions } from '../webhook/listener.ts';
import { RefusalLog } from '../webhook/refusal-log.ts';
import { accountsSeenWithin, AccountServices, logAbandonedCallbacks, watchKeptAccounts } from './account-services.ts';
import { AccountSupervisor, type ScheduleKind } from './account-supervisor.ts';
import { serviceAddress, type Connections } from './connections.ts';
import { openInstallation, type Installation, type InstallationDependencies } from './installation.ts';
import { createClockJumpDetector, IntegrityCheck, createMaintenance } from './maintenance.ts';
import { SinkService } from './sinks.ts';
import { SweepPermits } from './sweep-permits.ts';
import { createArrivals, Work } from './work.ts';
import { Publications, refuseBadSchedules, refuseBadSources } from './publications.ts';

/** Parts of the program that are compiled separately. */
export interface CompiledParts {
  /** The folder of what the operator's pages load in the browser. */
  readonly pages: string;
  /** The thread that works out their figures. */
  readonly figures: string;
  /** The process that copies and exports. */
  readonly exports: string;
}

export interface DaemonDependencies extends Omit<InstallationDependencies, 'observe'> {
  readonly version: string;
  /** As of the admin server. */
  readonly settingsOption?: string;
  readonly compiled: CompiledParts;
  /** Memory and responsiveness of the process. */
  readonly machine: HealthParts['machine'];
  /** Sends outgoing webhooks; over the network by default. */
  readonly post?: Post;
  readonly onRun: (accountId: string, report: RunReport) => void;
  /** Called when an account is added while the daemon runs, before any request about it. */
  readonly onAccount?: (accountId: string) => void;
  readonly onFatal: (error: MirrorError) => void;
}

interface DaemonParts {
  readonly installation: Installation;
  /** Of a mirror in a file, whose daemon this is from its beginning. */
  readonly epoch: DaemonEpoch | undefined;
  readonly lock: SideLock;
  readonly made: MadeFiles | undefined;
  readonly isRestored: boolean;
  readonly roles: Roles;
  /** In the order in which they start. */
  readonly services: readonly Service[];
  readonly accounts: AccountServices;
  readonly listener: HttpServer;
  readonly admin: HttpServer;
  readonly integrity: IntegrityCheck;
  readonly health: HealthSource;
}

/** What `serve` runs. It must be stopped once it is opened, even if it was never started. */
export class Daemon implements Service {
  readonly name = 'the daemon';
  readonly #parts: DaemonParts;
  readonly #stopping = new SingleFlight<void>(() => true);
  #hasStarted = false;

  constructor(parts: DaemonParts) {
    this.#parts = parts;
  }

  /** Where it listens, once started; it takes no deliveries where it is not for that. */
  get addresses(): { readonly listener: string | null; readonly admin: string } {
    const { roles, listener, admin } = this.#parts;
    const at = ({ host, port }: { host: string; port: number }): string => `http://${host}:${port}`;
    return { listener: roles.listens ? at(listener.address) : null, admin: at(admin.address) };
  }

  /** Its health, for the live summary; without the figures of the process, which belong to the admin port. */
  get health(): HealthSource {
    return this.#parts.health;
  }

  /** Whether it takes deliveries, where it is for that. */
  get listening(): boolean {
    const { roles, listener } = this.#parts;
    return roles.listens ? listener.listening : this.#hasStarted;
  }

  async start(): Promise<void> {
    const { installation, roles, services, accounts, isRestored } = this.#parts;
    await installation.mirror.place.serve(roles);
    await startAll(services);
    this.#hasStarted = true;
    if (isRestored) accounts.reconcileAll(restored);
  }

  stop(): Promise<void> {
    return this.#stopping.run(() => stopAll(this.#parts.services).finally(() => this.#close()));
  }

  /** Applies the accounts and connections of these settings, checks the callbacks, and sweeps accounts that were refused. Other settings are ignored. */
  async use(settings: Settings): Promise<void> {
    const { accounts } = this.#parts;
    await accounts.applySettings(settings);
    accounts.checkAnew();
  }

  /**
   * Deletes the callbacks of this installation, on every account. @returns how many.
   * @throws MirrorError `already_running` where another daemon works on the mirror, and of the service.
   */
  async unregister(): Promise<number> {
    const { epoch, installation } = this.#parts;
    if (!epoch) await installation.mirror.place.beginDaemon(installation.secrets.path);
    let removed = 0;
    for (const supervisor of this.#parts.accounts.supervisors.values())
      removed += await supervisor.subscriptions.unregister();
    return removed;
  }

  async #close(): Promise<void> {
    const { installation, integrity, lock, made } = this.#parts;
    // Where that fails, the next daemon checks the integrity of the mirror.
    if (integrity.passed) await this.#recordEnd().catch(() => undefined);
    await installation.close();
    if (this.#hasStarted) lock.release();
    else discard(made, lock);
  }

  async #recordEnd(): Promise<void> {
    const { installation, epoch } = this.#parts;
    if (!epoch) return;
    await installation.mirror.place.endDaemon();
    await installation.secrets.place.endDaemon(epoch);
  }
}

const restored = 'The mirror was restored from a copy: what was learned since is not in it.';

/**
 * Opens the files and builds the daemon; nothing runs yet.
 * @throws MirrorError `already_running`, `settings_invalid`, and of files.
 */
export async function openDaemon(settings: Settings, dependencies: DaemonDependencies): Promise<Daemon> {
  refuseBadSchedules(settings);
  const { clock, random, log, compiled } = dependencies;
  const metrics = new Metrics();
  const { installation, epoch, lock, made, doubt, isRestored } = await openAlone(settings, {
    ...dependencies,
    observe: (facts) => metrics.request(facts),
  });
  const { mirror } = installation;

  const start = new StartOfDaemon(clock, lock);
  const {
    accounts,
    receiving,
    services: lasting,
    working: workingAccounts,
  } = await daemonServices({
    ...{ ...dependencies, installation, metrics },
    onClockJump: () => start.correct(),
  });

  const listener = createListener({
    ...receiving,
    host: settings.listener.host,
    port: settings.listener.port,
    trustedProxies: settings.listener.trustedProxies,
    observe: (outcome, ms) => metrics.delivery(outcome, ms),
  });

  const figures = await figuresOf(settings, mirror, dependencies);
  const health: HealthParts = {
    ...{ version: dependencies.version, start, settings, machine: dependencies.machine, clock },
    ...{ mirror, secrets: installation.secrets, connections: installation.connections, accounts, listener },
  };
  const admin = createAdminServer({
    settings: settings.admin,
    settingsOption: dependencies.settingsOption ?? '',
    source: healthSource(health),
    figures: (id) => figures.read(id),
    owed: () => figures.owed(),
    browse: (filter) => figures.browse(filter),
    actions: operatorActions(accounts, mirror, log),
    assetFolder: compiled.pages,
    metrics,
    query: mirror.query,
    clock,
    onFault: (error) => log.error({ err: error }, 'a page of the admin port could not be rendered'),
    onGuesses: (wrong) => log.warn({ wrong }, wrongTokens),
  });

  const integrity = new IntegrityCheck({ path: mirror.path, reason: doubt, log, onFatal: dependencies.onFatal });
  const working = async (): Promise<readonly Service[]> => {
    await logAbandonedCallbacks(mirror, log);
    const sinks = publishedSchemas(settings.publish).map(
      (publication) =>
        new SinkService({
          ...{ publication, mirror, clock, random, log },
          timezone: settings.schedule.timezone,
          host: hostname(),
          migrations: sinkMigrations(dependencies.migrations),
        }),
    );
    const webhooks = createNotifier({
      ...{ settings, outbox: mirror.outbox, positions: installation.secrets.notified, clock, random, log },
      post: dependencies.post,
      observe: (target, outcome) => metrics.notified(target, outcome),
    });
    const publications = new Publications({ settings, mirror, clock, random, log, program: compiled.exports });
    return [integrity, publications, ...sinks, webhooks, ...workingAccounts()];
  };
  const work = new Work({
    ...{ mirror, secrets: installation.secrets, services: working, clock, log },
    onBegun: (isCopy) => isCopy && accounts.reconcileAll(restored),
  });
  const roles = rolesOf(settings);
  const accountWatch = watchKeptAccounts(accounts, { mirror, clock, log });
  const services = [
    ...[figures, admin],
    ...(roles.listens ? [listener] : []),
    ...lasting,
    // It may wait for an account that is being removed; stopping the accounts ends that wait.
    accountWatch,
    ...(epoch ? await working() : roles.mayWork ? [work] : []),
  ];
  const watched = healthSource({ ...health, machine: () => null });
  return new Daemon({
    installation,
    epoch,
    lock,
    made,
    isRestored,
    roles,
    services,
    accounts,
    listener,
    admin,
    integrity,
    health: watched,
  });
}

function rolesOf({ roles }: Pick<Settings, 'roles'>): Roles {
  return { listens: roles.includes('listen'), mayWork: roles.includes('work') };
}

interface OpenedInstallation {
  readonly installation: Installation;
  readonly epoch: DaemonEpoch | undefined;
  /** Whether the mirror has the record of a daemon that did not stop normally. */
  readonly isRecordLeft: boolean;
  /** Why the integrity of the mirror must be checked; undefined where it need not be. */
  readonly doubt: string | undefined;
  /** Whether the mirror is a copy from before: what was learned since is not in it. */
  readonly isRestored: boolean;
}

/** Where figures are computed, so that no delivery waits for them: in a thread, or by a server. */
async function figuresOf(
  { postgres }: Settings,
  mirror: Pick<Store, 'path'>,
  { compiled, clock }: DaemonDependencies,
): Promise<FiguresService> {
  if (!postgres) return new FiguresThread(compiled.figures, mirror.path);
  const { FiguresSession } = await import('../store/postgres/figures-session.ts');
  return new FiguresSession({ store: postgres, clock });
}

const wrongTokens =
  'requests to the admin port had a wrong token: if no program of yours has an old one, somebody guesses; let only those reach the port who should';

/** For a mirror in PostgreSQL, which knows its daemons itself. */
const noLock: SideLock = { restamp: () => undefined, release: () => undefined, discard: () => undefined };

/** Takes the side lock, then opens the files. A damaged mirror that no other program has open is moved aside first. */
async function openAlone(
  settings: Settings,
  dependencies: InstallationDependencies,
): Promise<OpenedInstallation & { readonly lock: SideLock; readonly made: MadeFiles | undefined }> {
  serviceAddress(settings);
  if (settings.postgres)
    return { ...(await openBesideOthers(settings, dependencies)), lock: noLock, made: undefined, doubt: undefined };
  const made = new MadeFiles(settings);
  let lock: SideLock | undefined;
  try {
    const path = prepareFile(settings.database, mirrorMode);
    const doubt = doubtfulFileSystem(path);
    if (doubt !== undefined) dependencies.log.warn(`${doubt} ${localDisk}`);
    lock = takeSideLock(path, dependencies.clock.now());
    return { ...(await openLocked(path, settings, dependencies)), made, lock };
  } catch (error) {
    discard(made, lock);
    throw error;
  }
}

/** After all files were closed, where nothing was started. */
function discard(made: MadeFiles | undefined, lock: SideLock | undefined): void {
  // Another daemon may have the files where this has no lock.
  if (!made || !lock) return;
  made.remove();
  lock.discard();
  made.removeFolders();
}

async function openLocked(
  path: string,
  settings: Settings,
  dependencies: InstallationDependencies,
): Promise<OpenedInstallation> {
  // A process that ends cleanly leaves none. SQLite applies it to whatever file is there now, also to a copy that was put back.
  const isJournalLeft = existsSync(`${path}-wal`);
  if (isDamageNoted(path) || hasDamagedSchema(path, mirrorMigrations(dependencies.migrations)))
    await quarantineDamaged(path, dependencies);
  const opened = await openReplacingDamaged(path, settings, dependencies);
  const doubt = opened.doubt ?? (isJournalLeft ? 'a journal was left beside it' : undefined);
  // A daemon that was killed leaves its journal.
  return { ...opened, doubt, isRestored: opened.isRestored || (opened.isRecordLeft && !isJournalLeft) };
}

/** Opens the files; if damage prevents that, the mirror is checked, moved aside if it is damaged, and a new one is opened. */
async function openReplacingDamaged(
  path: string,
  settings: Settings,
  dependencies: InstallationDependencies,
): Promise<OpenedInstallation> {
  let isOpen = false;
  const { onFatal } = dependencies;
  // Until everything is open, errors are thrown instead.
  const open = (): Promise<OpenedInstallation> =>
    openClaimed(settings, { ...dependencies, onFatal: (error) => isOpen && onFatal?.(error) });
  const opened = await open().catch(async (error: unknown) => {
    if (!isCausedByDamage(error) || !(await quarantineDamaged(path, dependencies))) throw error;
    return open();
  });
  isOpen = true;
  return opened;
}

/** Opens a mirror that other daemons may serve, too: which of them works is found out when it is started. */
async function openBesideOthers(
  settings: Settings,
  dependencies: InstallationDependencies,
): Promise<OpenedInstallation> {
  const installation = await openInstallation(settings, dependencies);
  try {
    await refuseBadSources(settings.publish, installation.mirror);
    if (rolesOf(settings).listens) await noteListener(settings, installation.mirror, dependencies.log);
    return { installation, epoch: undefined, doubt: undefined, isRestored: false, isRecordLeft: false };
  } catch (error) {
    await installation.close();
    throw error;
  }
}

/** Opens the files as those of this daemon: an earlier one commits nothing more. */
async function openClaimed(settings: Settings, dependencies: InstallationDependencies): Promise<OpenedInstallation> {
  const installation = await openInstallation(settings, dependencies);
  try {
    const { mirror, secrets } = installation;
    await refuseBadSources(settings.publish, mirror);
    const { epoch, left } = await mirror.place.beginDaemon(secrets.path);
    const isOlder = await secrets.beginDaemon(epoch, left);
    await noteListener(settings, mirror, dependencies.log);
    const doubt = left.isThere ? 'the previous daemon did not stop cleanly, or this is a copy' : undefined;
    const isRestored = isOlder || left.isOfAnother;
    return { installation, epoch, doubt, isRestored, isRecordLeft: left.isThere };
  } catch (error) {
    await installation.close();
    throw error;
  }
}

/** Who upgrades is told once that a proxy elsewhere no longer reaches the listener; `status` and `doctor` say it until a delivery comes. */
async function noteListener(
  { listener, namesListenerHost }: Settings,
  mirror: Pick<Store, 'noteListener'>,
  log: Log,
): Promise<void> {
  const { host, publicUrl } = listener;
  const isClosedByDefault = !namesListenerHost && publicUrl !== null && isLoopback(host);
  if (await mirror.noteListener({ host, isClosedByDefault })) log.warn(`${listenerMoved(host)} ${listenerRemedy}`);
}

interface DaemonServicesOptions extends Pick<
  DaemonDependencies,
  'clock' | 'random' | 'fetch' | 'log' | 'onRun' | 'onAccount'
> {
  readonly installation: Installation;
  readonly metrics: Metrics;
  readonly onClockJump?: () => void;
}

interface DaemonServices {
  readonly accounts: AccountServices;
  /** What the listener needs. Deliveries for a paused account are stored, and handled when it is resumed. */
  readonly receiving: DeliveryReceiverOptions &
    Pick<ListenerOptions, 'tokens' | 'previousTokens' | 'nobodysToken' | 'process'>;
  /** What runs beside a listener. */
  readonly services: readonly Service[];
  /** What works, made anew for each turn, in the order in which it starts. */
  readonly working: () => readonly Service[];
}

/** How many accounts are swept at once. */
const sweepsAtOnce = 4;

/** What a daemon runs besides its servers: the accounts, the clock jump detector and maintenance. Nothing runs yet. */
export async function daemonServices(options: DaemonServicesOptions): Promise<DaemonServices> {
  const { installation, clock, fetch, log, onRun } = options;
  const process = installation.mirror.place.process.name;
  const { mirror, secrets, settings, serviceTime } = installation;
  const { schedule, retention, service } = settings;
  const newPermits = (): SweepPermits => new SweepPermits(sweepsAtOnce, clock);
  let permits = newPermits();
  const { connections } = installation;
  if (settings.listener.publicUrl === null) log.info('listener.publicUrl is not set: no webhooks, only sweeps');
  const refused = new RefusalLog({ clock, log, mirror: mirror.refusals });
  const causes = new CauseLog({
    connectionOf: (id) => connections.of(id),
    accounts: () => [...accounts.supervisors.keys()],
    clock,
    log,
  });
  const slotsOf = (kind: ScheduleKind): Slots => new CronSlots(schedule[kind], schedule.timezone);
  const slots = { reconcile: slotsOf('reconcile'), pull: slotsOf('pull') };
  const build = (id: string, lastRun: number | undefined): AccountSupervisor =>
    new AccountSupervisor({
      ...options,
      account: installation.account(id),
      permits,
      causes,
      asking: { fetch, clock, isOfMirror: (name) => mirror.place.isThere(name) },
      slots,
      isAlone: installation.accounts.length === 1,
      lastRun,
      onRun: (report) => onRun(id, report),
      onTokens: (id, tokens) => accounts.useTokens(id, tokens),
      // What strangers sent to the old address says nothing of the new one.
      onRotated: (id) => refused.forgetStrangers(id),
      onWrongCode: () => refused.note(id, 'wrong_code', null),
    });
  const accounts = await AccountServices.open({
    ...options,
    build,
    shared: () => (permits = newPermits()),
    othersServeWithin: settings.postgres ? accountsSeenWithin : 0,
  });
  const receiving: DaemonServices['receiving'] = {
    tokens: accounts.tokens,
    previousTokens: accounts.previousTokens,
    nobodysToken: await secrets.verifiers.pathToken(nobodysAccount),
    process,
    clock,
    log,
    mirror: mirror.deliveries,
    verifiers: secrets.verifiers,
    signatureHeader: service.signatureHeader,
    onDelivery: (id) => accounts.active(id)?.delivered(),
    onCode: (id) => accounts.active(id)?.subscriptions.codeArrived(),
    onWrongSignatures: (id) => accounts.active(id)?.wronglySigned(),
    onRefused: (id, outcome, detail) => refused.note(id, outcome, detail),
  };
  const onJump = (ms: number): void => {
    options.onClockJump?.();
    const seconds = Math.round(ms / 1_000);
    log.warn({ seconds }, 'the clock jumped; all accounts are reconciled');
    accounts.reconcileAll(`At ${timestamp(clock.now())} the clock was found to have jumped by ${seconds} s.`);
  };
  // A file that is locked or full for long has that noticed by the next request.
  const onTick = (): Promise<void> => mirror.noticeClockSetBack().catch(() => undefined);
  return {
    accounts,
    receiving,
    services: [refused],
    working: () => [
      accounts,
      ...(settings.postgres ? [createArrivals({ mirror, secrets, accounts, clock })] : []),
      createClockJumpDetector(clock, onTick, onJump),
      createMaintenance({ mirror, secrets, serviceTime, retention, clock, log }),
    ],
  };
}

/**
 * When the daemon began, by the wall clock as it is now: a machine may start with a clock of 1970 and learn the time later. It is moved only
 * where the clock has jumped, so that it is one moment to those who count starts by it.
 */
class StartOfDaemon {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #lock: Pick<SideLock, 'restamp'>;
  readonly #began: number;
  #at: number;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, lock: Pick<SideLock, 'restamp'>) {
    this.#clock = clock;
    this.#lock = lock;
    this.#began = clock.monotonic();
    this.#at = clock.now();
  }

  get at(): number {
    return this.#at;
  }

  /** For other processes too, which read it from the lock. */
  correct(): void {
    this.#at = this.#clock.now() - (this.#clock.monotonic() - this.#began);
    this.#lock.restamp(this.#at);
  }
}

interface HealthParts {
  readonly version: string;
  readonly start: Pick<StartOfDaemon, 'at'>;
  readonly settings: Pick<Settings, 'admin' | 'listener' | 'notify' | 'publish' | 'readFrom' | 'roles' | 'sandbox'>;
  readonly mirror: Pick<Store, 'path' | 'accountStates' | 'query' | 'place'>;
  readonly secrets: { readonly place: Pick<Secrets['place'], 'trouble'> };
  readonly connections: Pick<Connections, 'names' | 'of'>;
  readonly accounts: Pick<AccountServices, 'next'> & {
    readonly supervisors: ReadonlyMap<string, Pick<AccountSupervisor, 'doubt' | 'progress'>>;
  };
  readonly listener: Pick<HttpServer, 'listening'>;
  readonly machine: () => HealthFacts['process'];
  readonly clock: Pick<Clock, 'now' | 'yield'>;
}

/** What the operator's pages show, gathered from the mirror and from what runs. */
export function healthSource(parts: HealthParts): HealthSource {
  const { version, start, settings, mirror, secrets, connections, accounts, listener, machine, clock } = parts;
  const { supervisors } = accounts;
  const settingsFile = settingsFileOf(settings);
  const { publicUrl } = settings.listener;
  const awaitsDeliveries = publicUrl !== null;
  const targetNames = settings.notify.map(({ name }) => name);
  const ability = (): Ability => ({
    listening: rolesOf(settings).listens ? listener.listening : null,
    work: mirror.place.work(),
    trouble: mirror.place.trouble() ?? secrets.place.trouble() ?? null,
    diskFreeBytes: mirror.place.sizes().freeBytes,
  });
  return {
    ability,
    async facts() {
      const served = [...supervisors.keys()];
      const left = await mirror.query((sqlite) => accountsNotServed(sqlite, { accounts: served, settingsFile }));
      const states = await mirror.accountStates.of([...served, ...left]);
      const known = [...states].map(([id, state]): AccountFacts => {
        const { doubt, progress } = supervisors.get(id) ?? { doubt: null, progress: null };
        return {
          ...state,
          isLeft: !supervisors.has(id),
          awaitsDeliveries,
          doubt,
          progress,
          movedTo: movedTo(publicUrl, id, state.callbacks),
        };
      });
      const failures = await mirror.query(connectionFailures);
      return {
        version,
        database: mirror.path,
        isSandbox: settings.sandbox !== null,
        startedAt: start.at,
        maxStaleness: settings.admin.maxStaleness,
        accounts: known,
        connections: connectionFacts(connections.names, (id) => connections.of(id), served, failures),
        files: mirror.place.sizes(),
        serving: await mirror.place.serving(),
        publications: publicationStatuses(settings.publish, await mirror.query(publicationReports)),
        targets: targetStatuses(targetNames, await mirror.query(targetReports), clock.now()),
        ability: ability(),
        listenerMovedAt: await mirror.query(listenerMovedAt),
        process: machine(),
        next: { pull: accounts.next('pull'), reconcile: accounts.next('reconcile') },
      };
    },
  };
}

/** What a person may do on the dashboard: request runs, and retry parked vendors as the command does. */
function operatorActions(accounts: AccountServices, mirror: Store, log: Log): Actions {
  return {
    get accounts() {
      return accounts.activeIds;
    },
    get refusal() {
      const work = mirror.place.work();
      if (!work || work.isHere) return undefined;
      return work.host === null
        ? 'No daemon works now, so nothing can be requested.'
        : `The daemon on ${work.host} works: request it there.`;
    },
    run(account, kind, approved = 0) {
      log.info({ account, kind, approved }, 'a run was requested on the dashboard');
      accounts.active(account)?.requestRun(kind, approved);
    },
    async retry(account) {
      const marked = await mirror.deliveries.retryParked({ account });
      log.info({ account, marked }, 'a retry of parked vendors was requested on the dashboard');
      accounts.active(account)?.wakeWorker();
      return marked;
    },
  };
}

/** Checks the mirror, and moves it aside if it is damaged. @returns whether it was. */
async function quarantineDamaged(
  path: string,
  { clock, log, migrations }: { readonly clock: Clock; readonly log: Log; readonly migrations: string },
): Promise<boolean> {
  const damaged = await quarantineIfDamaged(path, clock, mirrorMigrations(migrations));
  if (damaged)
    log.error(
      { code: 'database_corrupt', faults: damaged.faults, moved_to: damaged.to },
      `${path} was damaged. It was moved to ${damaged.to}, and a new mirror is filled from the service; the history starts again.`,
    );
  return damaged !== undefined;
}
