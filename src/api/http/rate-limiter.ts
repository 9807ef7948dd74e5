/**
 * A limiter that lets at most so many requests through in any stretch of time of the given length: what is prompt before what is patient,
 * and else first come, first served. A part of the rate is kept for what is prompt.
 *
 * A place is taken before a request leaves and is free again one full period after its answer came. The service sees a
 * request somewhere between the two, so no two requests that share a place can be closer than a period in its eyes,
 * however the network delays them.
 */
import type { Clock } from '../../domain/clock.ts';
import type { Rate } from '../../settings/parse.ts';

/** Whether somebody waits for a request: a delivery was acknowledged, or a person asked. */
export type Priority = 'prompt' | 'patient';

interface Waiter {
  admit(): void;
}

const priorities = ['prompt', 'patient'] as const;

export class RateGate {
  readonly rate: Rate;
  readonly #clock: Clock;
  readonly #keptForPrompt: number;
  readonly #queues: Readonly<Record<Priority, Set<Waiter>>> = { prompt: new Set(), patient: new Set() };
  /** When the places of ended requests are free again, soonest first: requests end in the order of time. */
  readonly #resting: number[] = [];
  #under = 0;
  #heldUntil = 0;
  #cancelWake: (() => void) | undefined;

  /** `keptForPrompt`: so many of the rate's requests are not for patient ones. */
  constructor(rate: Rate, clock: Clock, keptForPrompt = 0) {
    this.rate = rate;
    this.#clock = clock;
    this.#keptForPrompt = keptForPrompt;
  }

  /** So many requests may be within a period when one of that pace leaves, this one included. */
  limitOf(priority: Priority = 'prompt'): number {
    return this.rate.requests - (priority === 'patient' ? this.#keptForPrompt : 0);
  }

  /** Runs `send` as soon as its turn has come. Rejects with the signal's reason if aborted before that. */
  async through<T>(send: () => Promise<T>, priority: Priority = 'prompt', signal?: AbortSignal): Promise<T> {
    await this.#admission(priority, signal);
    try {
      return await send();
    } finally {
      this.#under -= 1;
      this.#resting.push(this.#clock.monotonic() + this.rate.per);
      this.#admit();
    }
  }

  /**
   * Lets nobody through for `ms` milliseconds, but not longer than one period: the service says that we are too many.
   */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, this.#clock.monotonic() + Math.min(ms, this.rate.per));
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
    while ((this.#resting[0] ?? Infinity) <= now) this.#resting.shift();
    for (const priority of priorities)
      for (const waiter of this.#queues[priority]) {
        if (now < this.#heldUntil || this.#isFull(priority)) break;
        this.#queues[priority].delete(waiter);
        this.#under += 1;
        waiter.admit();
      }
    this.#wakeLater(now);
  }

  #isFull(priority: Priority): boolean {
    return this.#under + this.#resting.length >= this.limitOf(priority);
  }

  /**
   * Without a place that rests, the end of a request under way wakes us; without waiters no timer is left, which would keep the process
   * from ending.
   */
  #wakeLater(now: number): void {
    const waiting = priorities.filter((priority) => this.#queues[priority].size > 0);
    const moments = waiting.map((priority) =>
      Math.max(this.#heldUntil, this.#isFull(priority) ? (this.#resting[0] ?? Infinity) : 0),
    );
    const next = Math.min(...moments);
    if (next < Infinity) this.#cancelWake = this.#clock.timer(next - now, () => this.#admit());
  }
}
