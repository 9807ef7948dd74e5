/**
 * `serve`: the daemon, until a signal ends it; SIGHUP makes it read its settings again; systemd is told of its state.
 *
 * The last log record says why it ended: `stopped` with the signal, or at level 60 the error with its `code` and `exit`. On SIGHUP accounts,
 * connections and tokens are taken; what else changed is named and needs a new start, because a port or a schedule that changes under
 * running work is harder to get right than a restart is long. If the terminal that it was started from is gone, it stops instead, so that a
 * closed window leaves no process behind. `nohup` is respected.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openDaemon, type Daemon, type DaemonDependencies } from '../app/daemon.ts';
import { asMirrorError, exitStatus, MirrorError, type ExitStatus } from '../domain/errors.ts';
import type { Log } from '../domain/log.ts';
import { changedKeys, type Settings } from '../settings/parse.ts';
import { hasAllRoles, rolesOfFile } from '../domain/processes.ts';
import { newFiles } from '../store/files/identity.ts';
import { lockProcess } from '../store/files/locks.ts';
import { isUnused } from '../store/runs.ts';
import { secretCheckups } from './doctor-checkup.ts';
import { LiveSummary, wantsSummary } from './live-summary.ts';
import { loadSettings } from './load-settings.ts';
import { settingsOption, type Call, type CommandHandler } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { print } from './terminal/print.ts';
import { printFirstQuery } from './vendors-list.ts';
import { packageVersion } from './version.ts';
import { logOf, serviceOf, type Service } from './with-installation.ts';

/** Milliseconds between two measurements of the event loop; each wakes an idle daemon. */
const lagInterval = 500;

interface ServeOptions {
  /** Refuse to begin a new mirror or new secrets. */
  readonly existing?: boolean;
  /** Delete the callbacks of this installation and end. */
  readonly unregister?: boolean;
  /** Of the listener; the dashboard has the next one. */
  readonly port?: number;
  /** In place of `roles` of the settings. */
  readonly role?: Settings['roles'];
}

export const serve: CommandHandler<ServeOptions> = async (call) => {
  const { context, options } = call;
  const summary = !options.unregister && wantsSummary(context, options) ? new LiveSummary(context) : undefined;
  const log = await logOf(call, 'info', summary && ((entry, text) => summary.entry(entry, text)));
  return withFinalRecord({ log, summary }, async () => {
    const started = inRoles(onPort(await loadSettings(call), options.port), options.role);
    if (options.existing) await refuseNew(started);
    leaveRemovedFolder();
    for (const { message, remedy } of secretCheckups(started)) log.warn(`${message} ${remedy ?? ''}`);
    const service = await serviceOf(await reachable(started), context, { stays: options.unregister !== true });
    if (service.history !== undefined)
      log.info({ days: service.history }, `the sandbox begins with ${service.history} days that it made up`);
    try {
      return await (options.unregister
        ? unregister(service, context, log)
        : run(call, { ...service, started }, { log, summary }));
    } finally {
      await service.stop();
    }
  });
};

/** @throws MirrorError `settings_invalid` where the mirror or the secrets would begin anew, and of the server. */
async function refuseNew(settings: Settings): Promise<void> {
  const { database, postgres } = settings;
  if (!postgres) {
    refuseNewFiles(settings);
    return;
  }
  if (await (await import('../store/postgres/glimpse.ts')).isUsedOn(postgres)) return;
  throw new MirrorError(
    'settings_invalid',
    `${database}, schema ${postgres.schema}, holds no vendors yet, and --existing forbids to begin. Check \`database\` and \`databaseSchema\` in the settings; the first start of an installation is without --existing.`,
  );
}

/** @throws MirrorError `settings_invalid` where the mirror or the secrets would begin anew. */
function refuseNewFiles(settings: Settings): void {
  const { database } = settings;
  const fresh = newFiles(settings);
  if (fresh === undefined && !isUnused(database)) return;
  throw new MirrorError(
    'settings_invalid',
    `This would begin ${fresh ?? `to fill ${resolve(database)}, which holds nothing yet`}, and --existing forbids it. Check \`database\` and \`secrets\` in the settings, and whether their folder is mounted; the first start of an installation is without --existing.`,
  );
}

