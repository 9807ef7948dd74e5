/**
 * Sends the outbox of each target: for each vendor one message at a time, in order, and several vendors concurrently. A receiver that is
 * down is told from one that refuses single vendors. No sender waits for another, and nothing else waits for them.
 *
 * At least once: a message that was interrupted by a stop or a crash, or whose answer was lost, is sent again with the same `webhook-id`,
 * the cursor of its change. Four messages are under way for a target at once. Three vendors that fail in a row, with nothing accepted in
 * between, mean that the receiver is down: sending pauses, from five seconds up to a minute, and one message is tried at a time. Such
 * failures do not count against any vendor, so a receiver that was down for a weekend gets everything when it is back. Otherwise delays are
 * those of marked vendors (`src/domain/retry.ts`).
 *
 * The name of a target, by default its host, appears in logs, metrics and the mirror; the rest of its address, which may hold a secret, does
 * not.
 */
import { Webhook } from 'standardwebhooks';
import { networkCode, unreachable } from '../api/http/request.ts';
import { dateOf, sleptThrough, type Clock, type Random } from '../domain/clock.ts';
import { ArrivalSignal, Background, type Service } from '../domain/concurrency.ts';
import { asMirrorError, MirrorError } from '../domain/errors.ts';
import type { Log } from '../domain/log.ts';
import { queuePause, retryDelay } from '../domain/retry.ts';
import { AddressRefused, Poster, type Post } from '../http/post.ts';
import { isLoopback, type NotifyTarget, type Settings } from '../settings/parse.ts';
import type { DueVendor, Outbox } from '../store/outbox.ts';
import { keyText } from '../store/sql/statement.ts';
import { changeMessage, Feed, type FeedDependencies, type Message } from './feed.ts';

/** Concurrent messages to one target. */
const maxConcurrent = 4;

/** How often the feed is polled, in milliseconds. */
const pollInterval = 500;

interface TargetSenderOptions {
  readonly target: NotifyTarget;
  readonly feed: Feed;
  readonly outbox: Outbox;
  readonly post: Post;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** How long a stop waits for messages under way, in milliseconds; then they are aborted, and sent again after the next start. */
  readonly grace: number;
  readonly observe: (target: string, outcome: Outcome['kind']) => void;
}

/** Failures are retried with the delays of marked vendors, and parked when those are used up. */
export class TargetSender extends Background {
  readonly name: string;
  readonly #options: TargetSenderOptions;
  readonly #health: ReceiverHealth;
  readonly #ended = new ArrivalSignal();
  readonly #active = new Map<string, Promise<void>>();
  readonly #aborting = new AbortController();

  constructor(options: TargetSenderOptions) {
    super();
    this.name = `webhooks to ${options.target.name}`;
    this.#options = options;
    this.#health = new ReceiverHealth(options.clock);
  }

  override async stop(): Promise<void> {
    const cancel = this.#options.clock.timer(this.#options.grace, () => this.#aborting.abort(new Error('Stopping.')));
    await super.stop();
    await Promise.all(this.#active.values());
    cancel();
  }

  protected async work(signal: AbortSignal): Promise<void> {
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
    const limit = this.#health.isDown ? 1 : maxConcurrent;
    const { pauseLeft } = this.#health;
    if (pauseLeft > 0 || this.#active.size >= limit) return pauseLeft || pollInterval;
    const pending = await outbox.pendingWork(target.name, limit + this.#active.size);
    if (!pending) return pollInterval;
    const { notice, due, untilNext = pollInterval } = pending;
    if (notice) {
      if (this.#active.size === 0) this.#track('the notice', this.#sendNotice(notice));
      return pollInterval;
    }
    const free = due.filter((vendor) => !this.#active.has(keyText(vendor))).slice(0, limit - this.#active.size);
    for (const vendor of free) this.#track(keyText(vendor), this.#sendNext(vendor));
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
    const { outbox } = this.#options;
    const change = await outbox.nextChange(vendor);
    if (!change) return outbox.delivered(vendor, vendor.after_seq);
    const { account_id: account, vendorid } = vendor;
    return this.#send(changeMessage(change), {
      about: { account, vendorid, attempts: vendor.attempts + 1 },
      accepted: () => outbox.delivered(vendor, change.seq),
      failed: (error) => this.#failed(vendor, error),
    });
  }

  #sendNotice(notice: Message): Promise<void> {
    const { outbox, target } = this.#options;
    return this.#send(notice, {
      about: {},
      accepted: () => outbox.noticeDelivered(target.name),
      failed: (error) => {
        this.#health.pause();
        return outbox.recordFailure(target.name, error);
      },
    });
  }

