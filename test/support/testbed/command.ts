/** Commands inside the test: each runs in this process, with a folder, streams, a clock and settings of its own. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { systemClock, systemRandom, type Clock } from '../../../src/domain/clock.ts';
import type { ProcessContext, Input, Output } from '../../../src/cmd/process/process-context.ts';
import { nodeFetch } from '../../../src/api/http/node-fetch.ts';
import { runProgram } from '../../../src/cmd/program.ts';
import { packageRoot, placeMirror, temporaryFolder, writeMirror, type Rows } from '../mirror-file.ts';
import { freePort } from '../network/free-port.ts';
import { virtualClock } from '../virtual-clock.ts';
import { chosenService, type ServiceChoice } from './sandbox.ts';

interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandTestbed {
  readonly folder: string;
  readonly database: string;
  readonly settings: string;
  readonly clock: Clock;
  readonly interruption: AbortController;
  /** Runs a command with these settings; what it prints is without the option that names them. */
  run(...argv: string[]): Promise<Outcome>;
  /** Runs a command line exactly as it stands. */
  runBare(...argv: string[]): Promise<Outcome>;
  fill(rows: Rows): Promise<void>;
}

export interface CommandOptions {
  /** The service that commands use, in real time; default: the built-in sandbox and a clock that stands still. */
  readonly service?: ServiceChoice;
  /** Whether a command that would make the mirror finds it made, because the migrations take longer than most commands; default: yes. */
  readonly hasMirror?: boolean;
  /** YAML that is added to the usual settings; without a service it takes the place of the built-in sandbox's. */
  readonly settings?: string;
  readonly env?: ProcessContext['env'];
  readonly fetch?: ProcessContext['fetch'];
  /** Until when certificates are valid; no address has one unless told. */
  readonly proxyOf?: ProcessContext['proxyOf'];
  readonly certificateTimes?: ProcessContext['certificateTimes'];
  readonly clock?: Clock;
  /** The content of standard input; default: empty. */
  readonly stdin?: string | Uint8Array;
  /** What is typed at the terminal; default: there is no terminal. */
  readonly typed?: string;
  /** The width of the terminal for the output; default: no terminal. */
  readonly columns?: number;
  /** Called when a command has written to its standard error. */
  readonly onError?: () => void;
}

/** Commands that make the mirror where none is. */
const makesMirror: ReadonlySet<string> = new Set(['sync', 'serve']);

export async function openCommand(options: CommandOptions): Promise<CommandTestbed> {
  const service = options.service && (await chosenService(options.service));
  const folder = temporaryFolder();
  const database = join(folder, 'vendors.db');
  const settings = join(folder, 'mirror.yaml');
  const clock = options.clock ?? (service ? systemClock : virtualClock());
  const interruption = new AbortController();
  writeFileSync(
    settings,
    `${options.settings?.includes('accounts: ') ? '' : 'accounts: [6BApk, other]\n'}database: ${database}\nsecrets: ${join(folder, 'secrets.db')}\n${serviceSettings(options.settings, service)}\n${await ports(options.settings)}`,
  );
  const runBare = async (...argv: string[]): Promise<Outcome> => {
    if (options.hasMirror !== false && makesMirror.has(argv[0] ?? '')) await placeMirror(database);
    const columns = options.columns ?? (options.typed === undefined ? undefined : 100);
    const [stdout, stderr] = [collector(columns), collector(columns)];
    if (options.onError) stderr.stream.on('data', options.onError);
    const status = await runProgram(argv, {
      stdin: options.typed === undefined ? Readable.from([options.stdin ?? '']) : keyboard(options.typed),
      stdout: stdout.stream,
      stderr: stderr.stream,
      env: options.env ?? {},
      clock,
      random: systemRandom,
      sealingCost: 2 ** 10,
      fetch: options.fetch ?? nodeFetch(),
      proxyOf: options.proxyOf ?? (() => Promise.resolve(undefined)),
      certificateTimes: options.certificateTimes ?? (() => Promise.resolve(undefined)),
      interrupted: interruption.signal,
      packageRoot,
      machineSettings: join(folder, 'of-the-machine.yaml'),
    });
    return { status, stdout: stdout.text(), stderr: stderr.text() };
  };
  return {
    folder,
    database,
    settings,
    clock,
    interruption,
    runBare,
    run: async (...argv) => {
      const { status, stdout, stderr } = await runBare(...argv, '-c', settings);
      const short = (text: string): string => text.replaceAll(` -c ${settings}`, '');
      return { status, stdout: short(stdout), stderr: short(stderr) };
    },
    fill: (rows) => writeMirror(database, clock, rows),
  };
}

function serviceSettings(
  settings: string | undefined,
  service: { baseUrl: string; token: string } | undefined,
): string {
  if (!service) return settings ?? 'sandbox: { vendors: 30, seed: 1, churn: 0, records: odd }';
  const paging = 'paging: { perPage: 5, concurrency: 1 }';
  return `service: { baseUrl: "${service.baseUrl}", auth: { accessToken: ${service.token} }, rateLimit: { all: 5400/60s }, ${paging} }
sync: { lag: 0s, breaker: { vendors: 5, percent: 1 } }
${settings ?? ''}`;
}

/** Ports that nobody uses, for settings that name none: a daemon of this machine may have those of the defaults. */
async function ports(settings = ''): Promise<string> {
  const unnamed = ['listener', 'admin'].filter((server) => !settings.includes(`${server}:`));
  return (await Promise.all(unnamed.map(async (server) => `${server}: { port: ${await freePort()} }\n`))).join('');
}

/** A stream that keeps what is written to it. */
export function collector(columns?: number): { stream: Output & PassThrough; text: () => string } {
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (columns !== undefined) Object.assign(stream, { isTTY: true, columns });
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}

/** Somebody who types, and then leaves. */
function keyboard(typed: string): Input {
  const stream = new PassThrough();
  stream.end(typed);
  return Object.assign(stream, { isTTY: true });
}
