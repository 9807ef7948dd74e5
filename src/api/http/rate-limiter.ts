/**
 * Limits the requests in any period: prompt ones before background ones, otherwise first come, first served. A part of the rate is reserved
 * for prompt ones. The rate that all processes share is counted in the mirror; this one gives its order to the requests of one process and wakes
 * them when a place is free, for 1 µs of each request.
 *
 * A place is taken before a request is sent and is free again one full period after its answer came. The service sees the request somewhere
 * in between, so two requests that use the same place are at least one period apart for the service, whatever the network delays.
 */
import type { Clock } from '../../domain/clock.ts';
import type { Rate } from '../../settings/parse.ts';

/**
 * `prompt`: someone waits for the request, because a delivery was acknowledged or a person asked. `background`: nobody does. `spare`: it may
 * take days, and is sent only while less than half of the rate of the others is used: half of what they leave stays theirs.
 */
export type Priority = 'prompt' | 'background' | 'spare';

interface Waiter {
  admit(): void;
}

const priorities = ['prompt', 'background', 'spare'] as const;

export class RateLimiter {
  readonly rate: Rate;
  readonly #clock: Clock;
  readonly #reservedForPrompt: number;
  readonly #queues: Readonly<Record<Priority, Set<Waiter>>> = {
    prompt: new Set(),
    background: new Set(),
    spare: new Set(),
  };
  /** When the places of ended requests become free, soonest first, because requests end in order of time. */
  readonly #freeAt: number[] = [];
  #inFlight = 0;
  #pausedUntil = 0;
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

  /** Runs `send` as soon as the limit allows. @throws the signal's reason if it is aborted before that. */
  async run<T>(send: () => Promise<T>, priority: Priority = 'prompt', signal?: AbortSignal): Promise<T> {
    await this.#admission(priority, signal);
    try {
      return await send();
    } finally {
      this.#inFlight -= 1;
      this.#freeAt.push(this.#clock.monotonic() + this.rate.per);
      this.#admit();
    }
  }

  /** Stops all requests for `ms` milliseconds, at most one period: the service says that there are too many. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.monotonic() + Math.min(ms, this.rate.per));
  }

  async #admission(priority: Priority, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const queue = this.#queues[priority];
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        queue.delete(waiter);
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
      queue.add(waiter);
      this.#admit();
    });
  }

  #admit(): void {
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    const now = this.#clock.monotonic();
    while ((this.#freeAt[0] ?? Infinity) <= now) this.#freeAt.shift();
    for (const priority of priorities)
      for (const waiter of this.#queues[priority]) {
        if (now < this.#pausedUntil || this.#isFull(priority)) break;
        this.#queues[priority].delete(waiter);
        this.#inFlight += 1;
        waiter.admit();
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
      Math.max(this.#pausedUntil, this.#isFull(priority) ? (this.#freeAt[0] ?? Infinity) : 0),
    );
    const next = Math.min(...moments);
    if (next < Infinity) this.#cancelWake = this.#clock.timer(next - now, () => this.#admit());
  }
}
