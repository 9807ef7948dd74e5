/**
 * Sends the outbox of one target: for each vendor one message at a time, in order, and several vendors concurrently. Failures are retried
 * with the delays of marked vendors, and parked when those are used up.
 */
import type { Clock, Random } from '../domain/clock.ts';
import { sleptThrough } from '../domain/clock.ts';
import { ArrivalSignal } from '../domain/async/arrival-signal.ts';
import { queuePause, retryDelay } from '../domain/retry/backoff.ts';
import { background } from '../domain/async/background.ts';
import { asMirrorError, type MirrorError } from '../domain/errors.ts';
import type { Service } from '../domain/lifecycle.ts';
import type { Log } from '../domain/log.ts';
import type { Post } from '../http/outgoing/post.ts';
import type { NotifyTarget } from '../settings/parse.ts';
import type { Outbox } from '../store/outbox/outbox.ts';
import type { DueVendor } from '../store/records/outbox-record.ts';
import { deliver, type Outcome } from './deliver.ts';
import type { Feed } from './feed.ts';
import { changeMessage, type Message } from './message.ts';
import { ReceiverHealth } from './receiver-health.ts';

/** Concurrent messages to one target. */
const mostConcurrent = 4;

/** How often the feed is polled, in milliseconds. */
const pollInterval = 500;

export interface TargetSenderOptions {
  readonly target: NotifyTarget;
  readonly feed: Feed;
  readonly outbox: Outbox;
  readonly post: Post;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** How long a stop waits for messages under way, in milliseconds; then they are aborted, and sent again after the next start. */
  readonly grace: number;
  /** Called with the outcome of each attempt. */
  readonly observe: (target: string, outcome: Outcome['kind']) => void;
}

export class TargetSender implements Service {
  readonly name: string;
  readonly #options: TargetSenderOptions;
  readonly #background: Service;
  readonly #health: ReceiverHealth;
  readonly #ended = new ArrivalSignal();
  readonly #active = new Map<string, Promise<void>>();
  readonly #aborting = new AbortController();

  constructor(options: TargetSenderOptions) {
    this.name = `webhooks to ${options.target.name}`;
    this.#options = options;
    this.#health = new ReceiverHealth(options.clock);
    this.#background = background(this.name, (signal) => this.#run(signal));
  }

  start(): Promise<void> {
    return this.#background.start();
  }

