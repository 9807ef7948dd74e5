/** Tells those who wait that something arrived; who asks with an old count hears of what came in between. */
import { sleep, type Clock } from '../domain/clock.ts';

export class ArrivalSignal {
  #count = 0;
  readonly #waiting = new Set<() => void>();

  /** How often it has rung. */
  get count(): number {
    return this.#count;
  }

  ring(): void {
    this.#count += 1;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** True as soon as it has rung more than `since` times; false after `ms` milliseconds. Rejects when aborted. */
  async rung(since: number, ms: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
    if (this.#count > since) return true;
    const over = new AbortController();
    const ring = new Promise<void>((resolve) => this.#waiting.add(resolve));
    const late = sleep(clock, ms, AbortSignal.any([signal, over.signal])).catch(() => undefined);
    await Promise.race([ring, late]);
    over.abort();
    signal.throwIfAborted();
    return this.#count > since;
  }
}
