/**
 * Limits the requests in any period: prompt ones before background ones before spare ones, the accounts of each in turn. A part of the rate
 * is reserved for prompt ones, and as much is open to background ones that were held back for long: prompt ones that need more than the whole
 * rate hold up no sweep for ever. The rate that all processes share is counted in the mirror, where these have their turns; this one gives its
 * order to the requests of one process and wakes them when a place is free, for 1 µs of each request.
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

/** How long a command that said that it waits says nothing more, in milliseconds. */
const tellAgain = 60_000;

/** Who asks for a place. */
export interface Turn {
  readonly account: string;
  readonly priority: Priority;
}

/** A place that a request has among those of this process. */
export interface Place {
  /** How many requests may be within a period when it is sent, including itself. */
  readonly limit: number;
  /** As which it is sent: its own, or `prompt` where it was held back for long. */
  readonly priority: Priority;
  readonly isBackground: boolean;
}

interface Waiter {
  /** Since when it is held back, in monotonic time. */
  readonly since: number;
  admit(place: Place): void;
}

export interface RateLimiterOptions {
  /** How many requests of the rate are reserved for prompt ones. */
  readonly reservedForPrompt?: number;
  /** After how many milliseconds a background request is taken for held back; by default after two periods, because one is usual. */
  readonly patience?: number;
}

/** Those who wait, by account; the account that was served last comes last. */
type Queue = Map<string, Set<Waiter>>;

export class RateLimiter {
  readonly rate: Rate;
  readonly #clock: Clock;
  readonly #reservedForPrompt: number;
  readonly #patience: number;
  readonly #queues: Readonly<Record<Priority, Queue>> = { prompt: new Map(), background: new Map(), spare: new Map() };
  /** When the places of ended requests become free, soonest first, because requests end in order of time. */
  readonly #freeAt: number[] = [];
  #inFlight = 0;
  /** The same of background requests. */
  readonly #backgroundFreeAt: number[] = [];
  #backgroundInFlight = 0;
  /** Before these moments no request of the priority is sent. */
  readonly #pausedUntil: Record<Priority, number> = { prompt: 0, background: 0, spare: 0 };
  #cancelWake: (() => void) | undefined;

  constructor(rate: Rate, clock: Clock, { reservedForPrompt = 0, patience = 2 * rate.per }: RateLimiterOptions = {}) {
    this.rate = rate;
    this.#clock = clock;
    this.#reservedForPrompt = reservedForPrompt;
    this.#patience = patience;
  }

  /** How many requests may be within a period when one of this priority is sent, including itself. */
  limitOf(priority: Priority = 'prompt'): number {
    const { requests } = this.rate;
    if (priority === 'prompt') return requests;
    const limit = requests - this.#reservedForPrompt;
    return priority === 'spare' ? Math.max(1, Math.floor(limit / 2)) : limit;
  }

