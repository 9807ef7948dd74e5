/**
 * The installation, opened for a command that speaks with the service or with the built-in sandbox in its place, or the request that it would
 * send (`--dry-run`); and the log of a command.
 */
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { openInstallation, type Installation, type InstallationDependencies } from '../app/installation.ts';
import { withOptionInJson } from '../domain/commands.ts';
import { sleep } from '../domain/clock.ts';
import { MirrorError, errorSentence, exitStatus, type ExitStatus } from '../domain/errors.ts';
import { createLog, prettyEntries, type Log, type LogLevel } from '../domain/log.ts';
import { Secret } from '../domain/secret.ts';
import { defaultWorld } from '../sandbox/core/worlds.ts';
import { defaultConnection, isLoopback, type PostgresStore, type Settings } from '../settings/parse.ts';
import { refuseOtherFiles, sandboxName } from '../store/files/identity.ts';
import { lockFile, lockProcess } from '../store/files/locks.ts';
import { resolvedPath } from '../store/files/own-files.ts';
import { makeFolder } from '../store/sqlite/file-systems.ts';
import type { Call } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { printNotice, print, printJson } from './terminal/print.ts';
import { migrationProgress } from './terminal/progress.ts';
import { mayStyle, visibleLines } from './terminal/text.ts';
import { jsonText } from '../domain/steering.ts';
import { addressOf } from '../api/caller.ts';
import type { Request } from '../api/requests.ts';

/**
 * Does the work with the installation of these settings, and closes it, with the built-in sandbox where one stood in for the
 * service.
 * @throws MirrorError of files and settings, and whatever the work throws.
 */
export async function withInstallation<T>(
  call: Call,
  settings: Settings,
  work: (installation: Installation) => Promise<T>,
  { looksOnly = false, ...dependencies }: InstallationUse = {},
): Promise<T> {
  const { clock, random, fetch, packageRoot } = call.context;
  const service = await serviceOf(settings, call.context, { stays: false });
  const files = looksOnly ? await filesToLookWith(service.settings) : undefined;
  try {
    if (!service.settings.postgres) refuseOtherFiles(service.settings);
    const installation = await openInstallation(files?.settings ?? service.settings, {
      ...dependencies,
      ...(files && { standsInFor: files.standsInFor }),
      serviceName: service.serviceName,
      isCommand: true,
      clock,
      random,
      fetch,
      log: await logOf(call, 'warn'),
      lockProcess: files?.lockProcess ?? lockProcess,
      onMigration: migrationProgress(call.context),
      onLocked: (path, holder) => {
        if (call.context.stderr.isTTY) printNotice(call.context, `${path} is locked by ${holder}; waiting for it.`);
      },
      migrations: join(packageRoot, 'migrations'),
    });
    try {
      return await work(installation);
    } finally {
      await installation.close();
    }
  } finally {
    files?.remove();
    await service.stop();
  }
}

interface InstallationUse extends Pick<InstallationDependencies, 'retryLimits' | 'anyService'> {
  /** Whether nothing is to be made: where there is no mirror yet, one in a temporary folder stands in for it. */
  readonly looksOnly?: boolean;
}

interface FilesToLookWith {
  readonly settings: Settings;
  readonly standsInFor: string;
  readonly lockProcess: typeof lockProcess;
  readonly remove: () => void;
}

/**
 * What stands in for the files of an installation whose mirror has not begun; undefined where there is a mirror. A grant that is renewed is
 * kept in the secrets themselves, because its old refresh token no longer works; then this process is known beside the mirror that may begin
 * meanwhile, where others look who renews.
 */
