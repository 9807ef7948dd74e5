/**
 * The built-in sandbox, standing in for the service. Its world is kept in a file beside the mirror, and lives in one process at a
 * time: in the daemon, to which every command beside it speaks, or else in the command that needs it.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { sandboxName } from '../../app/service-name.ts';
import { sleep } from '../../domain/clock.ts';
import { defaultConnection, type Settings } from '../../settings/parse.ts';
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import { Secret } from '../../domain/log.ts';
import { defaultWorld } from '../../sandbox/core/worlds.ts';
import { lockFile } from '../../store/files/side-lock.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { printNotice } from '../terminal/print.ts';

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
  const world = `${settings.database}.world`;
  makeFolder(world);
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
    rmSync(addressOf(world), { force: true });
    const { vendors, seed, churn, records, history } = options;
    const begins = stays && history > 0;
    const madeUp = begins && (await (await import('./history.ts')).writeHistory({ settings, options, context }, world));
    const { startEmbeddedSandbox } = await import('../../sandbox/embedded.ts');
    const { id, baseUrl, token, sandbox, stop } = await startEmbeddedSandbox({
      account: settings.accounts,
      vendors,
      seed: String(seed),
      churn,
      world: { ...defaultWorld, records },
      file: world,
      clock: context.clock,
      fetch: context.fetch,
    });
    if (stays) writeAddress(world, { id, baseUrl, token });
    return {
      ...reached(settings, { id, baseUrl, token }),
      ...(madeUp && { history }),
      onAccount: (account) => sandbox.open(account),
      async stop() {
        rmSync(addressOf(world), { force: true });
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

function makeFolder(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    throw new MirrorError('file_unwritable', `${path} cannot be made: ${asMirrorError(error).message}`, {
      cause: error,
    });
  }
}

function addressOf(world: string): string {
  return `${world}.address`;
}

/** Puts the address where others look, whole: for the owner alone, because it opens the sandbox. */
function writeAddress(world: string, address: Address): void {
  const draft = `${addressOf(world)}.draft`;
  writeFileSync(draft, JSON.stringify(address), { mode: 0o600 });
  renameSync(draft, addressOf(world));
}

function readAddress(world: string): Address | undefined {
  try {
    return JSON.parse(readFileSync(addressOf(world), 'utf8')) as Address;
  } catch {
    return undefined;
  }
}
