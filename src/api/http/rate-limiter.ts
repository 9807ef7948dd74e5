/**
 * Limits the requests in any period: prompt ones before patient ones, otherwise first come, first served. A part of the rate is reserved
 * for prompt ones.
 *
 * A place is taken before a request is sent and is free again one full period after its answer came. The service sees the request somewhere
 * in between, so two requests that use the same place are at least one period apart for the service, whatever the network delays.
 */
import type { Clock } from '../../domain/clock.ts';
import type { Rate } from '../../settings/parse.ts';

/** `prompt`: someone waits for the request, because a delivery was acknowledged or a person asked. */
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
  /** When the places of ended requests become free, soonest first, because requests end in order of time. */
  readonly #resting: number[] = [];
  #under = 0;
  #heldUntil = 0;
  #cancelWake: (() => void) | undefined;

  /** `keptForPrompt`: how many requests of the rate are reserved for prompt ones. */
  constructor(rate: Rate, clock: Clock, keptForPrompt = 0) {
    this.rate = rate;
    this.#clock = clock;
    this.#keptForPrompt = keptForPrompt;
  }

  /** How many requests may be within a period when one of this priority is sent, including itself. */
  limitOf(priority: Priority = 'prompt'): number {
    return this.rate.requests - (priority === 'patient' ? this.#keptForPrompt : 0);
  }

  /** Runs `send` as soon as the limit allows. @throws the signal's reason if it is aborted before that. */
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

  /** Stops all requests for `ms` milliseconds, at most one period: the service says that there are too many. */
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
   * Wakes when the next place becomes free. Without one, the end of a request wakes us; without waiters no timer is set, which would keep
   * the process alive.
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