/** Threads cannot begin in a working directory that was removed. Then every path of the settings is absolute. */
function leaveRemovedFolder(): void {
  try {
    process.cwd();
  } catch {
    process.chdir('/');
  }
}

/** The built-in sandbox has no settings file that could name other ports. @throws MirrorError `usage` where there are settings. */
function onPort(settings: Settings, port: number | undefined): Settings {
  if (port === undefined) return settings;
  if (settings.sandbox === null)
    throw new MirrorError(
      'usage',
      '--port is for the built-in sandbox: set listener.port and admin.port in the settings.',
    );
  const { listener, admin } = settings;
  return { ...settings, listener: { ...listener, port }, admin: { ...admin, port: port + 1 } };
}

/** @throws MirrorError `usage` where a mirror in a file would have a daemon that does only a part. */
function inRoles(settings: Settings, roles: ServeOptions['role']): Settings {
  if (!roles) return settings;
  if (!settings.postgres && !hasAllRoles(roles)) throw new MirrorError('usage', `--role ${rolesOfFile}.`);
  return { ...settings, roles };
}

interface Watched {
  readonly log: Log;
  readonly summary: LiveSummary | undefined;
}

/** Does the work of a daemon. Whatever ends it but a signal is the last record of its log, with its code and exit status. */
async function withFinalRecord({ log, summary }: Watched, work: () => Promise<ExitStatus>): Promise<ExitStatus> {
  const finalRecord = (thrown: unknown): void => {
    summary?.end(false);
    const error = asMirrorError(thrown);
    log.fatal({ code: error.code, exit: error.exit, err: error }, 'ended by an error');
  };
  process.on('uncaughtExceptionMonitor', finalRecord);
  try {
    const status = await work();
    summary?.end(true);
    return status;
  } catch (error) {
    finalRecord(error);
    throw error;
  } finally {
    process.off('uncaughtExceptionMonitor', finalRecord);
  }
}

/** A built-in sandbox reaches the listener on this machine, and is told its port before the listener is open. */
async function reachable(settings: Settings): Promise<Settings> {
  const { listener, sandbox } = settings;
  if (sandbox === null || listener.publicUrl !== null) return settings;
  const host = '127.0.0.1';
  const port = listener.port === 0 ? await freePort(host) : listener.port;
  const address = { host, port, publicUrl: `http://${host}:${port}` };
  return { ...settings, listener: { ...listener, ...address }, namesListenerHost: true };
}