  async stop(): Promise<void> {
    const cancel = this.#options.clock.timer(this.#options.grace, () => this.#aborting.abort(new Error('Stopping.')));
    await this.#background.stop();
    await Promise.all(this.#active.values());
    cancel();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { feed, clock, log, target } = this.#options;
    const isStopped = (): boolean => signal.aborted;
    let [opened, failures] = [false, 0];
    while (!isStopped()) {
      const endedBefore = this.#ended.count;
      try {
        if (!opened) await feed.open();
        opened = true;
        const isEnqueued = await feed.enqueueChanges();
        const untilNext = await this.#sendDue();
        if (isEnqueued) await clock.yield();
        else await this.#ended.waitForMore(endedBefore, Math.min(pollInterval, untilNext), clock, signal);
        failures = 0;
      } catch (error) {
        if (isStopped()) return;
        failures += 1;
        log.warn(
          { target: target.name, err: asMirrorError(error) },
          'the outbox of a webhook target could not be processed',
        );
        await sleptThrough(clock, queuePause(failures), signal);
      }
    }
  }

  /** Starts sending what is due, up to the limit. @returns milliseconds until there may be more to send. */
  async #sendDue(): Promise<number> {
    const { outbox, target } = this.#options;
    const limit = this.#health.isDown ? 1 : mostConcurrent;
    const { pauseLeft } = this.#health;
    if (pauseLeft > 0 || this.#active.size >= limit) return pauseLeft || pollInterval;
    const pending = await outbox.pendingWork(target.name, limit + this.#active.size);
    if (!pending) return pollInterval;
    const { notice, due, untilNext = pollInterval } = pending;
    if (notice) {
      if (this.#active.size === 0) this.#track('the notice', this.#sendNotice(notice));
      return pollInterval;
    }
    const free = due.filter((vendor) => !this.#active.has(keyOf(vendor))).slice(0, limit - this.#active.size);
    for (const vendor of free) this.#track(keyOf(vendor), this.#sendNext(vendor));
    // Vendors that are due but already being sent wake the loop when they end.
    return due.length > 0 ? pollInterval : untilNext;
  }

  #track(key: string, work: Promise<void>): void {
    const ended = work
      .catch((error: unknown) => {
        if (this.#aborting.signal.aborted) return;
        const { log, target } = this.#options;
        log.warn({ target: target.name, err: asMirrorError(error) }, 'the outcome of a webhook could not be stored');
        this.#health.pause();
      })
      .finally(() => {
        this.#active.delete(key);
        this.#ended.notify();
      });
    this.#active.set(key, ended);
  }

  async #sendNext(vendor: DueVendor): Promise<void> {
    const { outbox, log, target } = this.#options;
    const change = await outbox.nextChange(vendor);
    if (!change) return outbox.delivered(vendor, vendor.after_seq);
    const outcome = await this.#attempt(changeMessage(change));
    switch (outcome.kind) {
      case 'accepted':
        this.#accepted();
        return outbox.delivered(vendor, change.seq);
      case 'gone':
        return this.#disable(outcome.error);
      case 'failed': {
        const { code, message } = outcome.error;
        const facts = { target: target.name, account: vendor.account_id, vendorid: vendor.vendorid, code };
        log.warn({ ...facts, attempts: vendor.attempts + 1 }, `a webhook was not delivered: ${message}`);
        return this.#failed(vendor, message);
      }
    }
  }

  async #sendNotice(notice: Message): Promise<void> {
    const { outbox, log, target } = this.#options;
    const outcome = await this.#attempt(notice);
    switch (outcome.kind) {
      case 'accepted':
        this.#accepted();
        return outbox.noticeDelivered(target.name);
      case 'gone':
        return this.#disable(outcome.error);
      case 'failed': {
        const { code, message } = outcome.error;
        log.warn({ target: target.name, code }, `a webhook was not delivered: ${message}`);
        this.#health.pause();
        return outbox.recordFailure(target.name, message);
      }
    }
  }

  async #attempt(message: Message): Promise<Outcome> {
    const { target, observe } = this.#options;
    const outcome = await deliver(target, message, this.#options, this.#aborting.signal);
    observe(target.name, outcome.kind);
    return outcome;
  }

  #accepted(): void {
    const { log, target } = this.#options;
    if (this.#health.accepted()) log.info({ target: target.name }, 'webhooks are delivered again');
  }

  #disable(error: MirrorError): Promise<void> {
    const { outbox, log, target } = this.#options;
    log.error({ target: target.name, code: error.code }, `${error.message} ${error.hint}`);
    return outbox.disable(target.name, error.message);
  }

  /** While the receiver is down, the vendor goes to the end of the queue and its attempts do not count. */
  #failed(vendor: DueVendor, error: string): Promise<void> {
    const { outbox, log, random, target } = this.#options;
    const wasDown = this.#health.isDown;
    this.#health.failed(keyOf(vendor));
    if (wasDown) return outbox.defer(vendor, { attempts: vendor.attempts, delay: 0, error });
    const attempts = vendor.attempts + 1;
    const delay = retryDelay(attempts, random.fraction());
    if (delay !== undefined) return outbox.defer(vendor, { attempts, delay, error });
    const { account_id, vendorid } = vendor;
    log.warn(
      { target: target.name, account: account_id, vendorid },
      `the webhooks of vendor ${vendorid} are given up: \`vendor-mirror notify retry\` sends them again`,
    );
    return outbox.park(vendor, { attempts, error });
  }
}

function keyOf({ account_id, vendorid }: DueVendor): string {
  return `${account_id} ${vendorid}`;
}
