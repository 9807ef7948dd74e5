/** The daemon: builds everything, starts it in order, stops it in reverse. */
import { logAbandonedCallbacks, type AccountServices } from './account-services.ts';
import { createAccountWatch } from './account-watch.ts';
import { daemonServices } from './daemon-services.ts';
import { Metrics } from '../admin/metrics/metrics.ts';
import { createAdminServer } from '../admin/admin-server.ts';
import type { Settings } from '../settings/parse.ts';
import type { MirrorError } from '../domain/errors.ts';
import type { HealthSource } from '../health/judge.ts';
import { settingsFileOf } from '../store/files/own-files.ts';
import { healthSource, type HealthParts } from './health-source.ts';
import { createIntegrityCheck, type IntegrityCheck } from './background/integrity-check.ts';
import { OutgoingWebhooks } from './outgoing-webhooks.ts';
import type { HttpServer } from '../http/server.ts';
import type { Post } from '../http/outgoing/post.ts';
import { operatorActions } from './operator-actions.ts';
import { openInstallation, type Installation, type InstallationDependencies } from './installation.ts';
import { serviceAddress } from './connections.ts';
import { Publications, refuseBadSchedules, refuseBadSources } from './background/publications.ts';
import { startAll, stopAll, type Service } from '../domain/lifecycle.ts';
import { SingleFlight } from '../domain/async/single-flight.ts';
import type { RunReport } from '../sync/run/run.ts';
import { prepareFile } from '../store/sqlite/prepare-file.ts';
import { mirrorMigrations, mirrorMode } from '../store/files/mirror-options.ts';
import { quarantineDamaged } from './background/damaged-mirror.ts';
import { isDamageNoted } from '../store/files/damage-note.ts';
import { hasDamagedSchema } from '../store/files/quarantine.ts';
import { takeSideLock, type SideLock } from '../store/files/side-lock.ts';
import { isCausedByDamage } from '../store/sqlite/sqlite-errors.ts';
import { FiguresThread } from '../store/figures/figures-thread.ts';
import { createListener } from '../webhook/receive/listener.ts';

/** Parts of the program that are compiled separately. */
export interface CompiledParts {
  /** The folder of what the operator's pages load in the browser. */
  readonly pages: string;
  /** The thread that works out their figures. */
  readonly figures: string;
  /** The process that copies and exports. */
  readonly exports: string;
  /** The thread that brings the journal into the mirror; without it, the commit that fills the journal does. */
  readonly checkpoints?: string;
}

export interface DaemonDependencies extends Omit<InstallationDependencies, 'observe'> {
  readonly version: string;
  readonly compiled: CompiledParts;
  /** Memory and responsiveness of the process. */
  readonly machine: HealthParts['machine'];
  /** Sends outgoing webhooks; over the network by default. */
  readonly post?: Post;
  /** Called when a run of an account has ended. */
  readonly onRun: (accountId: string, report: RunReport) => void;
  /** Called when an account is added while the daemon runs, before any request about it. */
  readonly onAccount?: (accountId: string) => void;
  /** Called when the process must end. */
  readonly onFatal: (error: MirrorError) => void;
}

interface DaemonParts {
  readonly installation: Installation;
  readonly lock: SideLock;
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

  constructor(parts: DaemonParts) {
    this.#parts = parts;
  }

