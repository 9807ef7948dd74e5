/**
 * Drains the queue of one account: attempts at due marks, several at a time; where there are no reads by id, one sweep settles all of them.
 * Woken by deliveries, and when a mark becomes due.
 *
 * No attempt waits for another: each place is given on as soon as its attempt ends. Marks that were not tried before go first, and repeated
 * attempts take at most half of the places, so that vendors whose reads hang leave room for all others.
 */
import { sleptThrough } from '../domain/clock.ts';
import { ArrivalSignal, Background, sharedWait } from '../domain/concurrency.ts';
import { asMirrorError, type MirrorError } from '../domain/errors.ts';
import { queuePause, secondLookDelay } from '../domain/retry.ts';
import type { VisState } from '../domain/vendor.ts';
import type { Verdict } from '../store/acceptance.ts';
import type { OpenDelivery } from '../store/deliveries.ts';
import type { Mark } from '../store/queue.ts';
import { processMark, type AttemptOptions } from './attempt.ts';
import { sweepContext } from './observation.ts';
import type { SyncAccount } from './sync-account.ts';

/** The longest wait, in milliseconds: clocks may jump, and other processes may mark vendors too. */
const longestWait = 30_000;

/** The most marks that are taken from the queue at once. */
const batch = 200;

export class Worker extends Background {
  readonly name: string;
  readonly #account: SyncAccount;
  readonly #sweep: () => Promise<{ readonly error: MirrorError | undefined }>;
  /** Of new marks, and of attempts that ended. */
  readonly #wakeUps = new ArrivalSignal();
  readonly #places: number;
  /** Attempts under way, by vendor. */
  readonly #attempts = new Map<number, { readonly isRepeated: boolean; readonly ended: Promise<void> }>();
  /** Due marks that wait for a place. */
  #waiting: Mark[] = [];
  /** Why an attempt could not be made. */
  #failure: { readonly error: unknown } | undefined;
  #failures = 0;

  /** `sweep` runs a sweep that begins after the call. */
  constructor(account: SyncAccount, sweep: () => Promise<{ readonly error: MirrorError | undefined }>) {
    super();
    this.name = `worker of ${account.accountId}`;
    this.#account = account;
    this.#sweep = sweep;
    this.#places = Math.max(2, account.concurrency);
  }

  /** A vendor may have been marked. */
  wake(): void {
    this.#wakeUps.notify();
  }

  protected async work(signal: AbortSignal): Promise<void> {
    const { accountId, clock, log, mirror } = this.#account;
    const isStopped = (): boolean => signal.aborted;
    while (!isStopped()) {
      const wakeUpsBefore = this.#wakeUps.count;
      try {
        const { moment, isEmpty } = await mirror.queue.outlook(accountId);
        if (!isEmpty || this.#attempts.size > 0 || this.#failure) {
          await this.#startAttempts(signal);
          await this.#waitForMarks(wakeUpsBefore, moment, signal);
        } else {
          this.#waiting = [];
          await this.#wakeUps.waitForMore(wakeUpsBefore, sharedWait(clock, longestWait), clock, signal);
        }
      } catch (error) {
        if (isStopped()) break;
        log.warn({ account: accountId, err: asMirrorError(error) }, 'the queue could not be processed');
        // Due marks stay due, so without a pause, which no arrival shortens, the same error would repeat at once.
        this.#failures += 1;
        await sleptThrough(clock, queuePause(this.#failures), signal);
      }
    }
    await Promise.all(Array.from(this.#attempts.values(), ({ ended }) => ended));
  }

  /** Gives free places to due marks. @throws what keeps marks from being processed. */
  async #startAttempts(signal: AbortSignal): Promise<void> {
    const { mirror, accountId, reader } = this.#account;
    if (this.#failure) {
      const { error } = this.#failure;
      this.#failure = undefined;
      throw error;
    }
    if (this.#attempts.size >= this.#places) return;
    await this.#takeMarks();
    if (this.#waiting.length === 0) return;
    const isOffered = await reader.isOffered(
      () => mirror.vendors.newestActive(accountId),
      { context: this.#context(), signal },
      // Where lists show no vendor, what was announced may be hidden by them.
      () => Promise.resolve(this.#waiting.map(({ vendorid }) => vendorid)),
    );
    if (!isOffered) {
      this.#waiting = [];
      const { error } = await this.#sweep();
      if (error) throw error;
      this.#failures = 0;
      return;
    }
    for (let next = this.#waiting[0]; next && this.#hasPlace(next); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#start(next, signal);
    }
  }

  /** Takes due marks, unless one that was not tried before waits already. */
  async #takeMarks(): Promise<void> {
    if (this.#waiting[0]?.attempts === 0) return;
    const { mirror, accountId } = this.#account;
    const due = await mirror.queue.dueMarks(accountId, batch + this.#attempts.size);
    this.#waiting = due.filter(({ vendorid }) => !this.#attempts.has(vendorid));
  }

  #hasPlace({ attempts }: Mark): boolean {
    const underWay = [...this.#attempts.values()];
    if (underWay.length >= this.#places) return false;
    return attempts === 0 || underWay.filter(({ isRepeated }) => isRepeated).length < Math.floor(this.#places / 2);
  }

  #start(mark: Mark, signal: AbortSignal): void {
    const { vendorid, attempts } = mark;
    const ended = this.#processMark(mark, signal)
      .then(
        () => (this.#failures = 0),
        (error: unknown) => (this.#failure ??= { error }),
      )
      .then(() => {
        this.#attempts.delete(vendorid);
        this.#wakeUps.notify();
      });
    this.#attempts.set(vendorid, { isRepeated: attempts > 0, ended });
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
    return { accountId, source: 'delivery', runId: null, deliveryId: null, lag: sync.lag, rest: secondLookDelay(sync) };
  }

  /**
   * Waits until there were more wake-ups than before, or the next mark is due. Marks that were due at `moment` are under way, or wait for the
   * end of an attempt; where none is, one may have become due since.
   */
  async #waitForMarks(wakeUpsBefore: number, moment: number, signal: AbortSignal): Promise<void> {
    const { mirror, accountId, clock } = this.#account;
    const next = await mirror.queue.untilNextMark(accountId, this.#attempts.size > 0 ? moment : undefined);
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
