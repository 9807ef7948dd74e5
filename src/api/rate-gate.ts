/**
 * A gate that lets at most so many requests through in any stretch of time of the given length, first come, first
 * served.
 *
 * A place is taken before a request leaves and is free again one full period after its answer came. The service sees a
 * request somewhere between the two, so no two requests that share a place can be closer than a period in its eyes,
 * however the network delays them.
 */
import type { Clock } from '../clock.ts';
import type { Rate } from '../config.ts';

interface Waiter {
  admit(): void;
}

export class RateGate {
  readonly #rate: Rate;
  readonly #clock: Clock;
  readonly #queue = new Set<Waiter>();
  /** When the places of ended requests are free again, soonest first: requests end in the order of time. */
  readonly #resting: number[] = [];
  #under = 0;
  #heldUntil = 0;
  #cancelWake: (() => void) | undefined;

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
  }

  /** Runs `send` as soon as its turn has come. Rejects with the signal's reason if aborted before that. */
  async through<T>(send: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#turn(signal);
    try {
      return await send();
    } finally {
      this.#under -= 1;
      this.#resting.push(this.#clock.monotonic() + this.#rate.per);
      this.#admit();
    }
  }

  /**
   * Lets nobody through for `ms` milliseconds, but not longer than one period: the service says that we are too many.
   */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, this.#clock.monotonic() + Math.min(ms, this.#rate.per));
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.#queue.delete(waiter);
        if (this.#queue.size === 0) this.#sleep();
        reject(signal?.reason as Error);
      };
      const waiter = {
        admit: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#queue.add(waiter);
      this.#admit();
    });
  }

  #admit(): void {
    this.#sleep();
    const now = this.#clock.monotonic();
    while ((this.#resting[0] ?? Infinity) <= now) this.#resting.shift();
    for (const waiter of this.#queue) {
      if (now < this.#heldUntil || this.#under + this.#resting.length >= this.#rate.requests) break;
      this.#queue.delete(waiter);
      this.#under += 1;
      waiter.admit();
    }
    if (this.#queue.size > 0) this.#wakeLater(now);
  }

  /** Without waiters no timer is left, which would keep the process from ending. */
  #sleep(): void {
    this.#cancelWake?.();
    this.#cancelWake = undefined;
  }

  /** Without a place that rests, the end of a request under way wakes us. */
  #wakeLater(now: number): void {
    const full = this.#under + this.#resting.length >= this.#rate.requests;
    const next = Math.max(this.#heldUntil, full ? (this.#resting[0] ?? Infinity) : 0);
    if (next < Infinity) this.#cancelWake = this.#clock.timer(next - now, () => this.#admit());
  }
}