  /** Sends a message once, and stores what became of it. */
  async #send(message: Message, { about, accepted, failed }: Sending): Promise<void> {
    const { outbox, log, observe, target } = this.#options;
    const outcome = await deliver(target, message, this.#options, this.#aborting.signal);
    observe(target.name, outcome.kind);
    if (outcome.kind === 'accepted') {
      if (this.#health.accepted()) log.info({ target: target.name }, 'webhooks are delivered again');
      return accepted();
    }
    const { code, hint, message: why } = outcome.error;
    if (outcome.kind === 'gone') {
      log.error({ target: target.name, code }, `${why} ${hint}`);
      return outbox.disable(target.name, why);
    }
    log.warn({ target: target.name, ...about, code }, `a webhook was not delivered: ${why}`);
    return failed(why);
  }

  /** While the receiver is down, the vendor goes to the end of the queue and its attempts do not count. */
  #failed(vendor: DueVendor, error: string): Promise<void> {
    const { outbox, log, random, target } = this.#options;
    const wasDown = this.#health.isDown;
    this.#health.failed(keyText(vendor));
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

/** What is logged of a message, and what becomes of it. */
interface Sending {
  readonly about: object;
  readonly accepted: () => Promise<void>;
  readonly failed: (error: string) => Promise<void>;
}

type Outcome =
  | { readonly kind: 'accepted' }
  /** The receiver answered 410: it wants no more messages. */
  | { readonly kind: 'gone'; readonly error: MirrorError }
  | { readonly kind: 'failed'; readonly error: MirrorError };

/** One attempt: signs the message, sends it and interprets the answer. @throws the signal's reason where it is aborted; the message may have arrived then. */
async function deliver(
  target: NotifyTarget,
  { id, body }: Message,
  { post, clock }: Pick<TargetSenderOptions, 'post' | 'clock'>,
  signal: AbortSignal,
): Promise<Outcome> {
  const url = new URL(target.url);
  const late = new AbortController();
  const cancel = clock.timer(target.timeout, () => late.abort(new Error('Too late.')));
  const sentAt = dateOf(clock.now());
  try {
    const status = await post({
      url,
      reach: isLoopback(url.hostname) ? 'loopback' : 'public',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'vendor-mirror',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
        'webhook-signature': signatures(target, id, sentAt, body),
      },
      body,
      timeout: target.timeout,
      signal: AbortSignal.any([late.signal, signal]),
    });
    return outcomeOf(target, status);
  } catch (error) {
    signal.throwIfAborted();
    if (late.signal.aborted) return failed(`${target.name} did not answer within ${target.timeout / 1_000} s.`);
    const refused = addressRefused(error);
    return failed(refused ? `${refused}.` : unreachable(url.host, error).message);
  } finally {
    cancel();
  }
}

/** One by each secret: while a secret is replaced, receivers may know either. */
function signatures({ secret }: NotifyTarget, id: string, sentAt: Date, body: string): string {
  const signed = secret
    .reveal()
    .split(' ')
    .map((one) => new Webhook(one).sign(id, sentAt, body));
  return signed.join(' ');
}

function outcomeOf({ name }: NotifyTarget, status: number): Outcome {
  if (status >= 200 && status < 300) return { kind: 'accepted' };
  if (status === 410)
    return {
      kind: 'gone',
      error: new MirrorError('receiver_gone', `${name} answered 410: it wants no more messages.`),
    };
  const redirect = status >= 300 && status < 400 ? ', and redirects are not followed' : '';
  return failed(`${name} answered ${status}${redirect}.`);
}

function failed(message: string): Outcome {
  return { kind: 'failed', error: new MirrorError('receiver_failing', message) };
}

/** Why the address was refused; Node's request may wrap the error as its cause. */
function addressRefused(error: unknown): string | undefined {
  if (error instanceof AddressRefused) return error.message;
  return networkCode(error) === '' && error instanceof Error && error.cause instanceof AddressRefused
    ? error.cause.message
    : undefined;
}

/** A receiver is down when messages of this many vendors failed and none was accepted in between. */
const vendorsUntilDown = 3;

class ReceiverHealth {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #failed = new Set<string>();
  #pauses = 0;
  #pausedUntil = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  get isDown(): boolean {
    return this.#failed.size >= vendorsUntilDown;
  }

  /** Milliseconds until sending may continue. */
  get pauseLeft(): number {
    return Math.max(0, this.#pausedUntil - this.#clock.monotonic());
  }

  /** A message was accepted. @returns whether the receiver was down. */
  accepted(): boolean {
    const wasDown = this.isDown;
    this.#failed.clear();
    this.#pauses = 0;
    this.#pausedUntil = 0;
    return wasDown;
  }

  failed(vendor: string): void {
    this.#failed.add(vendor);
    if (this.isDown) this.pause();
  }

  /** Pauses sending: longer each time, until a message is accepted. */
  pause(): void {
    this.#pauses += 1;
    this.#pausedUntil = this.#clock.monotonic() + queuePause(this.#pauses);
  }
}

interface NotifierOptions
  extends Omit<FeedDependencies, 'clock'>, Omit<TargetSenderOptions, 'target' | 'feed' | 'grace' | 'post'> {
  readonly settings: Pick<Settings, 'notify' | 'shutdownTimeout'>;
  /** Sends them; over the network by default. */
  readonly post: Post | undefined;
}

/** The part of `shutdownTimeout` for which messages under way may go on. */
const shareOfShutdown = 1 / 4;

/** All outgoing webhooks: one sender for each target of the settings. */
export function createNotifier(options: NotifierOptions): Service {
  const { notify, shutdownTimeout } = options.settings;
  const poster = new Poster();
  const post = options.post ?? poster.post;
  const grace = shutdownTimeout * shareOfShutdown;
  const senders = notify.map(
    (target) => new TargetSender({ ...options, post, target, feed: new Feed(target.name, options), grace }),
  );
  return {
    name: 'outgoing webhooks',
    async start() {
      for (const sender of senders) await sender.start();
    },
    async stop() {
      const stops = await Promise.allSettled(senders.map((sender) => sender.stop()));
      poster.close();
      for (const stop of stops) if (stop.status === 'rejected') throw stop.reason;
    },
  };
}