async function filesToLookWith(settings: Settings): Promise<FilesToLookWith | undefined> {
  if (settings.postgres) return schemaToLookWith(settings, settings.postgres);
  if (existsSync(settings.database)) return undefined;
  const standsInFor = resolvedPath(settings.database);
  const folder = mkdtempSync(join(tmpdir(), 'vendor-mirror-'));
  const renews = mayRenew(settings);
  const secrets = renews || existsSync(settings.secrets) ? settings.secrets : join(folder, 'secrets.db');
  const lock: typeof lockProcess = (database, random) => {
    if (!renews) return lockProcess(database, random);
    makeFolderOf(standsInFor);
    return lockProcess(standsInFor, random);
  };
  return {
    settings: { ...settings, database: join(folder, 'vendors.db'), secrets },
    standsInFor,
    lockProcess: lock,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The same for a mirror in PostgreSQL; undefined also where a grant may be renewed, which only the secrets there can keep. */
async function schemaToLookWith(settings: Settings, store: PostgresStore): Promise<FilesToLookWith | undefined> {
  const { isMirrorOn } = await import('../store/postgres/glimpse.ts');
  if (mayRenew(settings) || (await isMirrorOn(store))) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'vendor-mirror-'));
  const files = { database: join(folder, 'vendors.db'), secrets: join(folder, 'secrets.db') };
  return {
    settings: { ...settings, ...files, postgres: undefined },
    standsInFor: settings.database,
    lockProcess,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function mayRenew({ connections }: Settings): boolean {
  return [...connections.values()].some((auth) => 'oauth' in auth);
}

/**
 * The built-in sandbox, standing in for the service. Its world is kept in a file beside the mirror, and lives in one process at a
 * time: in the daemon, to which every command beside it speaks, or else in the command that needs it.
 */
export interface Service {
  /** The settings, with an address and a token in them. */
  readonly settings: Settings;
  /** By what name a mirror knows it; its address where left out. */
  readonly serviceName?: string;
  /** How many days of history the sandbox and the mirror began with just now. */
  readonly history?: number;
  /** Called when an account is added later. */
  readonly onAccount?: (accountId: string) => void;
  readonly stop: () => Promise<void>;
}

/** Where a sandbox that stays open is found. */
interface Address {
  readonly id: string;
  readonly baseUrl: string;
  readonly token: string;
}

/** How often a command looks whether the world is free, when it says that it waits, and when it gives up, in milliseconds. */
const [pollEvery, noticeAfter, timeoutAfter] = [50, 2_000, 60_000];

/**
 * The service of these settings: the real one, or the sandbox, which is started here where it does not stay open elsewhere.
 * @param stays whether others may find it here: a command that ends soon would leave them without a service
 * @throws MirrorError `database_locked` where another command keeps the world for long, and of files and ports.
 */
export async function serviceOf(
  settings: Settings,
  context: ProcessContext,
  { stays }: { stays: boolean },
): Promise<Service> {
  if (settings.sandbox === null) return { settings, stop: () => Promise.resolve() };
  if (settings.postgres)
    throw new MirrorError(
      'usage',
      'The built-in sandbox keeps its world in a file beside the mirror, and `database` is no file.',
      { remedy: 'Run `vendor-mirror sandbox` as a service, and name its address as service.baseUrl.' },
    );
  const world = `${settings.database}.world`;
  makeFolderOf(world);
  const begun = context.clock.monotonic();
  for (let noticed = false; ;) {
    const lock = lockFile(`${world}.lock`);
    if (lock) return await open(settings, settings.sandbox, context, world, { stays, unlock: () => void lock.close() });
    const address = readAddress(world);
    if (address) return { ...reached(settings, address), stop: () => Promise.resolve() };
    const waited = context.clock.monotonic() - begun;
    if (waited > timeoutAfter)
      throw new MirrorError('database_locked', `Another command uses the sandbox of ${settings.database}.`);
    if (waited > noticeAfter && !noticed) {
      noticed = true;
      printNotice(context, `Another command uses the sandbox of ${settings.database}; waiting for it.`);
    }
    await sleep(context.clock, pollEvery, context.interrupted);
  }
}

/** Starts the sandbox in this process, which holds the lock of its world. */
async function open(
  settings: Settings,
  options: NonNullable<Settings['sandbox']>,
  context: ProcessContext,
  world: string,
  { stays, unlock }: { stays: boolean; unlock: () => void },
): Promise<Service> {
  try {
    // One that was killed left it behind.
    rmSync(addressFile(world), { force: true });
    const { vendors, seed, churn, records, history } = options;
    const begins = stays && history > 0;
    const madeUp =
      begins && (await (await import('./sandbox-history.ts')).writeHistory({ settings, options, context }, world));
    const { startEmbeddedSandbox } = await import('../sandbox/embedded.ts');
    const { id, baseUrl, token, sandbox, stop } = await startEmbeddedSandbox({
      account: settings.accounts,
      vendors,
      seed: String(seed),
      churn,
      world: { ...defaultWorld, records },
      file: world,
      clock: context.clock,
      // A listener whose address is not this machine's is reached through what stands at that address.
      fetch: isLoopback(new URL(settings.listener.publicUrl ?? 'http://localhost').hostname)
        ? undefined
        : context.fetch,
    });
    if (stays) writeAddress(world, { id, baseUrl, token });
    return {
      ...reached(settings, { id, baseUrl, token }),
      ...(madeUp && { history }),
      onAccount: (account) => sandbox.open(account),
      async stop() {
        rmSync(addressFile(world), { force: true });
        await stop();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

function reached(settings: Settings, { id, baseUrl, token }: Address): Omit<Service, 'stop'> {
  const service = { ...settings.service, baseUrl };
  const connections = new Map([[defaultConnection, { accessToken: new Secret(token) }]]);
  return { settings: { ...settings, service, connections }, serviceName: sandboxName(id) };
}

function makeFolderOf(path: string): void {
  try {
    makeFolder(dirname(resolve(path)));
  } catch (error) {
    throw new MirrorError('file_unwritable', `${path} cannot be made: ${errorSentence(error)}`, {
      cause: error,
    });
  }
}

function addressFile(world: string): string {
  return `${world}.address`;
}

/** Puts the address where others look, whole: for the owner alone, because it opens the sandbox. */
function writeAddress(world: string, address: Address): void {
  const draft = `${addressFile(world)}.draft`;
  rmSync(draft, { force: true });
  writeFileSync(draft, JSON.stringify(address), { mode: 0o600, flag: 'wx' });
  renameSync(draft, addressFile(world));
}

function readAddress(world: string): Address | undefined {
  try {
    return JSON.parse(readFileSync(addressFile(world), 'utf8')) as Address;
  } catch {
    return undefined;
  }
}

/** An entry of the log, whose texts cannot steer the terminal. */
export interface ReadableEntry {
  /** As pino counts. */
  readonly level: number;
  /** In the form of ISO 8601, UTC. */
  readonly time: string;
  readonly msg: string;
  readonly account?: string;
}

/** Takes an entry, and all of it as readable text with a line break at its end. */
type ShowEntry = (entry: ReadableEntry, text: string) => void;

/**
 * A log on standard error, of `--log-level`, or else of the `usual` one: JSON, unless a terminal is there and `--json` is not. What is
 * readable goes to `show`, where somebody wants to place it.
 */
export async function logOf({ context, options }: Call, usual: LogLevel, show?: ShowEntry): Promise<Log> {
  const { stderr, env, settingsOption } = context;
  const level = options.logLevel ?? usual;
  const isRead = stderr.isTTY === true && options.json !== true;
  const pretty = isRead ? await prettyEntries(mayStyle(stderr, env)) : undefined;
  if (!pretty && !settingsOption) return createLog(level, stderr);
  return createLog(level, {
    write(entry) {
      const line = withOptionInJson(settingsOption ?? '', entry);
      if (!pretty) return void stderr.write(line);
      const parsed = readable(line);
      const text = pretty(parsed);
      if (show) show(parsed, text);
      else stderr.write(text);
    },
  });
}

/** An entry whose texts, some of them from outside, cannot steer the terminal. */
function readable(line: string): ReadableEntry {
  return JSON.parse(line, (_, value: unknown) =>
    typeof value === 'string' ? visibleLines(value) : value,
  ) as ReadableEntry;
}

export interface DryRunOption {
  readonly dryRun?: boolean;
}

/** Shows the request, without the token, and says that nothing was sent. */
export function showRequest(
  { context, options }: Call,
  settings: Settings,
  { method, path, body }: Request,
): ExitStatus {
  // The address of the built-in sandbox is known only while it runs.
  const { baseUrl } = settings.service;
  const url = baseUrl === null ? path : addressOf({ path }, baseUrl).href;
  if (options.json) printJson(context, { ok: true, dry_run: true, request: { method, url, body: body ?? null } });
  else {
    print(context, visibleLines(`${method} ${url}`));
    if (body !== undefined) print(context, jsonText(body));
  }
  printNotice(context, 'Nothing was sent (--dry-run).');
  return exitStatus.done;
}