async function freePort(host: string): Promise<number> {
  const server = createServer().listen({ host, port: 0 });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function run(
  call: Call,
  { settings, serviceName, onAccount, started }: Service & { readonly started: Settings },
  watched: Watched,
): Promise<ExitStatus> {
  const { context } = call;
  const { log, summary } = watched;
  const fatal = new AbortController();
  const dependencies = dependenciesOf(context, log, (error) => fatal.abort(error));
  const onRun =
    settings.sandbox && !summary ? welcome(settings, context, () => daemon.addresses.admin) : dependencies.onRun;
  const daemon = await openDaemon(settings, {
    ...{ ...dependencies, serviceName, onRun },
    settingsOption: lastingOption(call.options),
    ...(onAccount && { onAccount }),
  });
  const hangups = watchHangups(context, () => {
    if (!end.aborted) void reload(call, { daemon, started, inUse: settings, log });
  });
  const end = AbortSignal.any([context.interrupted, hangups.gone, fatal.signal]);
  try {
    await serveUntil(end, fatal.signal, daemon, { context, settings, ...watched });
    fatal.signal.throwIfAborted();
    log.info({ exit: exitStatus.done, ...reasonOf(end) }, 'stopped');
    return exitStatus.done;
  } finally {
    hangups.reRaise();
  }
}

/** For commands in whatever folder; a pipe ends with the command that wrote it. */
function lastingOption({ config, sandbox }: Call['options']): string {
  if (config === undefined) return settingsOption(sandbox ? { sandbox } : {});
  return /^\/(dev|proc)\//.test(config) ? '' : settingsOption({ config: resolve(config) });
}

function reasonOf({ reason }: AbortSignal): { reason?: string } {
  return reason instanceof MirrorError ? { reason: reason.message } : {};
}

async function serveUntil(
  end: AbortSignal,
  fatal: AbortSignal,
  daemon: Daemon,
  { context, settings, log, summary }: Watched & { readonly context: ProcessContext; readonly settings: Settings },
): Promise<void> {
  try {
    await daemon.start();
    const { listener, admin } = daemon.addresses;
    const { database, accounts, postgres, roles } = settings;
    const dashboard = settings.admin.publicUrl ?? admin;
    log.info({ listener, dashboard, database, accounts, ...(postgres && { roles }) }, 'serving');
    summary?.watch(daemon.health, dashboard);
    notifySystemd('READY=1', context, log);
    const stopFeeding = feedWatchdog(context, () => daemon.listening, log);
    if (!end.aborted) await once(end, 'abort');
    stopFeeding();
    log.info('stopping');
    summary?.stopping();
    notifySystemd('STOPPING=1', context, log);
    fatal.throwIfAborted();
  } catch (error) {
    // The reason why it ends is logged last, even if stopping fails as well.
    await stopWithin(daemon, settings.shutdownTimeout, context).catch((late: unknown) => {
      log.error({ err: late }, 'stopping failed as well');
    });
    throw error;
  }
  await stopWithin(daemon, settings.shutdownTimeout, context);
}

async function unregister({ settings, serviceName }: Service, context: ProcessContext, log: Log): Promise<ExitStatus> {
  const dependencies = dependenciesOf(context, log, () => undefined);
  const daemon = await openDaemon(settings, { ...dependencies, serviceName });
  try {
    const removed = await daemon.unregister();
    print(context, removed === 1 ? 'Deleted one callback.' : `Deleted ${removed} callbacks.`);
  } finally {
    await daemon.stop();
  }
  return exitStatus.done;
}

function dependenciesOf(context: ProcessContext, log: Log, onFatal: DaemonDependencies['onFatal']): DaemonDependencies {
  const { clock, random, fetch, packageRoot } = context;
  const delays = monitorEventLoopDelay({ resolution: lagInterval });
  delays.enable();
  return {
    clock,
    random,
    fetch,
    log,
    onFatal,
    onRun: () => undefined,
    lockProcess,
    migrations: join(packageRoot, 'migrations'),
    compiled: {
      pages: join(packageRoot, 'dist/page'),
      figures: join(packageRoot, 'dist/cmd/figures.js'),
      exports: join(packageRoot, 'dist/cmd/exports.js'),
    },
    version: packageVersion(packageRoot),
    machine() {
      // Measured since the last call.
      const eventLoopLagSeconds = Math.max(0, delays.percentile(99) / 1e9 - lagInterval / 1e3);
      delays.reset();
      return { rssBytes: process.memoryUsage.rss(), eventLoopLagSeconds };
    },
  };
}

/** Prints once, for people who try the sandbox, where the dashboard is. */
function welcome(settings: Settings, context: ProcessContext, address: () => string): DaemonDependencies['onRun'] {
  let printed = false;
  return (_, { outcome }) => {
    if (printed || outcome !== 'complete') return;
    printed = true;
    const dashboard = settings.admin.publicUrl ?? address();
    void printFirstQuery(context, settings, { rows: true }).then(() =>
      print(context, `\nThe sandbox keeps changing. Dashboard: ${dashboard}   Stop: Ctrl-C\n`),
    );
  };
}

/** Stops the daemon. @throws MirrorError `interrupted` where that takes so long that there is just time left to say so. */
async function stopWithin(daemon: Daemon, shutdownTimeout: number, context: ProcessContext): Promise<void> {
  let cancel = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = context.clock.timer(shutdownTimeout - Math.min(500, shutdownTimeout / 10), () =>
      reject(
        new MirrorError('interrupted', `Stopping took longer than shutdownTimeout (${shutdownTimeout / 1_000} s).`),
      ),
    );
  });
  try {
    await Promise.race([daemon.stop(), late]);
  } finally {
    cancel();
  }
}

interface Reload {
  readonly daemon: Pick<Daemon, 'use'>;
  /** The settings with which it was started, as written in their file. */
  readonly started: Settings;
  /** The same as the daemon works with them. */
  readonly inUse: Settings;
  readonly log: Log;
}

