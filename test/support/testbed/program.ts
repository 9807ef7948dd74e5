/** The program as people run it: compiled, in processes of its own, in a folder with settings that point to a service. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inject, onTestFinished } from 'vitest';
import { limits } from '../../../src/domain/limits.ts';
import { ask, temporaryFolder } from '../mirror-file.ts';
import { freePort } from '../network/free-port.ts';
import { askSchema, dropStore, newSchema, runInSchema, storeSettings } from '../postgres-schema.ts';
import { build, program } from './build.ts';
import { watched, type DaemonProcess } from './daemon-process.ts';
import { chosenService, type ServiceChoice } from './sandbox.ts';

/** For `env`: delays between attempts are a twentieth of the usual ones; timeouts stay as they are. */
const hurry = `const real = globalThis.setTimeout;
  globalThis.setTimeout = (run, ms, ...more) => real(run, ms < 20_000 ? ms / 20 : ms, ...more);`;
export const hurried = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hurry)}` };

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramTestbed {
  readonly folder: string;
  readonly database: string;
  readonly listenerPort: number;
  readonly adminPort: number;
  /** Any command, where the program finds its settings. */
  execute(command: string, ...args: string[]): ChildProcess;
  /** Starts the program. */
  start(...argv: string[]): ChildProcess;
  /** Runs the program to its end. */
  run(...argv: string[]): Promise<Ended>;
  /** Starts `serve`. */
  launch(): DaemonProcess;
  /** Starts `serve`, and waits until it says that it serves. */
  serve(): Promise<DaemonProcess>;
  /** Starts `serve`, and waits until its first reconciliation is complete. */
  serveUntilSwept(): Promise<DaemonProcess>;
  query<Row = Record<string, unknown>>(sql: string, ...values: unknown[]): Row[];
  /** Whoever uses the mirror now was killed, and counts as gone, with what it held: a server waits half a minute for that. */
  buryAll(): void;
}

export interface ProgramOptions {
  readonly service: ServiceChoice;
  /** Whether `serve` listens on ports of its own, and registers there. */
  readonly listens?: boolean;
  readonly accounts?: readonly string[];
  /** More settings, as YAML. Without a schedule among them, no run begins that a test does not ask for. */
  readonly settings?: string;
  /** Where the mirror and its secrets are, as YAML; default: in files of the folder, or on the server where one keeps the mirrors of this run. */
  readonly store?: string;
  /** The rate limit for vendors; default: practically none. */
  readonly rate?: string;
  /** How to get access, as YAML; default: the service's token. */
  readonly auth?: string;
  /** More of the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Where the mirrors of this run are kept; undefined for files. */
const server = inject('postgres');

/** A place for a mirror: how the settings name it, and how it is asked. */
type Place = { readonly store: string } & Pick<ProgramTestbed, 'query' | 'buryAll'>;

function inFile(
  database: string,
  store = `database: ${database}\nsecrets: ${join(dirname(database), 'secrets.db')}`,
): Place {
  return { store, query: (sql, ...values) => ask(database, sql, ...values), buryAll: () => undefined };
}

function onServer(address: string): Place {
  const to = newSchema(address);
  onTestFinished(() => dropStore(to));
  return {
    store: `${storeSettings(address)}\ndatabaseSchema: ${to.schema}`,
    query: (sql, ...values) => askSchema(to, sql, ...values),
    buryAll() {
      for (const change of [
        `_processes SET renewed_at = renewed_at - interval '${limits.processSilence} ms'`,
        `"${to.secretsSchema}".oauth_tokens SET lease_until_ms = 0`,
      ])
        // It may have been killed before there was a mirror.
        runInSchema(to, `DO $$ BEGIN UPDATE ${change}; EXCEPTION WHEN undefined_table THEN END $$`);
    },
  };
}

/** Once a year: by default, a reconciliation would begin in the middle of a test every fifteen minutes. */
const seldom = 'schedule: { pull: "0 0 1 1 *", reconcile: "0 0 1 1 *" }';

export async function openProgram(options: ProgramOptions): Promise<ProgramTestbed> {
  build();
  const service = await chosenService(options.service);
  const { accounts = ['6BApk'], settings = '', rate = '100000/1s', env = {} } = options;
  const { auth = `{ accessToken: ${service.token} }` } = options;
  const folder = temporaryFolder();
  const database = join(folder, 'vendors.db');
  const file = join(folder, 'mirror.yaml');
  const { store, query, buryAll } =
    server === undefined || options.store !== undefined ? inFile(database, options.store) : onServer(server);
  const [listenerPort, adminPort] = options.listens ? [await freePort(), await freePort()] : [0, 0];
  const ports = `listener: { host: 127.0.0.1, port: ${listenerPort}, publicUrl: "http://127.0.0.1:${listenerPort}" }
admin: { port: ${adminPort} }`;
  writeFileSync(
    file,
    `accounts: [${accounts.join()}]
${store}
service:
  baseUrl: ${service.baseUrl}
  auth: ${auth}
  paging: { perPage: 15 }
  rateLimit: { all: ${rate} }
${options.listens ? ports : ''}
${settings.includes('schedule:') ? '' : seldom}
${settings}`,
  );
  const execute = (command: string, ...args: string[]): ChildProcess => {
    const child = spawn(command, args, {
      cwd: folder,
      env: { PATH: process.env['PATH'], VENDOR_MIRROR_CONFIG: file, ...env },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };
  const start = (...argv: string[]): ChildProcess => execute(process.execPath, program, ...argv);
  const launch = (): DaemonProcess => watched(start('serve'));
  const launchUntil = async (isReady: (daemon: DaemonProcess) => Promise<void>): Promise<DaemonProcess> => {
    const daemon = launch();
    await isReady(daemon);
    return daemon;
  };
  return {
    folder,
    database,
    listenerPort,
    adminPort,
    execute,
    start,
    run: (...argv) => ended(start(...argv)),
    launch,
    serve: () => launchUntil((daemon) => daemon.logged('"msg":"serving"')),
    serveUntilSwept: () => launchUntil((daemon) => daemon.swept()),
    query,
    buryAll,
  };
}

/** Waits for a process to end. */
export async function ended(child: ChildProcess): Promise<Ended> {
  const [stdout, stderr] = [text(child.stdout!), text(child.stderr!)];
  await once(child, 'close');
  return { status: child.exitCode, stdout: await stdout, stderr: await stderr };
}