  /** Where it listens, once started. */
  get addresses(): { readonly listener: string; readonly admin: string } {
    const at = ({ host, port }: { host: string; port: number }): string => `http://${host}:${port}`;
    return { listener: at(this.#parts.listener.address), admin: at(this.#parts.admin.address) };
  }

  /** Its health, for the live summary; without the figures of the process, which belong to the admin port. */
  get health(): HealthSource {
    return this.#parts.health;
  }

  /** Whether it takes deliveries. */
  get listening(): boolean {
    return this.#parts.listener.listening;
  }

  start(): Promise<void> {
    return startAll(this.#parts.services);
  }

  stop(): Promise<void> {
    return this.#stopping.run(() => stopAll(this.#parts.services).finally(() => this.#close()));
  }

  /** Applies the accounts and connections of these settings and checks the callbacks. Other settings are ignored. */
  async use(settings: Settings): Promise<void> {
    const { accounts } = this.#parts;
    await accounts.applySettings(settings);
    accounts.checkCallbacks();
  }

  /** Deletes the callbacks of this installation, on every account. @returns how many. */
  async unregister(): Promise<number> {
    let removed = 0;
    for (const supervisor of this.#parts.accounts.supervisors.values())
      removed += await supervisor.subscriptions.unregister();
    return removed;
  }

  async #close(): Promise<void> {
    const { installation, integrity, lock } = this.#parts;
    // Where that fails, the next daemon checks the integrity of the mirror.
    if (integrity.passed) await installation.mirror.forgetDaemonFiles().catch(() => undefined);
    await installation.close();
    lock.release();
  }
}

/**
 * Opens the files and builds the daemon; nothing runs yet.
 * @throws MirrorError `already_running`, `settings_invalid`, and of files.
 */
export async function openDaemon(settings: Settings, dependencies: DaemonDependencies): Promise<Daemon> {
  refuseBadSchedules(settings);
  const { clock, random, log, compiled } = dependencies;
  const metrics = new Metrics();
  const { installation, lock, doubt } = await openAlone(settings, {
    ...dependencies,
    observe: (facts) => metrics.request(facts),
  });
  const { mirror } = installation;
  if (compiled.checkpoints !== undefined) mirror.checkpointIn(compiled.checkpoints);

  await logAbandonedCallbacks(mirror, log);
  const publications = new Publications({ settings, mirror, clock, random, log, program: compiled.exports });
  const onRun = (id: string, report: RunReport): void => {
    if (report.counts.created + report.counts.updated > 0) publications.changed();
    dependencies.onRun(id, report);
  };
  const { accounts, services: lasting } = await daemonServices({ ...dependencies, installation, metrics, onRun });

  const listener = createListener({
    ...accounts.receiving,
    host: settings.listener.host,
    port: settings.listener.port,
    observe: (outcome, ms) => metrics.delivery(outcome, ms),
  });

  const figures = new FiguresThread(dependencies.compiled.figures, mirror.path);
  const health: HealthParts = {
    version: dependencies.version,
    startedAt: clock.now(),
    maxStaleness: settings.admin.maxStaleness,
    settingsFile: settingsFileOf(settings),
    awaitsDeliveries: settings.listener.publicUrl !== null,
    clock,
    mirror,
    targets: settings.notify.map(({ name }) => name),
    secrets: installation.secrets,
    connections: installation.connections,
    supervisors: accounts.supervisors,
    listener,
    machine: dependencies.machine,
    next: () => ({ pull: accounts.next('pull'), reconcile: accounts.next('reconcile') }),
  };
  const admin = createAdminServer({
    settings: settings.admin,
    source: healthSource(health),
    figures: (id) => figures.read(id),
    actions: operatorActions({ accounts, mirror, log }),
    assetFolder: dependencies.compiled.pages,
    metrics,
    query: mirror.query,
    clock,
    onFault: (error) => log.error({ err: error }, 'a page of the admin port could not be rendered'),
  });

  const integrity = createIntegrityCheck({ path: mirror.path, reason: doubt, log, onFatal: dependencies.onFatal });
  const webhooks = new OutgoingWebhooks({ ...dependencies, installation, metrics });
  const accountWatch = createAccountWatch({ mirror, clock, log, onChange: (kept) => accounts.applyKept(kept) });
  // The account watch may wait for an account that is being removed; stopping the accounts ends that wait.
  const services = [figures, admin, listener, integrity, publications, webhooks, accountWatch, ...lasting];
  const watched = healthSource({ ...health, machine: () => null });
  return new Daemon({ installation, lock, services, accounts, listener, admin, integrity, health: watched });
}

interface OpenedInstallation {
  readonly installation: Installation;
  /** Why the integrity of the mirror must be checked; undefined where it need not be. */
  readonly doubt: string | undefined;
}

/** Takes the side lock, then opens the files. A damaged mirror that no other program has open is moved aside first. */
async function openAlone(
  settings: Settings,
  dependencies: InstallationDependencies,
): Promise<OpenedInstallation & { readonly lock: SideLock }> {
  serviceAddress(settings);
  const path = prepareFile(settings.database, mirrorMode);
  const lock = takeSideLock(path, dependencies.clock.now());
  try {
    if (isDamageNoted(path) || hasDamagedSchema(path, mirrorMigrations(dependencies.migrations)))
      await quarantineDamaged(path, dependencies);
    return { ...(await openReplacingDamaged(path, settings, dependencies)), lock };
  } catch (error) {
    lock.release();
    throw error;
  }
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

/** Opens the files as those of this daemon: an earlier one commits nothing more. */
async function openClaimed(settings: Settings, dependencies: InstallationDependencies): Promise<OpenedInstallation> {
  const installation = await openInstallation(settings, dependencies);
  try {
    const { mirror, secrets } = installation;
    await refuseBadSources(settings.publish, mirror);
    const { epoch, wasKilled } = await mirror.beginDaemon(secrets.path);
    await secrets.beginDaemon(epoch);
    return { installation, doubt: wasKilled ? 'the previous daemon did not stop cleanly' : undefined };
  } catch (error) {
    await installation.close();
    throw error;
  }
}