/** Keys that say which mirror is kept, and of which service. */
const identifying = new Set(['database', 'databaseSchema', 'secrets', 'service.baseUrl']);

/**
 * Accounts, connections and tokens are taken at once; other keys that changed are named, because they need a new start. Settings that are
 * wrong change nothing, nor do those of another mirror or service: their accounts would be asked of this service with their tokens, and
 * stored in this mirror. Never throws.
 */
async function reload(call: Call, { daemon, started, inUse, log }: Reload): Promise<void> {
  try {
    const read = await loadSettings(call);
    const keys = changedKeys(started, read);
    const others = keys.filter((key) => identifying.has(key));
    if (others.length > 0) {
      const names = `${others.join(', ')} ${others.length === 1 ? 'has' : 'have'} changed`;
      log.error({ keys }, `SIGHUP: ${names}, so nothing was taken from the settings; restart the daemon to use them`);
      return;
    }
    // The token of the built-in sandbox is not in the settings.
    const connections = inUse.sandbox === null ? read.connections : inUse.connections;
    await daemon.use({ ...read, connections });
    log.info('SIGHUP: settings and tokens were read again, callbacks are checked');
    if (keys.length > 0)
      log.warn({ keys }, `SIGHUP: these settings have changed and need a restart: ${keys.join(', ')}`);
  } catch (error) {
    log.error({ err: error }, 'SIGHUP: the new settings cannot be used; the old ones stay');
  }
}

/**
 * Handles SIGHUP from now on: a request to read the settings again, or the terminal of the process was closed. A process that nohup or a
 * supervisor started has no terminal to lose.
 * @returns `gone`, aborted when the terminal is gone; and what then ends the process, as the signal does by default
 */
function watchHangups(
  { stdin }: Pick<ProcessContext, 'stdin'>,
  readAgain: () => void,
): { readonly gone: AbortSignal; reRaise(): void } {
  const fromTerminal = stdin.isTTY === true;
  const terminal = new AbortController();
  const onHangup = (): void => {
    if (terminal.signal.aborted) return;
    if (fromTerminal && !hasTerminal()) terminal.abort();
    else readAgain();
  };
  process.on('SIGHUP', onHangup);
  return {
    gone: terminal.signal,
    reRaise() {
      if (!terminal.signal.aborted) return;
      // Node cannot exit in any other way: it would set a terminal back that is not there, and abort.
      process.off('SIGHUP', onHangup);
      process.kill(process.pid, 'SIGHUP');
    },
  };
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/** Longer than a program takes that sends one datagram, in milliseconds. */
const notifyTimeout = 5_000;

/** Does not wait: the daemon works whether or not systemd gets the message. */
function notifySystemd(
  state: 'READY=1' | 'STOPPING=1' | 'WATCHDOG=1',
  { env }: Pick<ProcessContext, 'env'>,
  log: Log,
): void {
  const { NOTIFY_SOCKET, PATH } = env;
  if (!NOTIFY_SOCKET) return;
  // Node.js has no datagrams over Unix sockets. The rest of the environment may hold secrets.
  execFile('systemd-notify', [state], { env: { NOTIFY_SOCKET, PATH }, timeout: notifyTimeout }, (error) => {
    if (error) log.warn({ err: error }, `systemd could not be notified: ${state}`);
  });
}

/**
 * Tells systemd again and again that the daemon lives, twice within each `WatchdogSec` of its unit; nothing where it asks for none. A daemon
 * whose event loop stands still, or that is not `alive`, says nothing, and is restarted.
 * @returns ends it
 */
function feedWatchdog(
  { env, clock }: Pick<ProcessContext, 'env' | 'clock'>,
  alive: () => boolean,
  log: Log,
): () => void {
  const microseconds = Number(env['WATCHDOG_USEC']);
  if (!env['NOTIFY_SOCKET'] || !(microseconds > 0)) return () => undefined;
  const feed = (): void => {
    if (alive()) notifySystemd('WATCHDOG=1', { env }, log);
    cancel = clock.timer(microseconds / 2_000, feed);
  };
  let cancel = clock.timer(microseconds / 2_000, feed);
  return () => cancel();
}
