/**
 * Drains the queue of one account: processes due marks, several at a time; where there are no reads by id, one sweep settles all of them.
 * Woken by deliveries, and when a mark becomes due.
 */
import { sleptThrough } from '../domain/clock.ts';
import { ArrivalSignal, background, eachBounded, sharedWait } from '../domain/concurrency.ts';
import { asMirrorError, type MirrorError } from '../domain/errors.ts';
import type { Service } from '../domain/lifecycle.ts';
import { queuePause } from '../domain/retry.ts';
import type { VisState } from '../domain/vendor.ts';
import type { Verdict } from '../store/acceptance.ts';
import type { OpenDelivery } from '../store/deliveries.ts';
import type { Mark } from '../store/queue.ts';
import { processMark, type AttemptOptions } from './attempt.ts';
import { sweepContext } from './observation.ts';
import type { SyncAccount } from './sync-account.ts';

/** The longest wait, in milliseconds: clocks may jump, and other processes may mark vendors too. */
const longestWait = 30_000;

/** The most marks of one round. */
const batch = 200;

export class Worker implements Service {
  readonly name: string;
  readonly #account: SyncAccount;
  readonly #sweep: () => Promise<{ readonly error: MirrorError | undefined }>;
  readonly #wakeUps = new ArrivalSignal();
  readonly #background: Service;

  /** `sweep` runs a sweep that begins after the call. */
  constructor(account: SyncAccount, sweep: () => Promise<{ readonly error: MirrorError | undefined }>) {
    this.name = `worker of ${account.accountId}`;
    this.#account = account;
    this.#sweep = sweep;
    this.#background = background(this.name, (signal) => this.#run(signal));
  }

  start(): Promise<void> {
    return this.#background.start();
  }

  stop(): Promise<void> {
    return this.#background.stop();
  }

  /** A vendor may have been marked. */
  wake(): void {
    this.#wakeUps.notify();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { accountId, clock, log } = this.#account;
    const isStopped = (): boolean => signal.aborted;
    let failures = 0;
    while (!isStopped()) {
      const wakeUpsBefore = this.#wakeUps.count;
      try {
        if (!(await this.#drain(signal))) await this.#waitForMarks(wakeUpsBefore, signal);
        failures = 0;
      } catch (error) {
        if (isStopped()) return;
        log.warn({ account: accountId, err: asMirrorError(error) }, 'the queue could not be processed');
        // Due marks stay due, so without a pause, which no arrival shortens, the same error would repeat at once.
        failures += 1;
        await sleptThrough(clock, queuePause(failures), signal);
      }
    }
  }

  /** Processes the due marks. @returns whether there were any. @throws what keeps marks from being processed. */
  async #drain(signal: AbortSignal): Promise<boolean> {
    const { mirror, accountId, concurrency } = this.#account;
    const marks = await mirror.queue.dueMarks(accountId, batch);
    if (marks.length === 0) return false;
    const options = { context: this.#context(), signal };
    const offered = await this.#account.reader.isOffered(() => mirror.vendors.newestActive(accountId), options);
    if (offered) await eachBounded(marks, concurrency, (mark) => this.#processMark(mark, signal));
    else {
      const { error } = await this.#sweep();
      if (error) throw error;
    }
    return true;
  }

  async #processMark(mark: Mark, signal: AbortSignal): Promise<void> {
    const openDeliveries = await this.#account.mirror.queue.openDeliveries(mark);
    await processMark(this.#account, mark, openDeliveries, {
      context: await this.#contextOf(mark, openDeliveries.at(-1)),
      signal,
      onVerdict: (verdict) => this.#logChange(mark, verdict),
    });
  }

  #logChange({ account_id, vendorid }: Mark, verdict: Verdict): void {
    const message = changeMessage(vendorid, verdict);
    if (message !== undefined) this.#account.log.info({ account: account_id, vendorid }, message);
  }

  /** A guarded mark without a delivery belongs to the sweep that met the change; all others belong to their delivery. */
  async #contextOf(mark: Mark, delivery: OpenDelivery | undefined): Promise<AttemptOptions['context']> {
    const { mirror, accountId } = this.#account;
    const sweeping = delivery || mark.reason !== 'guarded' ? undefined : await mirror.runs.lastSweep(accountId);
    return sweeping ? sweepContext(this.#account, sweeping) : { ...this.#context(), deliveryId: delivery?.id ?? null };
  }

  #context(): AttemptOptions['context'] {
    const { accountId, sync } = this.#account;
    return { accountId, source: 'delivery', runId: null, deliveryId: null, lag: sync.lag };
  }

  /** Waits until the next mark is due, or until there were more wake-ups than before. */
  async #waitForMarks(wakeUpsBefore: number, signal: AbortSignal): Promise<void> {
    const { mirror, accountId, clock } = this.#account;
    const next = await mirror.queue.untilNextMark(accountId);
    const wait = Math.min(sharedWait(clock, longestWait), next ?? Infinity);
    await this.#wakeUps.waitForMore(wakeUpsBefore, wait, clock, signal);
  }
}

const becomes: Readonly<Record<VisState, string>> = { 0: 'restored', 1: 'deleted', 2: 'archived' };

/** The log message for a change that a delivery announced: id and field names, never vendor data. @returns undefined for no change. */
export function changeMessage(vendorid: number, verdict: Verdict): string | undefined {
  if (verdict.kind === 'created') return `vendor ${vendorid} is new`;
  if (verdict.kind !== 'updated') return undefined;
  const { before, after, changed } = verdict;
  const state = before.vis_state !== after.vis_state && after.vis_state !== null ? becomes[after.vis_state] : undefined;
  if (state === undefined) return `vendor ${vendorid} changed: ${changed.join(', ')}`;
  const others = changed.filter((field) => field !== 'vis_state' && field !== 'updated_at');
  const besides = others.length > 0 ? `, and changed: ${others.join(', ')}` : '';
  return `vendor ${vendorid} was ${state}${besides}`;
}