  /**
   * Takes a place as soon as the limit allows; `leave` gives it back. @throws the signal's reason if it is aborted before that.
   * @param since when the request first waited, in monotonic time, where it had a place before and was not sent
   */
  async enter(
    { account, priority }: Turn,
    signal?: AbortSignal,
    since: number = this.#clock.monotonic(),
  ): Promise<Place> {
    signal?.throwIfAborted();
    const queue = this.#queues[priority];
    return new Promise<Place>((resolve, reject) => {
      const onAbort = (): void => {
        removeFrom(queue, account, waiter);
        this.#admit();
        reject(signal?.reason as Error);
      };
      const waiter: Waiter = {
        since,
        admit: (place) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(place);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const waiting = queue.get(account);
      if (waiting) waiting.add(waiter);
      else queue.set(account, new Set([waiter]));
      this.#admit();
    });
  }

  /** The request that had the place has ended, or `unsent` says that it never began. */
  leave({ isBackground }: Pick<Place, 'isBackground'>, { unsent = false } = {}): void {
    const freeAt = this.#clock.monotonic() + this.rate.per;
    this.#inFlight -= 1;
    if (!unsent) this.#freeAt.push(freeAt);
    if (isBackground) this.#backgroundInFlight -= 1;
    if (isBackground && !unsent) this.#backgroundFreeAt.push(freeAt);
    this.#admit();
  }

  /**
   * Stops requests for `ms` milliseconds, at most a minute: the service says that there are too many, or, for those of a priority and lower
   * ones, the mirror does.
   * @returns for how long, in milliseconds
   */
  pause(ms: number, from: Priority = 'prompt'): number {
    const length = Math.min(ms, longestPause);
    const until = this.#clock.monotonic() + length;
    for (const priority of priorities.slice(priorities.indexOf(from)))
      this.#pausedUntil[priority] = Math.max(this.#pausedUntil[priority], until);
    return length;
  }

  #admit(): void {
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    const now = this.#clock.monotonic();
    for (const places of [this.#freeAt, this.#backgroundFreeAt]) while ((places[0] ?? Infinity) <= now) places.shift();
    while (this.#heldBackUntil() <= now)
      this.#admitNext('background', this.#isOpen('background', now) ? 'background' : 'prompt');
    for (const priority of priorities)
      while (this.#queues[priority].size > 0 && this.#isOpen(priority, now)) this.#admitNext(priority, priority);
    this.#wakeLater(now);
  }

  /** @param priority as which the request is sent */
  #admitNext(queue: Priority, priority: Priority): void {
    const isBackground = queue === 'background';
    this.#inFlight += 1;
    if (isBackground) this.#backgroundInFlight += 1;
    takeNext(this.#queues[queue])?.admit({ limit: this.limitOf(priority), priority, isBackground });
  }

  #isOpen(priority: Priority, now: number): boolean {
    return now >= this.#pausedUntil[priority] && !this.#isFull(priority);
  }

  #isFull(priority: Priority): boolean {
    return this.#inFlight + this.#freeAt.length >= this.limitOf(priority);
  }

  /** When the next background request may have a place of those that are open to what was held back; Infinity for never. */
  #heldBackUntil(): number {
    const next = peek(this.#queues.background);
    if (!next) return Infinity;
    const isUsedUp = this.#backgroundInFlight + this.#backgroundFreeAt.length >= heldBackShare(this.rate);
    return Math.max(
      next.since + this.#patience,
      this.#pausedUntil.prompt,
      this.#isFull('prompt') ? (this.#freeAt[0] ?? Infinity) : 0,
      isUsedUp ? (this.#backgroundFreeAt[0] ?? Infinity) : 0,
    );
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
    const next = Math.min(...moments, this.#heldBackUntil());
    if (next < Infinity) this.#cancelWake = this.#clock.timer(next - now, () => this.#admit());
  }
}

/** How many requests within a period are open to background ones that were held back, where there are not as many already. */
function heldBackShare({ requests }: Rate): number {
  return Math.max(1, Math.floor(requests / 10));
}

/** The waiter that `takeNext` takes. */
function peek(queue: Queue): Waiter | undefined {
  for (const waiters of queue.values()) for (const waiter of waiters) return waiter;
  return undefined;
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
  readonly #isCommand: boolean;
  #toldUntil = 0;
  readonly #all: LimitedWindow;
  readonly #post: LimitedWindow;
  readonly #callbacks: LimitedWindow;

  /** `isCommand`: a person waits for everything that is asked, sweeps included. */
  constructor(
    connection: string,
    { all, post, callbacks }: ServiceSettings['rateLimit'],
    clock: Clock,
    { isCommand = false } = {},
  ) {
    this.connection = connection;
    this.#isCommand = isCommand;
    const options = isCommand ? { patience: 0 } : {};
    // So deliveries and people do not wait for sweeps.
    const reservedForPrompt = Math.floor(all.requests / 10);
    this.#all = { window: 'all', limiter: new RateLimiter(all, clock, { ...options, reservedForPrompt }) };
    this.#post = { window: 'post', limiter: new RateLimiter(post, clock, options) };
    this.#callbacks = { window: 'callbacks', limiter: new RateLimiter(callbacks, clock, options) };
  }

  /** Whether a command should say now that it waits: once a minute. */
  isToTell(now: number): boolean {
    if (!this.#isCommand || now < this.#toldUntil) return false;
    this.#toldUntil = now + tellAgain;
    return true;
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
