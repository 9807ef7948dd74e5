/**
 * What runs for one account: its subscription, its queue, its runs with their schedules, and the check whether deliveries still arrive. A
 * supervisor starts once; an account that was paused gets a new one.
 *
 * At the start the callback is checked first, for at most a minute. A sweep follows if the last complete one is older than its schedule.
 */
import type { SweepProgress } from '../domain/run.ts';
import type { Metrics } from '../admin/metrics.ts';
import { sleep, sleptThrough, type Clock, type Random } from '../domain/clock.ts';
import { unlessAborted, startAll, stopAll, type Service } from '../domain/concurrency.ts';
import type { CauseLog } from '../domain/cause-log.ts';
import { asMirrorError, isAccessRefused } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { Log } from '../domain/log.ts';
import { unusuallySilentFor } from '../health/judge.ts';
import { OffsetSlots, type Slots } from '../schedule/cron-slots.ts';
import { Schedule } from '../schedule/schedule.ts';
import { RunService, type RunRequest } from '../sync/run-service.ts';
import { pull, pullGateways, type RunReport } from '../sync/run.ts';
import { RequestedSweeps } from '../sync/sweep-requests.ts';
import { Worker } from '../sync/worker.ts';
import { SubscriptionManager, type SubscriptionManagerOptions } from '../webhook/subscription-manager.ts';
import type { Installation, ServedAccount } from './installation.ts';
import type { SweepPermits } from './sweep-permits.ts';

export type ScheduleKind = 'pull' | 'reconcile';

interface AccountSupervisorOptions {
  readonly account: ServedAccount;
  readonly installation: Installation;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** As of its callbacks. */
  readonly asking: SubscriptionManagerOptions['asking'];
  /** Shared with all accounts. */
  readonly permits: SweepPermits;
  readonly causes: CauseLog;
  /** Called with the tokens of the account's addresses, which the listener serves. */
  readonly onTokens: SubscriptionManagerOptions['onTokens'];
  readonly onRotated: SubscriptionManagerOptions['onRotated'];
  /** Called for each verification code that the service did not accept. */
  readonly onWrongCode: (accountId: string) => void;
  /** When the runs of all accounts are due. */
  readonly slots: Readonly<Record<ScheduleKind, Slots>>;
  /** Whether it is the only account: with several, each has its own offset from the schedule. */
  readonly isAlone: boolean;
  /** Wall time of its last run in an earlier process; undefined if it never ran, or is to run at once. */
  readonly lastRun: number | undefined;
  readonly onRun: (report: RunReport) => void;
}

/** How long a run waits for the callback to be verified, so that later changes are delivered, in milliseconds. */
const callbackWait = 60_000;

/** The first run of a process waits if runs died with their process within this time, in milliseconds: twice as long for each of them. */
const crashMemory = 3_600_000;

/** How long to wait for the service to delete the callbacks of a removed account, in milliseconds. */
const deletionTimeout = 15_000;

export class AccountSupervisor {
  readonly subscriptions: SubscriptionManager;
  readonly #options: AccountSupervisorOptions;
  readonly #runs: RunService;
  readonly #worker: Worker;
  readonly #requestedSweeps: RequestedSweeps;
  readonly #schedules: Readonly<Record<ScheduleKind, Schedule>>;
  readonly #stopping = new AbortController();
  #doubt: string | null = null;
  #progress: SweepProgress | null = null;
  #hasDelayed = false;
  /** The run that began last, and when, by a clock that never jumps; Infinity while it waits to begin. */
  #latest: { readonly began: number; readonly report: Promise<RunReport> } | undefined;
  /** Wall time from which silence counts where no delivery ever arrived. */
  readonly #since: number;

  constructor(options: AccountSupervisorOptions) {
    const { account, installation, clock, log } = options;
    const { publicUrl, events } = installation.settings.listener;
    this.#options = options;
    this.#since = clock.now();
    this.#runs = new RunService((request) => this.#run(request));
    const sweep = (): Promise<RunReport> => this.#runs.request({ kind: 'pull', trigger: 'queue' });
    this.#worker = new Worker(account, sweep);
    this.#requestedSweeps = new RequestedSweeps(account, sweep);
    this.subscriptions = new SubscriptionManager({
      accountId: account.accountId,
      publicUrl,
      events,
      callbacks: account.client.callbacks,
      mirror: installation.mirror,
      verifiers: installation.secrets.verifiers,
      clock,
      log,
      causes: options.causes,
      asking: options.asking,
      withPermit: (work, signal) => options.permits.during(() => whileFilesAreOurs(installation, work), signal),
      onVerified: () => this.#request({ kind: 'reconcile', trigger: 'verification' }),
      onTokens: options.onTokens,
      onRotated: options.onRotated,
      onWrongCode: options.onWrongCode,
    });
    this.#schedules = { reconcile: this.#schedule('reconcile'), pull: this.#schedule('pull') };
  }

