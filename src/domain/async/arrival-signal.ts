/** Ends the waits of those who wait for something to arrive; a wait that names an old count also ends for what came before it began. */
import { sleptThrough, type Clock } from '../clock.ts';

export class ArrivalSignal {
  #count = 0;
  readonly #waiting = new Set<() => void>();

  /** How often it has rung. */
  get count(): number {
    return this.#count;
  }

  notify(): void {
    this.#count += 1;
    for (const wake of this.#waiting) wake();
  }

  /** True as soon as it has rung more than `since` times; false after `ms` milliseconds. Rejects when aborted. */
  async waitForMore(since: number, ms: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
    if (this.#count > since) return true;
    const over = new AbortController();
    const wake = (): void => over.abort();
    this.#waiting.add(wake);
    await sleptThrough(clock, ms, AbortSignal.any([signal, over.signal]));
    this.#waiting.delete(wake);
    signal.throwIfAborted();
    return this.#count > since;
  }
}
