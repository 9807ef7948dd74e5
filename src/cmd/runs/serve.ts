/** `serve`: the daemon, until a signal ends it. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { join } from 'node:path';
import type { Settings } from '../../settings/parse.ts';
import { openDaemon, type Daemon, type DaemonDependencies } from '../../app/daemon.ts';
import { asMirrorError, exitStatus, MirrorError, type ExitStatus } from '../../domain/errors.ts';
import type { Log } from '../../domain/log.ts';
import { lockProcess } from '../../store/files/process-lock.ts';
import type { Call, CommandHandler } from '../process/command.ts';
import { packageVersion } from '../process/package-version.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { serviceOf, type Service } from '../sandbox/embedded-service.ts';
import { printFirstQuery } from '../mirror/first-query.ts';
import { watchHangups } from '../process/hangup.ts';
import { logOf } from '../setup/command-log.ts';
import { LiveSummary, wantsSummary } from './live-summary.ts';
import { print } from '../terminal/print.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { reload } from './reload.ts';
import { feedWatchdog, notifySystemd } from '../process/systemd.ts';

/** Milliseconds between two measurements of the event loop; each wakes an idle daemon. */
const lagInterval = 500;

export interface ServeOptions {
  /** Delete the callbacks of this installation and end. */
  readonly unregister?: boolean;
}

export const serve: CommandHandler<ServeOptions> = async (call) => {
  const { context, options } = call;
  const summary = !options.unregister && wantsSummary(context, options) ? new LiveSummary(context) : undefined;
  const log = await logOf(call, 'info', summary && ((entry, text) => summary.entry(entry, text)));
  return withFinalRecord({ log, summary }, async () => {
    const started = loadSettings(call);
    const service = await serviceOf(reachable(started), context, { stays: options.unregister !== true });
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

/** The log, and on a terminal the live summary. */
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

/** A built-in sandbox reaches the listener on this machine. */
function reachable(settings: Settings): Settings {
  const { listener, sandbox } = settings;
  if (sandbox === null || listener.publicUrl !== null) return settings;
  return { ...settings, listener: { ...listener, host: '127.0.0.1', publicUrl: `http://127.0.0.1:${listener.port}` } };
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
  const onRun = settings.sandbox && !summary ? welcome(settings, context) : dependencies.onRun;
  const daemon = await openDaemon(settings, { ...dependencies, serviceName, onRun, ...(onAccount && { onAccount }) });
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
    const { database, accounts } = settings;
    const dashboard = settings.admin.publicUrl ?? admin;
    log.info({ listener, dashboard, database, accounts }, 'serving');
    summary?.watch(daemon.health, { dashboard });
    notifySystemd('READY=1', context, log);
    const stopFeeding = feedWatchdog(context, () => daemon.listening, log);
    await aborted(end);
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
      checkpoints: join(packageRoot, 'dist/cmd/checkpoints.js'),
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
function welcome(settings: Settings, context: ProcessContext): DaemonDependencies['onRun'] {
  let printed = false;
  return (_, { outcome }) => {
    if (printed || outcome !== 'complete') return;
    printed = true;
    const { host, port, publicUrl } = settings.admin;
    void printFirstQuery(context, settings, { rows: true }).then(() =>
      print(
        context,
        `\nThe sandbox keeps changing. Dashboard: ${publicUrl ?? `http://${host}:${port}`}   Stop: Ctrl-C\n`,
      ),
    );
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Stops the daemon. @throws MirrorError `interrupted` where that takes so long that there is just time left to say so. */
async function stopWithin(daemon: Daemon, timeout: number, context: ProcessContext): Promise<void> {
  let cancel = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = context.clock.timer(timeout - Math.min(500, timeout / 10), () =>
      reject(new MirrorError('interrupted', `Stopping took longer than shutdownTimeout (${timeout / 1_000} s).`)),
    );
  });
  try {
    await Promise.race([daemon.stop(), late]);
  } finally {
    cancel();
  }
}
