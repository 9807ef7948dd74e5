/**
 * Sends deliveries to callbacks: each has ten seconds for an answer, is repeated with growing delays, and is dropped after several failures. A
 * callback that has only failed for long is disabled.
 */
import type { Clock } from '../../domain/clock.ts';
import type { World } from '../core/worlds.ts';

/**
 * How deliveries leave. Resolves with the status of the answer, whatever it is; rejects if there was none within
 * `timeoutMs`, or when the signal is aborted. Redirects are answers, and not followed.
 */
export type Post = (
  uri: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  timeoutMs: number,
  signal: AbortSignal,
) => Promise<{ status: number }>;

export type DeliveryKind = 'verification' | 'event' | 'repeat' | 'forged';

/** Something to send, as often as needed. */
export interface OutgoingDelivery {
  readonly account: string;
  readonly callbackId: number;
  readonly kind: DeliveryKind;
  readonly event: string;
  readonly objectId: number;
  /** The message as of now; undefined if it must no longer be sent. */
  readonly compose: () => { uri: string; headers: Readonly<Record<string, string>>; body: string } | undefined;
}

/** What became of one attempt. */
export interface Attempt extends Omit<OutgoingDelivery, 'compose'> {
  /** Milliseconds since 1970, when it ended. */
  readonly at: number;
  /** From 1; 0 if it was never tried. */
  readonly attempt: number;
  /** Of the answer, if there was one. */
  readonly status: number | undefined;
  /** Why there was none. */
  readonly problem: string | undefined;
  /** `lost` by plan and `dropped` for good; after `failed` it is tried again. */
  readonly outcome: 'acknowledged' | 'failed' | 'dropped' | 'lost';
}

type Answered = Pick<Attempt, 'status' | 'problem'>;

const answerTimeout = 10_000;
const maxLog = 100_000;

export class DeliverySender {
  readonly #clock: Clock;
  readonly #post: Post;
  readonly #world: World;
  readonly #disable: (account: string, callbackId: number) => void;
  readonly #log: Attempt[] = [];
  readonly #listeners = new Set<(attempt: Attempt) => void>();
  readonly #timers = new Set<() => void>();
  readonly #closing = new AbortController();
  /** Since when all deliveries to a callback have failed. */
  readonly #failingSince = new Map<string, number>();

  constructor(clock: Clock, post: Post, world: World, disable: (account: string, callbackId: number) => void) {
    this.#clock = clock;
    this.#post = post;
    this.#world = world;
    this.#disable = disable;
  }

  /** Every attempt so far, oldest first, as far as it is remembered. */
  get log(): readonly Attempt[] {
    return this.#log;
  }

  onAttempt(listener: (attempt: Attempt) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Sends the delivery after `delay` milliseconds, and again until it is acknowledged or dropped. */
  sendLater(delivery: OutgoingDelivery, delay: number, attempt = 1): void {
    if (this.#closing.signal.aborted) return;
    const cancel = this.#clock.timer(delay, () => {
      this.#timers.delete(cancel);
      void this.send(delivery, attempt);
    });
    this.#timers.add(cancel);
  }

  /** Makes one attempt now, and plans the next one if it fails. */
  async send(delivery: OutgoingDelivery, attempt = 1): Promise<void> {
    const message = delivery.compose();
    if (!message) {
      this.record(delivery, attempt - 1, 'dropped');
      return;
    }
    const answered = await this.#try(message);
    const { status } = answered;
    if (this.#closing.signal.aborted) return;
    if (status !== undefined && status >= 200 && status < 300) {
      this.#failingSince.delete(callbackKey(delivery));
      this.record(delivery, attempt, 'acknowledged', answered);
      return;
    }
    const last = attempt >= this.#world.attempts || delivery.kind === 'forged';
    if (delivery.kind === 'event') this.#countFailure(delivery);
    if (!last)
      this.sendLater(delivery, this.#world.retryAfter * 1_000 * this.#world.retryGrowth ** (attempt - 1), attempt + 1);
    this.record(delivery, attempt, last ? 'dropped' : 'failed', answered);
  }

  record(
    delivery: OutgoingDelivery,
    attempt: number,
    outcome: Attempt['outcome'],
    { status, problem }: Answered = { status: undefined, problem: undefined },
  ): void {
    const { account, callbackId, kind, event, objectId } = delivery;
    const about = { account, callbackId, kind, event, objectId };
    const entry = { ...about, at: this.#clock.now(), attempt, status, problem, outcome };
    this.#log.push(entry);
    if (this.#log.length > maxLog) this.#log.splice(0, maxLog / 10);
    for (const listener of this.#listeners) listener(entry);
  }

  /** Sends nothing more. */
  close(): void {
    this.#closing.abort(new Error('The sandbox stops.'));
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }

  async #try(sheet: { uri: string; headers: Readonly<Record<string, string>>; body: string }): Promise<Answered> {
    const { uri, headers, body } = sheet;
    try {
      const { status } = await this.#post(uri, headers, body, answerTimeout, this.#closing.signal);
      return { status, problem: undefined };
    } catch (error) {
      return { status: undefined, problem: error instanceof Error ? error.message : String(error) };
    }
  }

  #countFailure(delivery: OutgoingDelivery): void {
    const key = callbackKey(delivery);
    const since = this.#failingSince.get(key) ?? this.#clock.now();
    this.#failingSince.set(key, since);
    if (this.#clock.now() - since < this.#world.disableAfter * 60_000) return;
    this.#failingSince.delete(key);
    this.#disable(delivery.account, delivery.callbackId);
  }
}

function callbackKey({ account, callbackId }: OutgoingDelivery): string {
  return `${account}/${callbackId}`;
}

/** What of the global `fetch` is used. */
export type Fetch = (
  url: URL,
  request: {
    method: 'POST';
    headers: Record<string, string>;
    body: string;
    redirect: 'manual';
    timeout: number;
    signal: AbortSignal;
  },
) => Promise<{ readonly status: number }>;

/** Posts with the given fetch; the answer's body is not read. */
export function fetchPost(fetch: Fetch, clock: Clock): Post {
  return async (uri, headers, body, timeoutMs, signal) => {
    const late = new AbortController();
    const cancel = clock.timer(timeoutMs, () => late.abort(new Error('No answer in time.')));
    try {
      const { status } = await fetch(new URL(uri), {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        timeout: timeoutMs,
        signal: AbortSignal.any([late.signal, signal]),
      });
      return { status };
    } finally {
      cancel();
      late.abort();
    }
  };
}
