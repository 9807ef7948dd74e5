/**
 * The accounts that are served, each with what runs for it. Accounts can be added, removed, paused and resumed while it runs, without effect on the others.
 *
 * For an account that comes, everything begins as at a start; of one that goes, the callback is deleted while its connection is still known,
 * for at most 15 seconds. One removed from the settings while the daemon is stopped is only named at its next start, because its connection
 * may be gone. No request is sent about a paused account, not even about its callback: if the service disables that meanwhile, the sweep
 * that follows the resumption finds what was missed.
 *
 * Where several daemons serve a mirror, this runs in each of them, and its accounts in the one that works, from `start` to `stop`, perhaps
 * again later. Elsewhere it knows the accounts and their addresses, and asks the service nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Store } from '../store/mirror.ts';
import { AccountSupervisor, type ScheduleKind } from './account-supervisor.ts';
import { parseInstant, sleptThrough, type Clock } from '../domain/clock.ts';
import { background, repeatedly, Turns, startAll, stopAll, type Service } from '../domain/concurrency.ts';
import { asMirrorError } from '../domain/errors.ts';
import type { Installation } from './installation.ts';
import type { Log } from '../domain/log.ts';
import type { Secret } from '../domain/secret.ts';
import { withKept, type KeptAccounts, type Settings } from '../settings/parse.ts';
import type { AddressTokens } from '../store/secrets/verifiers.ts';
import type { PathTokens } from '../webhook/address.ts';

export interface AccountServicesOptions {
  readonly installation: Installation;
  /** Wires what runs for an account. `lastRun`: wall time of its last run in an earlier process; undefined where it is to run at once. */
  readonly build: (accountId: string, lastRun: number | undefined) => AccountSupervisor;
  /** What all of them share, made when they are started; it is stopped before they are. */
  readonly shared: () => Service;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when an account is added, before any request about it. */
  readonly onAccount?: (accountId: string) => void;
  /** How long other daemons may take until they serve a new address, in milliseconds: before, the service is not told of it. */
  readonly othersServeWithin: number;
}

export class AccountServices implements Service {
  readonly name = 'the accounts';
  readonly #options: AccountServicesOptions;
  readonly #supervisors = new Map<string, AccountSupervisor>();
  readonly #tokens = new Map<string, Secret>();
  readonly #previousTokens = new Map<string, Secret>();
  /** While they run here: what they share, and what ends them. */
  #running: { readonly shared: Service; readonly stopping: AbortController } | undefined;
  /** The settings in force; only their accounts and connections may change. */
  #settings: Settings;
  /** One change at a time, each of the settings that are in force when the earlier ones have ended. */
  readonly #turns = new Turns();

  private constructor(options: AccountServicesOptions, paused: ReadonlySet<string>) {
    this.#options = options;
    this.#settings = { ...options.installation.settings, paused };
  }

  /** Builds all of it; nothing runs yet. */
  static async open(options: AccountServicesOptions): Promise<AccountServices> {
    const { mirror, accounts } = options.installation;
    const { paused } = await mirror.accountRegister.kept();
    const services = new AccountServices(options, paused);
    for (const id of accounts) services.#build(id, undefined);
    await services.readAddresses();
    return services;
  }

  /** By account, including paused ones. */
  get supervisors(): ReadonlyMap<string, AccountSupervisor> {
    return this.#supervisors;
  }

  /** The supervisor of an account that runs here. */
  active(accountId: string): AccountSupervisor | undefined {
    return this.#running && !this.#settings.paused.has(accountId) ? this.#supervisors.get(accountId) : undefined;
  }

  /** Those that run here. */
  get activeIds(): readonly string[] {
    return this.#running ? this.#unpaused : [];
  }

  get #unpaused(): string[] {
    return [...this.#supervisors.keys()].filter((id) => !this.#settings.paused.has(id));
  }

  /** The secret part of each account's address; it follows the accounts. */
  get tokens(): PathTokens {
    return this.#tokens;
  }

  /** The same of the addresses that rotations replace, until their callbacks are deleted. */
  get previousTokens(): PathTokens {
    return this.#previousTokens;
  }

