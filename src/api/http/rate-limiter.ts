/**
 * Limits the requests in any period: prompt ones before background ones before spare ones, the accounts of each in turn. A part of the rate
 * is reserved for prompt ones. The rate that all processes share is counted in the mirror; this one gives its order to the requests of one
 * process and wakes them when a place is free, for 1 µs of each request.
 *
 * A place is taken before a request is sent and is free again one full period after its answer came. The service sees the request somewhere
 * in between, so two requests that use the same place are at least one period apart for the service, whatever the network delays.
 */
import type { Clock } from '../../domain/clock.ts';
import type { RateWindow } from '../../domain/reading.ts';
import type { Rate, ServiceSettings } from '../../settings/parse.ts';

/**
 * `prompt`: someone waits for the request, because a delivery was acknowledged or a person asked. `background`: nobody does. `spare`: it may
 * take days, and is sent only while less than half of the rate of the others is used: half of what they leave stays theirs.
 */
export type Priority = 'prompt' | 'background' | 'spare';

const priorities = ['prompt', 'background', 'spare'] as const;

/** The longest time for which a service stops all requests, in milliseconds. */
const longestPause = 60_000;

/** Who asks for a place. */
export interface Turn {
  readonly account: string;
  readonly priority: Priority;
}

interface Waiter {
  admit(): void;
}

/** Those who wait, by account; the account that was served last comes last. */
type Queue = Map<string, Set<Waiter>>;

export class RateLimiter {
  readonly rate: Rate;
  readonly #clock: Clock;
  readonly #reservedForPrompt: number;
  readonly #queues: Readonly<Record<Priority, Queue>> = { prompt: new Map(), background: new Map(), spare: new Map() };
  /** When the places of ended requests become free, soonest first, because requests end in order of time. */
  readonly #freeAt: number[] = [];
  #inFlight = 0;
  /** Before these moments no request of the priority is sent. */
  readonly #pausedUntil: Record<Priority, number> = { prompt: 0, background: 0, spare: 0 };
  #cancelWake: (() => void) | undefined;

  /** `reservedForPrompt`: how many requests of the rate are reserved for prompt ones. */
  constructor(rate: Rate, clock: Clock, reservedForPrompt = 0) {
    this.rate = rate;
    this.#clock = clock;
    this.#reservedForPrompt = reservedForPrompt;
  }

  /** How many requests may be within a period when one of this priority is sent, including itself. */
  limitOf(priority: Priority = 'prompt'): number {
    const { requests } = this.rate;
    if (priority === 'prompt') return requests;
    const limit = requests - this.#reservedForPrompt;
    return priority === 'spare' ? Math.max(1, Math.floor(limit / 2)) : limit;
  }

  /** Takes a place as soon as the limit allows; `leave` gives it back. @throws the signal's reason if it is aborted before that. */
  async enter({ account, priority }: Turn, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const queue = this.#queues[priority];
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        removeFrom(queue, account, waiter);
        this.#admit();
        reject(signal?.reason as Error);
      };
      const waiter = {
        admit: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const waiting = queue.get(account);
      if (waiting) waiting.add(waiter);
      else queue.set(account, new Set([waiter]));
      this.#admit();
    });
  }

  /** The request has ended, or `unsent` says that it never began. */
  leave({ unsent = false } = {}): void {
    this.#inFlight -= 1;
    if (!unsent) this.#freeAt.push(this.#clock.monotonic() + this.rate.per);
    this.#admit();
  }

  /**
   * Stops requests for `ms` milliseconds, at most a minute: the service says that there are too many, or, for those of a priority and lower
   * ones, the mirror does.
   */
  pause(ms: number, from: Priority = 'prompt'): void {
    const until = this.#clock.monotonic() + Math.min(ms, longestPause);
    for (const priority of priorities.slice(priorities.indexOf(from)))
      this.#pausedUntil[priority] = Math.max(this.#pausedUntil[priority], until);
  }

  #admit(): void {
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    const now = this.#clock.monotonic();
    while ((this.#freeAt[0] ?? Infinity) <= now) this.#freeAt.shift();
    for (const priority of priorities) {
      const queue = this.#queues[priority];
      while (queue.size > 0 && now >= this.#pausedUntil[priority] && !this.#isFull(priority)) {
        this.#inFlight += 1;
        takeNext(queue)?.admit();
      }
    }
    this.#wakeLater(now);
  }

  #isFull(priority: Priority): boolean {
    return this.#inFlight + this.#freeAt.length >= this.limitOf(priority);
  }

  /**
   * Wakes when the next place becomes free. Without one, the end of a request wakes us; without waiters no timer is set, which would keep
   * the process alive.
   */
  #wakeLater(now: number): void {
    const waiting = priorities.filter((priority) => this.#queues[priority].size > 0);
    const moments = waiting.map((priority) =>
      Math.max(this.#pausedUntil[priority], this.#isFull(priority) ? (this.#freeAt[0] ?? Infinity) : 0),
    );
    const next = Math.min(...moments);
    if (next < Infinity) this.#cancelWake = this.#clock.timer(next - now, () => this.#admit());
  }
}

/** Takes the first waiter of the account whose turn it is, and puts the account behind all others. */
function takeNext(queue: Queue): Waiter | undefined {
  for (const [account, waiters] of queue)
    for (const waiter of waiters) {
      queue.delete(account);
      waiters.delete(waiter);
      if (waiters.size > 0) queue.set(account, waiters);
      return waiter;
    }
  return undefined;
}

function removeFrom(queue: Queue, account: string, waiter: Waiter): void {
  const waiters = queue.get(account);
  waiters?.delete(waiter);
  if (waiters?.size === 0) queue.delete(account);
}

/** A window of the rate, and what limits its requests in this process. */
export interface LimitedWindow {
  readonly window: RateWindow;
  readonly limiter: RateLimiter;
}

/** The rate of one connection, which all of its accounts share. */
export class ConnectionRate {
  readonly connection: string;
  readonly #all: LimitedWindow;
  readonly #post: LimitedWindow;
  readonly #callbacks: LimitedWindow;

  constructor(connection: string, { all, post, callbacks }: ServiceSettings['rateLimit'], clock: Clock) {
    this.connection = connection;
    // So deliveries and people do not wait for sweeps.
    const reserved = Math.floor(all.requests / 10);
    this.#all = { window: 'all', limiter: new RateLimiter(all, clock, reserved) };
    this.#post = { window: 'post', limiter: new RateLimiter(post, clock) };
    this.#callbacks = { window: 'callbacks', limiter: new RateLimiter(callbacks, clock) };
  }

  /** What a request counts against, the narrowest first. */
  windowsOf({ family, method }: { readonly family: string; readonly method: string }): readonly LimitedWindow[] {
    return [
      ...(family === 'callbacks' ? [this.#callbacks] : []),
      ...(method === 'POST' ? [this.#post] : []),
      this.#all,
    ];
  }
}
