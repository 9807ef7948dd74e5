/** A daemon beside a sandbox, in one process: the service is reached without sockets, deliveries come to the real listener over loopback. */
import { Agent } from 'node:http';
import { onTestFinished } from 'vitest';
import type { Settings } from '../../../src/settings/parse.ts';
import { openDaemon, type Daemon } from '../../../src/app/daemon.ts';
import type { MirrorError } from '../../../src/domain/errors.ts';
import { openInstallation, type Installation } from '../../../src/app/installation.ts';
import { createLog, type LogLevel } from '../../../src/domain/log.ts';
import type { Post as HookPost } from '../../../src/http/post.ts';
import type { Post } from '../../../src/sandbox/delivery/delivery-sender.ts';
import { Sandbox, type SandboxOptions } from '../../../src/sandbox/service.ts';
import { oddWorld } from '../odd-world.ts';
import type { RunReport } from '../../../src/sync/run.ts';
import { compiled } from '../source/compiled.ts';
import { asking, migrations, namedProcess, placeMirror, temporaryFolder } from '../mirror-file.ts';
import { account, publicUrl, token } from '../names.ts';
import { directFetch } from '../network/direct-fetch.ts';
import { post, type Posted } from '../network/post.ts';
import { constantRandom } from '../random.ts';
import { settingsIn, type SettingsOver } from '../settings.ts';
import { virtualClock, type VirtualClock } from '../virtual-clock.ts';

export interface Entry {
  readonly level: number;
  readonly msg: string;
}

/** One POST of the service, at this path of the listener. */
export interface Delivery extends Posted {
  readonly path: string;
}

export interface DaemonOptions extends Partial<Omit<SandboxOptions, 'accounts' | 'world'>> {
  /** Whether the daemon is started and runs until it is subscribed, has swept once and is idle; default: yes. */
  readonly started?: boolean;
  /** Wall clock at the start, milliseconds since 1970. */
  readonly begins?: number;
  /** `key=value`, as in `sandbox --world`. */
  readonly world?: readonly string[];
  /** Those of the service and of the settings; default: one. */
  readonly accounts?: readonly string[];
  /** Laid over the defaults. */
  readonly settings?: SettingsOver;
  /** Answers instead of the service, where it returns something. */
  readonly answer?: (url: URL, init: RequestInit) => Response | undefined | Promise<Response | undefined>;
  /** Stands between the daemon and the service. */
  readonly network?: (fetch: typeof globalThis.fetch) => typeof globalThis.fetch;
  /** Takes the daemon's outgoing webhooks, instead of the network. */
  readonly hooks?: (clock: VirtualClock) => HookPost;
  /** Default: info. */
  readonly logLevel?: LogLevel;
  /** Carries what the service posts, instead of the network. */
  readonly post?: (post: Post) => Post;
}

export interface DaemonTestbed {
  readonly clock: VirtualClock;
  readonly sandbox: Sandbox;
  readonly settings: Settings;
  readonly folder: string;
  readonly daemon: Daemon;
  /** Runs that ended, oldest first. */
  readonly runs: RunReport[];
  readonly log: Entry[];
  /** Requests that reached the service, as `GET /path`. */
  readonly requests: string[];
  /** What the service posted, oldest first. */
  readonly posted: Delivery[];
  readonly fatal: MirrorError[];
  start(): Promise<void>;
  /** Stops the daemon, as a signal would. */
  stop(): Promise<void>;
  /** Opens a new daemon on the same files, not started yet; with other settings if told. */
  reopen(settings?: SettingsOver): Promise<void>;
  /** Lets time pass until as many runs have ended since the call. */
  untilRuns(count?: number): Promise<void>;
  /** Lets time pass until nothing waits in the queue but what is parked. */
  untilQuiet(): Promise<void>;
  /** Asks the mirror file. */
  query<Row = Record<string, unknown>>(sql: string, ...values: unknown[]): Row[];
  /** Sends a delivery to the listener. @returns the status of the answer. */
  deliver(delivery: Delivery): Promise<number>;
  /** Looks at a page of the operator. */
  look(path: string): Promise<{ status: number; body: string }>;
  /** Does something with an installation of its own on the same files, as a one-shot command would. */
  beside<T>(work: (installation: Installation) => Promise<T>): Promise<T>;
}