  /** What runs for several accounts, in the order in which it starts: after the listener, which must be open when the service sends its verification code. */
  static services(supervisors: readonly AccountSupervisor[]): Service[] {
    return [
      ...supervisors.map((supervisor) => supervisor.#work),
      ...supervisors.map((supervisor) => supervisor.#schedules.reconcile),
      ...supervisors.map((supervisor) => supervisor.#schedules.pull),
    ];
  }

  /** Why the mirror may not be called fresh although its records say so. */
  get doubt(): string | null {
    return this.#doubt;
  }

  /** How far the sweep under way has come; null while none is. */
  get progress(): SweepProgress | null {
    return this.#progress;
  }

  /** Wall time of the next scheduled run; undefined while one is under way. */
  next(kind: ScheduleKind): number | undefined {
    return this.#schedules[kind].next;
  }

  /** All but the schedules. */
  get #work(): Service {
    const services = [this.subscriptions, this.#worker, this.#requestedSweeps];
    return {
      name: `account ${this.#options.account.accountId}`,
      start: () => startAll(services),
      stop: async () => {
        this.#stopping.abort(new Error('Stopping.'));
        this.#options.causes.left(this.#options.account.accountId);
        await Promise.all([this.#runs.stop(), stopAll(services)]);
      },
    };
  }

  /**
   * Ends for good: stops all requests, and deletes the callbacks of this installation if the service does that within `deletionTimeout`.
   * @returns how many callbacks were deleted
   */
  async retire(stopping: AbortSignal): Promise<number> {
    const { account, clock, log } = this.#options;
    await stopAll([this.#schedules.reconcile, this.#schedules.pull]);
    const timeout = new AbortController();
    const late = sleptThrough(clock, deletionTimeout, AbortSignal.any([timeout.signal, stopping])).then(() => 0);
    const deleted = this.subscriptions.unregister().catch((error: unknown) => {
      log.warn(
        { account: account.accountId, err: asMirrorError(error) },
        'the callbacks of a removed account were not deleted',
      );
      return 0;
    });
    const count = await Promise.race([late, deleted]);
    timeout.abort(new Error('The callbacks are deleted.'));
    await stopAll(AccountSupervisor.services([this]));
    return count;
  }

  /** Deliveries of this account are on disk. */
  delivered(): void {
    this.#worker.wake();
    this.#requestedSweeps.wake();
  }

  /** Deliveries come with wrong signatures. Anybody may have sent them: only if deliveries are missing too, the key is lost. */
  wronglySigned(): void {
    this.#checkSilence().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted)
        this.#options.log.error({ err: asMirrorError(error) }, 'the missing deliveries could not be counted');
    });
  }

  /** Requests a run that begins after this call; a person may have approved absences. */
  requestRun(kind: ScheduleKind, approved: number): void {
    this.#request({ kind, trigger: 'command', approved });
  }

  /** Checks the callbacks because a person asks for it, and sweeps where the last run was refused: the person may have ended that. */
  async checkAnew(): Promise<void> {
    const { account, installation } = this.#options;
    await this.subscriptions.checkAnew();
    const states = await installation.mirror.accountStates.of([account.accountId]);
    if (states.get(account.accountId)?.refusedSince) this.#request({ kind: 'reconcile', trigger: 'start' });
  }

  /** Call this when something may wait in the queue. */
  wakeWorker(): void {
    this.#worker.wake();
  }

  /** Requests a reconciliation; until it is complete, the account is not called fresh. `why` is a sentence. */
  reconcileBecause(why: string): void {
    this.#doubt = why;
    this.#request({ kind: 'reconcile', trigger: 'start' });
  }

  #schedule(kind: ScheduleKind): Schedule {
    const { account, isAlone, slots, lastRun, clock, random, log } = this.#options;
    return new Schedule({
      name: isAlone ? kind : `${kind} of ${account.accountId}`,
      slots: isAlone ? slots[kind] : new OffsetSlots(slots[kind], account.accountId),
      clock,
      random,
      log,
      lastRun,
      run: (signal) => this.#scheduled(kind, signal),
    });
  }

  /** Checks the callback, then runs. When the signal is aborted, this ends at once, and the run with it. */
  async #scheduled(kind: ScheduleKind, signal: AbortSignal): Promise<void> {
    const requested = this.#options.clock.monotonic();
    const work = async (): Promise<void> => {
      await this.#checkCallback(signal);
      // If the callback has just been verified, or both schedules are due, a sweep is already under way or about to begin.
      const latest = this.#latest && this.#latest.began >= requested ? await this.#latest.report : undefined;
      if (latest?.outcome !== 'complete') await this.#runs.request({ kind, trigger: 'schedule' });
      await this.#checkSilence();
    };
    await unlessAborted(work(), signal);
  }

  /** Resolves when the callback is checked, or after `callbackWait`: a service that hangs must not keep sweeps waiting. */
  async #checkCallback(stopping: AbortSignal): Promise<void> {
    const callbackDeadline = new AbortController();
    const signal = AbortSignal.any([callbackDeadline.signal, stopping]);
    const enough = sleep(this.#options.clock, callbackWait, signal).catch(() => undefined);
    await Promise.race([this.subscriptions.checkVendors(), enough]);
    callbackDeadline.abort();
    stopping.throwIfAborted();
  }

  #request(request: Omit<RunRequest, 'signal'>): void {
    this.#runs.request(request).catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) this.#options.log.error({ err: asMirrorError(error) }, 'a run failed');
    });
  }

