/** A daemon beside a sandbox, in one process: the service is reached without sockets, deliveries come to the real listener over loopback. */
import { Agent, request } from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Random } from '../../../src/domain/clock.ts';
import { parseSettings, type Settings } from '../../../src/settings/parse.ts';
import { openDaemon, type Daemon } from '../../../src/app/daemon.ts';
import type { MirrorError } from '../../../src/domain/errors.ts';
import { openInstallation, type Installation } from '../../../src/app/installation.ts';
import { createLog } from '../../../src/domain/log.ts';
import type { Post } from '../../../src/sandbox/delivery/delivery-sender.ts';
import { Sandbox, type SandboxOptions } from '../../../src/sandbox/service.ts';
import { parseWorld } from '../../../src/sandbox/core/worlds.ts';
import type { RunReport } from '../../../src/sync/run/run.ts';
import { directFetch } from '../network/direct-fetch.ts';
import { memory } from '../memory.ts';
import { ask, migrations, namedProcess, packageRoot, temporaryFolder } from '../mirror-file.ts';
import { patientClock, type PatientClock } from '../patient-clock.ts';

export const account = '6BApk';
export const publicUrl = 'https://mirror.example.com';

export interface Entry {
  readonly level: number;
  readonly msg: string;
}

export interface TestbedOptions extends Partial<Omit<SandboxOptions, 'accounts' | 'world'>> {
  /** `key=value`, as in `sandbox --world`. */
  readonly world?: readonly string[];
  /** Those of the service and of the settings; one unless told. */
  readonly accounts?: readonly string[];
  /** Laid over the defaults. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Stands between the daemon and the service. */
  readonly network?: (fetch: typeof globalThis.fetch) => typeof globalThis.fetch;
  /** Carries what the service posts, instead of the network. */
  readonly post?: (post: Post) => Post;
}

export interface Testbed {
  readonly clock: PatientClock;
  readonly sandbox: Sandbox;
  readonly settings: Settings;
  readonly folder: string;
  readonly daemon: Daemon;
  /** Runs that ended, oldest first. */
  readonly runs: RunReport[];
  readonly log: Entry[];
  /** Requests that reached the service, as `GET /path`. */
  readonly requests: string[];
  readonly fatal: MirrorError[];
  start(): Promise<void>;
  /** Stops the daemon, as a signal would. */
  stop(): Promise<void>;
  /** Opens a new daemon on the same files, not started yet; with other settings if told. */
  reopen(settings?: Readonly<Record<string, unknown>>): Promise<void>;
  /** Lets time pass until as many runs have ended since the call. */
  untilRuns(count?: number): Promise<void>;
  /** Lets time pass until nothing waits in the queue but what is parked. */
  untilQuiet(): Promise<void>;
  /** Asks the mirror file. */
  query<Row = Record<string, unknown>>(sql: string, ...values: unknown[]): Row[];
  /** Looks at a page of the operator. */
  look(path: string): Promise<{ status: number; body: string }>;
  /** Does something with an installation of its own on the same files, as a one-shot command would. */
  beside<T>(work: (installation: Installation) => Promise<T>): Promise<T>;
}

/** Random numbers that are the same every time. */
const random: Random = { bytes: (count) => new Uint8Array(count).fill(7), fraction: () => 0.5 };

/** Opens the daemon, and starts it unless `start` says otherwise. */
export async function testbed(options: TestbedOptions = {}): Promise<Testbed> {
  const clock = patientClock();
  const folder = temporaryFolder(memory);
  const log: Entry[] = [];
  const [runs, requests, fatal]: [RunReport[], string[], MirrorError[]] = [[], [], []];
  const agent = new Agent({ keepAlive: true });
  const post: Post = (uri, headers, body) =>
    clock.busy(send(agent, daemon.addresses.listener + new URL(uri).pathname, headers, body));
  const sandbox = new Sandbox(
    { vendors: 40, token: 'a-token', accounts: [account], ...options, world: parseWorld(options.world ?? []) },
    { clock, post: options.post?.(post) ?? post },
  );
  sandbox.onRequest(({ method, path }) => requests.push(`${method} ${path}`));
  const direct = directFetch(sandbox);
  const fetch = options.network?.(direct) ?? direct;
  const settingsOf = (more: TestbedOptions['settings'] = {}): Settings =>
    parseSettings({
      defaults: readFileSync(join(packageRoot, 'config/default.yaml'), 'utf8'),
      name: 'settings',
      env: {},
      readFile: String,
      text: JSON.stringify({
        accounts: options.accounts ?? [account],
        database: join(folder, 'vendors.db'),
        secrets: join(folder, 'secrets.db'),
        service: { baseUrl: 'https://service.example', auth: { accessToken: 'a-token' } },
        listener: { host: '127.0.0.1', port: 0, publicUrl },
        admin: { port: 0 },
        ...more,
      }),
    });
  const dependencies = {
    clock,
    random,
    fetch,
    log: createLog('info', { write: (line) => void log.push(JSON.parse(line) as Entry) }),
    lockProcess: namedProcess(),
    migrations,
  };
  let settings = settingsOf(options.settings);
  const open = (): Promise<Daemon> =>
    openDaemon(settings, {
      ...dependencies,
      version: '0.0.0',
      machine: () => ({ rssBytes: 1, eventLoopLagSeconds: 0 }),
      onRun: (_, report) => runs.push(report),
      onFatal: (error) => fatal.push(error),
    });
  let daemon = await open();
  const query: Testbed['query'] = (sql, ...values) => ask(settings.database, sql, ...values);
  onTestFinished(async () => {
    sandbox.stop();
    agent.destroy();
    await clock.during(daemon.stop());
  });
  return {
    clock,
    sandbox,
    folder,
    runs,
    log,
    requests,
    fatal,
    query,
    get settings() {
      return settings;
    },
    get daemon() {
      return daemon;
    },
    start: () => daemon.start(),
    stop: () => clock.during(daemon.stop()),
    async reopen(more) {
      if (more) settings = settingsOf({ ...options.settings, ...more });
      await clock.during(daemon.stop());
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
    look: (path) => clock.busy(get(daemon.addresses.admin + path)),
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
}

/** A testbed whose daemon runs: subscribed, swept once, and at rest. */
export async function liveTestbed(options: TestbedOptions = {}): Promise<Testbed> {
  const at = await testbed(options);
  await at.start();
  await at.clock.until('the first sweep is over', () => at.runs.length > 0);
  await at.untilQuiet();
  // What was seen just now is guarded for a while.
  await at.clock.pass(at.settings.sync.lag);
  at.requests.length = 0;
  return at;
}

/** Whether the daemon says that its accounts may be relied on. */
export async function isFresh(at: Testbed): Promise<boolean> {
  return (JSON.parse((await at.look('/api/status')).body) as { fresh: boolean }).fresh;
}

function send(
  agent: Agent,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<{ status: number }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      agent,
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    });
    sent.on('response', (answer) => {
      answer.resume();
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0 }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function get(url: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    request(url, (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject);
    })
      .on('error', reject)
      .end();
  });
}
