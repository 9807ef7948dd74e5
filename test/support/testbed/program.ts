/** The program as people run it: compiled, in a process of its own, beside a service behind real HTTP. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { startEmbeddedSandbox, type EmbeddedOptions, type EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import { memory } from '../memory.ts';
import { ask, packageRoot, temporaryFolder } from '../mirror-file.ts';

export const program = join(packageRoot, 'dist/cmd/main.js');

/** `npm test` builds; a single test run by hand does not, and must not try a program that is older than its source. */
export function build(): void {
  if (!isBuilt()) execFileSync('npm', ['run', '--silent', 'build'], { cwd: packageRoot });
}

function isBuilt(): boolean {
  if (!existsSync(program)) return false;
  const built = statSync(program).mtimeMs;
  const sources = readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' });
  return sources.every((name) => statSync(join(packageRoot, 'src', name)).mtimeMs <= built);
}

/** For `env`: the program waits twenty times shorter between its tries than it does by itself; limits of time stay as they are. */
const hurry = `const real = globalThis.setTimeout;
  globalThis.setTimeout = (run, ms, ...more) => real(run, ms < 20_000 ? ms / 20 : ms, ...more);`;
export const hurried = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hurry)}` };

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Place {
  readonly folder: string;
  readonly database: string;
  /** Any command, where the program finds its settings. */
  execute(command: string, ...args: string[]): ChildProcess;
  start(...argv: string[]): ChildProcess;
  run(...argv: string[]): Promise<Ended>;
  query<Row = Record<string, unknown>>(sql: string, ...values: unknown[]): Row[];
}

export interface PlaceOptions {
  readonly accounts?: readonly string[];
  /** More settings, as YAML. */
  readonly settings?: string;
  /** How fast the service's vendors may be asked for; as good as without a limit unless told. */
  readonly rate?: string;
  /** How to get access, as YAML; with the service's token unless told. */
  readonly auth?: string;
  /** More of the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A service that answers any number of requests a minute. */
export async function service(options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedSandbox> {
  const sandbox = await startEmbeddedSandbox({
    vendors: 100,
    seed: 'process',
    rateLimits: null,
    clock: systemClock,
    fetch: globalThis.fetch,
    ...options,
  });
  onTestFinished(() => sandbox.stop());
  return sandbox;
}

/** A folder with settings that point to `service`. */
export function place(service: Pick<EmbeddedSandbox, 'baseUrl' | 'token'>, options: PlaceOptions = {}): Place {
  const { accounts = ['6BApk'], settings = '', rate = '100000/1s', env = {} } = options;
  const { auth = `{ accessToken: ${service.token} }` } = options;
  const folder = temporaryFolder(memory);
  const database = join(folder, 'vendors.db');
  const file = join(folder, 'mirror.yaml');
  writeFileSync(
    file,
    `accounts: [${accounts.join()}]
database: ${database}
secrets: ${join(folder, 'secrets.db')}
service:
  baseUrl: ${service.baseUrl}
  auth: ${auth}
  paging: { perPage: 15 }
  rateLimit: { vendors: ${rate} }
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
  return {
    folder,
    database,
    execute,
    start,
    run: (...argv) => ended(start(...argv)),
    query: (sql, ...values) => ask(database, sql, ...values),
  };
}

/** Waits for a process to end. */
export async function ended(child: ChildProcess): Promise<Ended> {
  const [stdout, stderr] = [text(child.stdout!), text(child.stderr!)];
  await once(child, 'close');
  return { status: child.exitCode, stdout: await stdout, stderr: await stderr };
}
