/**
 * The program beside the second service: a daemon with its real wiring, and commands on the same files. Time is virtual and stands still
 * while a socket is at work; requests and deliveries go over real HTTP.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { nodeFetch } from '../../src/api/http/node-fetch.ts';
import type { Fetch } from '../../src/api/http/request.ts';
import { openDaemon, type Daemon } from '../../src/app/daemon.ts';
import { runProgram } from '../../src/cmd/program.ts';
import { systemRandom } from '../../src/domain/clock.ts';
import { createLog } from '../../src/domain/log.ts';
import type { RunReport } from '../../src/sync/run.ts';
import { ask, migrations, namedProcess, packageRoot, placeMirror, temporaryFolder } from '../support/mirror-file.ts';
import { publicUrl } from '../support/names.ts';
import { constantRandom } from '../support/random.ts';
import { settingsIn } from '../support/settings.ts';
import { compiled } from '../support/source/compiled.ts';
import { virtualClock, type VirtualClock } from '../support/virtual-clock.ts';
import type { Choices } from './service/choices.ts';
import { SecondService } from './service/second-service.ts';

export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Beside {
  readonly clock: VirtualClock;
  readonly service: SecondService;
  readonly lag: number;
  /** Runs of the daemon that ended, oldest first. */
  readonly runs: RunReport[];
  readonly log: string[];
  query<Row = Record<string, unknown>>(sql: string, ...values: unknown[]): Row[];
  /** One attempt for each delivery that waits. */
  deliver(): Promise<number>;
  /** A command, as a person would give it beside the daemon. */
  command(...argv: string[]): Promise<Outcome>;
  /** Lets time pass until as many more runs have ended. */
  untilRuns(count: number): Promise<void>;
}

export async function openBeside(choices: Choices, onRun: (report: RunReport, at: Beside) => void): Promise<Beside> {
  const clock = virtualClock();
  const service = await SecondService.start(choices, () => clock.now());
  onTestFinished(() => service.close());
  const folder = temporaryFolder();
  const file = join(folder, 'mirror.yaml');
  const over = {
    accounts: [service.account],
    service: { baseUrl: service.baseUrl, auth: { accessToken: service.accessToken } },
    listener: { host: '127.0.0.1', port: 0, publicUrl },
    admin: { port: 0 },
  };
  const settings = settingsIn(folder, over);
  writeFileSync(file, JSON.stringify({ ...over, database: settings.database, secrets: settings.secrets }));
  await placeMirror(settings.database);
  const fetch = held(nodeFetch(), clock, service);
  const [runs, log]: [RunReport[], string[]] = [[], []];
  const daemon: Daemon = await openDaemon(settings, {
    clock,
    random: constantRandom(),
    fetch,
    log: createLog('info', { write: (line) => void log.push(line) }),
    lockProcess: namedProcess(),
    migrations,
    compiled,
    version: '0.0.0',
    machine: () => ({ rssBytes: 1, eventLoopLagSeconds: 0 }),
    onRun: (_, report) => {
      runs.push(report);
      onRun(report, at);
    },
    onFatal: (error) => log.push(`fatal: ${error.message}`),
  });
  service.callbacks.reach = (uri) => `${daemon.addresses.listener ?? ''}${new URL(uri).pathname}`;
  onTestFinished(() => clock.during(daemon.stop()));
  const at: Beside = {
    clock,
    service,
    runs,
    log,
    lag: settings.sync.lag,
    query: (sql, ...values) => ask(settings.database, sql, ...values),
    deliver: () => clock.busy(service.callbacks.deliver()),
    command: (...argv) => clock.during(command([...argv, '-c', file], clock, fetch)),
    untilRuns(count) {
      const before = runs.length;
      return clock.until(`${count} more runs ended`, () => runs.length >= before + count);
    },
  };
  await daemon.start();
  return at;
}

/** Time stands still until an answer is there whole, and until the handshake that follows from it is over. */
function held(fetch: Fetch, clock: VirtualClock, service: SecondService): Fetch {
  return async (url, request) => {
    if (service.hangs(request.method, url)) return fetch(url, request);
    const answer = await clock.busy(whole(fetch, url, request));
    void clock.busy(service.callbacks.handshaken());
    return answer;
  };
}

async function whole(fetch: Fetch, url: URL, request: Parameters<Fetch>[1]): ReturnType<Fetch> {
  const answer = await fetch(url, request);
  const chunks: Uint8Array[] = [];
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const chunk of answer.body ?? []) chunks.push(chunk);
  } catch (error) {
    failure = { error };
  }
  // eslint-disable-next-line @typescript-eslint/require-await -- what is read is an async iterable
  async function* body(): AsyncIterable<Uint8Array> {
    yield* chunks;
    if (failure !== undefined) throw failure.error;
  }
  return { ...answer, body: body() };
}

async function command(argv: readonly string[], clock: VirtualClock, fetch: Fetch): Promise<Outcome> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  stdout.on('data', (chunk: Buffer) => out.push(chunk));
  stderr.on('data', (chunk: Buffer) => err.push(chunk));
  const status = await runProgram([...argv], {
    stdin: Readable.from(['']),
    stdout,
    stderr,
    env: {},
    clock,
    random: systemRandom,
    sealingCost: 2 ** 10,
    fetch,
    proxyOf: () => Promise.resolve(undefined),
    certificateTimes: () => Promise.resolve(undefined),
    interrupted: new AbortController().signal,
    packageRoot,
    machineSettings: '/nowhere/mirror.yaml',
  });
  return { status, stdout: Buffer.concat(out).toString('utf8'), stderr: Buffer.concat(err).toString('utf8') };
}