  async #run(request: RunRequest): Promise<RunReport> {
    const { account, installation, log, causes, metrics, onRun } = this.#options;
    const { mirror } = installation;
    const doubt = this.#doubt;
    const report = await this.#sweep(request);
    const { outcome, counts, error, notes, seconds } = report;
    metrics.run({ kind: request.kind, outcome, pages: counts.pages, seconds });
    const facts = { account: account.accountId, kind: request.kind, trigger: request.trigger, seconds, ...counts };
    if (!error) {
      causes.worked(account.accountId, 'runs');
      log.info(facts, `${request.kind} complete`);
    } else {
      const { code, message, hint } = error;
      const news = causes.failed(account.accountId, 'runs', code);
      if (news) {
        const all = { ...facts, code, ...news.facts };
        if (isAccessRefused(code)) log.error(all, `${message} ${hint}${news.words}`);
        else log.warn(all, message + news.words);
      }
    }
    for (const { kind, count } of await mirror.findings.countFindings(report.run)) metrics.finding(kind, count);
    for (const note of notes) log.info({ account: account.accountId }, note);
    // A doubt that arose during the run needs another run.
    if (outcome === 'complete' && this.#doubt === doubt) this.#doubt = null;
    onRun(report);
    if (outcome !== 'failed') await this.#gateways(request.signal);
    this.#worker.wake();
    return report;
  }

  /** Sweeps with a permit, which others may use while this sweep waits for the service. */
  #sweep(request: RunRequest): Promise<RunReport> {
    const { account, clock, permits } = this.#options;
    const sweep = async (): Promise<RunReport> => {
      await this.#delayAfterCrashes(request.signal);
      const permit = await permits.acquire(request.signal);
      try {
        latest.began = clock.monotonic();
        const vendors = account.client.vendors.through((answer) => permit.during(answer));
        const onProgress = (progress: SweepProgress): void => void (this.#progress = progress);
        return await pull({ ...account, vendors }, { ...request, onProgress });
      } finally {
        this.#progress = null;
        permit.release();
      }
    };
    const latest = { began: Infinity, report: Promise.resolve().then(sweep) };
    this.#latest = latest;
    return latest.report;
  }

  /** A process that dies repeatedly during its runs must not send requests without pause. */
  async #delayAfterCrashes(signal: AbortSignal): Promise<void> {
    const { account, installation, clock, log } = this.#options;
    if (this.#hasDelayed) return;
    this.#hasDelayed = true;
    const died = await installation.mirror.runs.unfinishedRuns(account.accountId, clock.now() - crashMemory);
    if (died < 2) return;
    const ms = Math.min(limits.crashDelayAtMost, limits.crashDelay * 2 ** died);
    log.warn(
      { account: account.accountId, died },
      `${died === 1 ? 'a run' : `${died} runs`} died with the process: the next one waits ${ms / 1_000} s`,
    );
    await sleep(clock, ms, signal);
  }

  async #gateways(signal: AbortSignal): Promise<void> {
    const { account, installation, log } = this.#options;
    if (installation.settings.service.gateways === 'never') return;
    try {
      await pullGateways(account, signal);
    } catch (error) {
      if (!signal.aborted)
        log.warn({ account: account.accountId, err: asMirrorError(error) }, 'the gateways were not read');
    }
  }

  /** If sweeps find changes and no delivery has come for unusually long, the callback may be dead: it is renewed. */
  async #checkSilence(): Promise<void> {
    const { account, installation, clock, log } = this.#options;
    if (installation.settings.listener.publicUrl === null) return;
    const received = await installation.mirror.receivedDeliveries(account.accountId);
    const silentFor = unusuallySilentFor(received, clock.now(), this.#since);
    if (silentFor === undefined) return;
    const { missedSince } = received;
    const minutes = Math.round(silentFor / 60_000);
    // A renewal that is not due yet, or did not succeed, is no news: what is wrong is told by the check.
    if ((await this.subscriptions.resendIfSilent()) !== 'renewed') return;
    log.warn(
      { account: account.accountId, missed: missedSince, minutes },
      `sweeps found ${missedSince} changes that no delivery announced, and no delivery came for ${minutes} minutes: the callback was renewed`,
    );
  }
}

/** Checks first that the files are still ours: a callback registered for other files would never be verified or deleted. */
async function whileFilesAreOurs<T>({ mirror, secrets }: Installation, work: () => Promise<T>): Promise<T> {
  mirror.place.assertOurs();
  secrets.place.assertOurs();
  return work();
}