  /** Serves these addresses of an account from now on. */
  useTokens(id: string, { current, previous }: AddressTokens): void {
    if (!this.#supervisors.has(id)) return;
    this.#tokens.set(id, current);
    if (previous) this.#previousTokens.set(id, previous);
    else this.#previousTokens.delete(id);
  }

  /** Serves the addresses as they are in the secrets. */
  async readAddresses(): Promise<void> {
    const { verifiers } = this.#options.installation.secrets;
    const current = await verifiers.pathTokens([...this.#supervisors.keys()]);
    const previous = await verifiers.previousTokens();
    for (const id of this.#supervisors.keys()) {
      const token = current.get(id);
      if (token) this.useTokens(id, { current: token, previous: previous.get(id) });
    }
  }

  /** Serves the new addresses of rotations that commands began, and registers these; no longer serves those whose rotation has ended. */
  async followRotations(): Promise<void> {
    const { verifiers } = this.#options.installation.secrets;
    const rotations = await verifiers.previousTokens();
    for (const id of [...this.#previousTokens.keys()].filter((known) => !rotations.has(known)))
      this.useTokens(id, await verifiers.addressTokens(id));
    for (const [id, token] of rotations) {
      const isKnown = this.#previousTokens.get(id)?.reveal() === token.reveal();
      if (isKnown || !this.#supervisors.has(id)) continue;
      this.useTokens(id, await verifiers.addressTokens(id));
      if (!this.#running) continue;
      await this.#servedByOthers(this.#running.stopping.signal);
      this.#checkAnew(id);
    }
  }

  /** Until other daemons serve what was just stored; ends early where the accounts are stopped. */
  async #servedByOthers(signal: AbortSignal): Promise<void> {
    const { othersServeWithin, clock } = this.#options;
    if (othersServeWithin > 0) await sleptThrough(clock, othersServeWithin, signal);
  }

  /** Wall time of the next run of any account; undefined while none is awaited. */
  next(kind: ScheduleKind): number | undefined {
    let first: number | undefined;
    for (const supervisor of this.#supervisors.values()) {
      const next = supervisor.next(kind);
      if (next !== undefined && (first === undefined || next < first)) first = next;
    }
    return first;
  }

  start(): Promise<void> {
    return this.#turns.take(async () => {
      const { mirror } = this.#options.installation;
      const lastRuns = await mirror.runs.lastCompleteByAccount();
      this.#running = { shared: this.#options.shared(), stopping: new AbortController() };
      for (const id of [...this.#supervisors.keys()]) this.#build(id, parseInstant(lastRuns.get(id) ?? ''));
      await startAll(AccountSupervisor.services(this.#unpaused.flatMap((id) => this.active(id) ?? [])));
    });
  }

  async stop(): Promise<void> {
    this.#running?.stopping.abort(new Error('The daemon stops.'));
    await this.#running?.shared.stop();
    await stopAll(AccountSupervisor.services([...this.#supervisors.values()]));
    await this.#turns.take(() => undefined);
    this.#running = undefined;
  }

  /** Checks all callbacks because a person asks for it, and sweeps the accounts that were refused. */
  checkAnew(): void {
    for (const id of this.activeIds) this.#checkAnew(id);
  }

  #checkAnew(id: string): void {
    this.active(id)
      ?.checkAnew()
      .catch((error: unknown) =>
        this.#options.log.error({ account: id, err: asMirrorError(error) }, 'the callback could not be checked'),
      );
  }

  /** Reconciles all accounts but paused ones, which are swept when they are resumed. `why` is a sentence. */
  reconcileAll(why: string): void {
    for (const id of this.activeIds) this.active(id)?.reconcileBecause(why);
  }

  /**
   * Serves the accounts of these settings from now on, with their connections: added accounts are registered and swept, and the callbacks of
   * removed ones are deleted. @throws MirrorError of the files; the next call completes what was left undone.
   */
  applySettings(settings: Settings): Promise<void> {
    return this.#turns.take(() => this.#change(settings));
  }

  /** The same for the accounts that commands added, removed, paused or resumed in the mirror. */
  applyKept(kept: KeptAccounts): Promise<void> {
    return this.#turns.take(() => this.#change(withKept(this.#settings, kept)));
  }

  async #change(settings: Settings): Promise<void> {
    const { installation, log } = this.#options;
    const { mirror, secrets } = installation;
    const wanted = new Set(settings.accounts);
    const gone = [...this.#supervisors.keys()].filter((id) => !wanted.has(id));
    await Promise.all(gone.map((id) => this.#remove(id)));
    if (this.#isStopping) return;
    if (!isSameAccess(settings, this.#settings)) await installation.serve(settings);
    if (gone.length > 0 && this.#running) await logAbandonedCallbacks(mirror, log, gone);
    const added = settings.accounts.filter((id) => !this.#supervisors.has(id));
    const tokens = added.length === 0 ? [] : await secrets.verifiers.pathTokens(added);
    for (const [id, token] of tokens) this.#tokens.set(id, token);
    const before = this.#settings.paused;
    this.#settings = settings;
    for (const id of [...this.#supervisors.keys()])
      if (before.has(id) !== settings.paused.has(id)) await this.#pauseOrResume(id, settings.paused.has(id));
    if (added.length > 0 && this.#running) await this.#servedByOthers(this.#running.stopping.signal);
    for (const id of added) {
      log.info({ account: id }, `the account ${id} is served from now on`);
      this.#options.onAccount?.(id);
      await this.#begin(id);
    }
  }

  get #isStopping(): boolean {
    return this.#running?.stopping.signal.aborted === true;
  }

  async #pauseOrResume(id: string, isPaused: boolean): Promise<void> {
    const supervisor = this.#supervisors.get(id);
    if (supervisor) await stopAll(AccountSupervisor.services([supervisor]));
    this.#options.log.info({ account: id }, `the account ${id} is ${isPaused ? 'paused' : 'resumed'}`);
    await this.#begin(id);
  }

  /** Starts an account again, as one that never ran. */
  async #begin(id: string): Promise<void> {
    if (this.#isStopping) return;
    const supervisor = this.#build(id, undefined);
    if (this.active(id)) await startAll(AccountSupervisor.services([supervisor]));
  }

  /** Its callbacks are deleted by the daemon that works. */
  async #remove(id: string): Promise<void> {
    const deleted = this.#running && (await this.#supervisors.get(id)?.retire(this.#running.stopping.signal));
    this.#tokens.delete(id);
    this.#previousTokens.delete(id);
    this.#supervisors.delete(id);
    this.#options.log.info({ account: id, callbacks_deleted: deleted }, `the account ${id} is no longer served`);
  }

  #build(id: string, lastRun: number | undefined): AccountSupervisor {
    const supervisor = this.#options.build(id, lastRun);
    this.#supervisors.set(id, supervisor);
    return supervisor;
  }
}

/** Whether both have the same accounts and connections. Connections are compared as objects: settings that were read again always differ. */
function isSameAccess(one: Settings, other: Settings): boolean {
  const accountsOf = ({ accounts, namedAccounts, connectionOf }: Settings): unknown => [
    accounts,
    namedAccounts,
    connectionOf,
  ];
  return one.connections === other.connections && isDeepStrictEqual(accountsOf(one), accountsOf(other));
}

/** Logs which of our callbacks are still registered for accounts that are no longer served: those `gone` just now, or all. */
export async function logAbandonedCallbacks(
  { callbacks }: Pick<Store, 'callbacks'>,
  log: Log,
  gone?: readonly string[],
): Promise<void> {
  for (const { accountId, callbackid } of await callbacks.unverifyUnservedCallbacks())
    if (gone?.includes(accountId) ?? true)
      log.warn(
        { account: accountId, callbackid },
        `the account ${accountId} is no longer served, and callback ${callbackid} of it is still registered: \`vendor-mirror callbacks delete ${callbackid} --account ${accountId}\` deletes it`,
      );
}

/** How often a running daemon looks for accounts that commands changed, in milliseconds. */
const checkEvery = 1_000;

/** Another daemon that looks so often serves by then what it saw. */
export const accountsSeenWithin = 2 * checkEvery;

/** Applies what commands change about accounts and their addresses, at the start and within a second after each change; what fails is tried again. */
export function watchKeptAccounts(
  accounts: AccountServices,
  { mirror, clock, log }: { readonly mirror: Store; readonly clock: Clock; readonly log: Log },
): Service {
  let known: KeptAccounts | undefined;
  let isFailing = false;
  const check = async (): Promise<void> => {
    try {
      const kept = await mirror.accountRegister.kept();
      if (kept !== known && !isDeepStrictEqual(kept, known)) await accounts.applyKept(kept);
      known = kept;
      // What was missed while the secrets could not be read.
      if (isFailing) await accounts.readAddresses();
      await accounts.followRotations();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: asMirrorError(error) }, 'changes of accounts cannot be applied yet');
      isFailing = true;
    }
  };
  return background('the account watch', (signal) => repeatedly(clock, checkEvery, signal, check));
}
