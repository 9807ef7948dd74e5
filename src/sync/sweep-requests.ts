/**
 * Sweeps that deliveries request: when each is due, which deliveries it settles, and the loop that runs them.
 *
 * A delivery whose `object_id` equals the id of one of our callbacks requests a sweep, because it does not say which vendor changed.
 */
import { ArrivalSignal, Background, sharedWait } from '../domain/concurrency.ts';
import { asMirrorError } from '../domain/errors.ts';
import { secondLookDelay } from '../domain/retry.ts';
import type { SweepAnswer, SweepRequest } from '../store/sweep-requests.ts';
import type { Observation } from './observation.ts';
import type { IdSet } from './sweep/id-set.ts';
import type { SyncAccount } from './sync-account.ts';

/** The longest wait, in milliseconds: clocks may jump, and other processes may request sweeps too. */
const maxWait = 30_000;

/** Runs the sweeps that deliveries request, as soon as each is due. Woken by deliveries. */
export class RequestedSweeps extends Background {
  readonly name: string;
  readonly #account: SyncAccount;
  readonly #sweep: () => Promise<unknown>;
  readonly #wakeUps = new ArrivalSignal();

  /** `sweep` runs a sweep that begins after the call. */
  constructor(account: SyncAccount, sweep: () => Promise<unknown>) {
    super();
    this.name = `requested sweeps of ${account.accountId}`;
    this.#account = account;
    this.#sweep = sweep;
  }

  /** A sweep may have been requested. */
  wake(): void {
    this.#wakeUps.notify();
  }

  protected async work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const wakeUpsBefore = this.#wakeUps.count;
      const wait = await this.#untilNext();
      if (wait > 0) await this.#wait(wakeUpsBefore, wait, signal);
      else if (!(await this.#sweepOnce(signal))) await this.#wait(wakeUpsBefore, maxWait, signal);
    }
  }

  async #untilNext(): Promise<number> {
    const { mirror, accountId } = this.#account;
    try {
      const request = await mirror.sweepRequests.sweepRequest(accountId);
      return request ? untilDue(this.#account, request, await mirror.moment()) : maxWait;
    } catch {
      // The file is locked or gone; other users of it report that.
      return maxWait;
    }
  }

  /** @returns whether the sweep ran. */
  async #sweepOnce(signal: AbortSignal): Promise<boolean> {
    const { log, accountId } = this.#account;
    try {
      await this.#sweep();
      return true;
    } catch (error) {
      if (!signal.aborted)
        log.warn({ account: accountId, err: asMirrorError(error) }, 'a sweep that deliveries requested failed');
      return false;
    }
  }

  /** Waits `ms` milliseconds, or until there were more wake-ups than before. */
  async #wait(wakeUpsBefore: number, ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#account;
    const wait = Math.min(sharedWait(clock, maxWait), ms);
    await this.#wakeUps.waitForMore(wakeUpsBefore, wait, clock, signal).catch(() => undefined);
  }
}

/** The shortest pause between two requested sweeps, in milliseconds, at least as long as the sweep took; and while a person must decide. */
const minPause = 60_000;
const pauseForPerson = 900_000;

/** How old a request must be when its sweep begins, in milliseconds: before, lists may not show the change yet. */
function settlingTime({ sync }: Pick<SyncAccount, 'sync'>): number {
  return secondLookDelay(sync);
}

/**
 * Milliseconds until the sweep for this request is due, at this moment of mirror time: when the last request is old enough, so that one
 * sweep answers a burst; where requests never stop, when the first is twice as old.
 */
function untilDue(account: Pick<SyncAccount, 'sync'>, request: SweepRequest, moment: number): number {
  const { askedMs, lastMs, restUntilMs } = request;
  const due = Math.min(lastMs + settlingTime(account), askedMs + 2 * settlingTime(account));
  return Math.max(0, due - moment, restUntilMs - moment);
}

/** A request that was open when a sweep began. */
export interface OpenRequest {
  readonly request: SweepRequest;
  /** Mirror time. */
  readonly moment: number;
}

/** Sweeps that deliveries request: when they are due, and which deliveries they settle. */
export async function openRequest({ mirror, accountId }: SyncAccount): Promise<OpenRequest | undefined> {
  const request = await mirror.sweepRequests.sweepRequest(accountId);
  return request && { request, moment: await mirror.moment() };
}

/** Finishes the request that was open when a complete sweep began, and settles its deliveries by what the sweep showed. */
export async function finishRequest(
  account: SyncAccount,
  { request, moment }: OpenRequest,
  { seen, news }: { readonly seen: IdSet; readonly news: Observation['news'] },
): Promise<void> {
  const { mirror, accountId } = account;
  const upToMs = moment - settlingTime(account);
  // Relative to the request: our clock may have been set since, mirror time was not.
  const upTo = request.askedAt + upToMs - request.askedMs;
  const answer: SweepAnswer = {
    generation: request.generation,
    upToMs,
    upTo,
    restUntilMs: await restUntil(account, moment),
  };
  const { lastDelivery } = request;
  const answered = { lastDelivery, upTo: request.lastMs <= upToMs ? undefined : upTo };
  let room = true;
  while (room) {
    const vendors = await mirror.sweepRequests.unmarkedVendors(accountId, answered);
    if (vendors.length === 0) return mirror.sweepRequests.finishSweepRequest(accountId, answer);
    room = await mirror.sweepRequests.settleUnmarked(
      accountId,
      vendors.map((vendor) => ({ ...vendor, outcome: outcomeOf(vendor.vendorid, seen, news) })),
    );
  }
  // Vendors that no list showed and that do not fit into the queue: the request stays open.
  await mirror.sweepRequests.postponeSweepRequest(accountId, answer.restUntilMs);
}

/** Postpones the next sweep for a request whose sweep failed. @param awaitsPerson whether the next one fails, too, unless a person decides */
export async function postponeRequest(
  account: SyncAccount,
  { moment }: OpenRequest,
  awaitsPerson: boolean,
): Promise<void> {
  const until = await restUntil(account, moment, awaitsPerson ? pauseForPerson : minPause);
  await account.mirror.sweepRequests.postponeSweepRequest(account.accountId, until);
}

async function restUntil({ mirror }: SyncAccount, began: number, pause = minPause): Promise<number> {
  const moment = await mirror.moment();
  return moment + Math.max(pause, moment - began);
}

function outcomeOf(vendorid: number, seen: IdSet, news: Observation['news']): 'applied' | 'unchanged' | 'unseen' {
  if (!seen.has(vendorid)) return 'unseen';
  return news.has(vendorid) ? 'applied' : 'unchanged';
}