export async function openDaemonTestbed({ started = true, ...options }: DaemonOptions): Promise<DaemonTestbed> {
  const clock = virtualClock(options.begins === undefined ? {} : { start: options.begins });
  const folder = temporaryFolder();
  const log: Entry[] = [];
  const [runs, requests, posted, fatal]: [RunReport[], string[], Delivery[], MirrorError[]] = [[], [], [], []];
  const agent = new Agent({ keepAlive: true });
  const deliver: DaemonTestbed['deliver'] = ({ path, ...rest }) =>
    clock.busy(post(`${daemon.addresses.listener ?? ''}${path}`, rest, agent));
  const carry: Post = async (uri, headers, body) => ({
    status: await deliver({ path: new URL(uri).pathname, headers, body }),
  });
  const carried = options.post?.(carry) ?? carry;
  const sandbox = new Sandbox(
    { vendors: 40, token, accounts: [account], ...options, world: oddWorld(...(options.world ?? [])) },
    {
      clock,
      post: (uri, headers, body, ...rest) => {
        posted.push({ path: new URL(uri).pathname, headers, body });
        return carried(uri, headers, body, ...rest);
      },
    },
  );
  sandbox.onRequest(({ method, path }) => requests.push(`${method} ${path}`));
  const sandboxFetch = directFetch(sandbox);
  const direct: typeof globalThis.fetch = async (input, init = {}) =>
    (await options.answer?.(new URL(input instanceof Request ? input.url : input), init)) ?? sandboxFetch(input, init);
  const settingsOf = (over?: SettingsOver): Settings =>
    settingsIn(folder, {
      accounts: options.accounts ?? [account],
      listener: { host: '127.0.0.1', port: 0, publicUrl },
      admin: { port: 0 },
      ...options.settings,
      ...over,
    });
  const dependencies = {
    clock,
    random: constantRandom(),
    fetch: options.network?.(direct) ?? direct,
    log: createLog(options.logLevel ?? 'info', { write: (line) => void log.push(JSON.parse(line) as Entry) }),
    lockProcess: namedProcess(),
    migrations,
    compiled,
    ...(options.hooks && { post: options.hooks(clock) }),
  };
  let settings = settingsOf();
  await placeMirror(settings.database);
  const open = (): Promise<Daemon> =>
    openDaemon(settings, {
      ...dependencies,
      version: '0.0.0',
      machine: () => ({ rssBytes: 1, eventLoopLagSeconds: 0 }),
      onRun: (_, report) => runs.push(report),
      onFatal: (error) => fatal.push(error),
    });
  let daemon = await open();
  let reader = asking(settings.database);
  const query: DaemonTestbed['query'] = (sql, ...values) => reader.ask(sql, ...values);
  /** The reader goes first: the last who closes a file removes its journal. */
  const stop = (): Promise<void> => {
    reader.close();
    return clock.during(daemon.stop());
  };
  onTestFinished(async () => {
    sandbox.stop();
    agent.destroy();
    await stop();
    reader.close();
  });
  const at: DaemonTestbed = {
    clock,
    sandbox,
    folder,
    runs,
    log,
    requests,
    posted,
    fatal,
    query,
    deliver,
    get settings() {
      return settings;
    },
    get daemon() {
      return daemon;
    },
    start: () => daemon.start(),
    stop,
    async reopen(more) {
      if (more) settings = settingsOf(more);
      await stop();
      reader = asking(settings.database);
      daemon = await open();
    },
    untilRuns(count = 1) {
      const before = runs.length;
      return clock.until(`${count} more runs ended`, () => runs.length >= before + count);
    },
    untilQuiet: () =>
      clock.until(
        'the queue is empty',
        () => query('SELECT 1 FROM dirty_vendors WHERE due_at IS NOT NULL').length === 0,
      ),
    look: (path) =>
      clock.busy(
        fetch(daemon.addresses.admin + path).then(async (answer) => ({
          status: answer.status,
          body: await answer.text(),
        })),
      ),
    beside: (work) =>
      clock.during(
        (async () => {
          const installation = await openInstallation(settings, dependencies);
          try {
            return await work(installation);
          } finally {
            await installation.close();
          }
        })(),
      ),
  };
  if (started) await rest(at);
  return at;
}

/** Starts the daemon, and lets time pass until it is subscribed, has swept once, and has nothing left to do. */
async function rest(at: DaemonTestbed): Promise<void> {
  await at.start();
  await at.clock.until('the first sweep is over', () => at.runs.length > 0);
  await at.untilQuiet();
  // What was seen just now is guarded for a while.
  await at.clock.pass(at.settings.sync.lag);
  at.requests.length = 0;
}

/** Whether the daemon says that its accounts may be relied on. */
export async function isFresh(at: DaemonTestbed): Promise<boolean> {
  return (JSON.parse((await at.look('/api/status')).body) as { fresh: boolean }).fresh;
}

/** The number of a vendor, always the same one. */
export function someVendor({ sandbox }: Pick<DaemonTestbed, 'sandbox'>): number {
  return Number(sandbox.vendors(account).all()[7]?.['vendorid']);
}
