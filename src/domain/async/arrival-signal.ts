/**
 * Counts arrivals and wakes whoever waits for the next one. A caller reads `count` before it looks for work and passes it to the wait, so
 * that an arrival in between is not lost.
 */
import { sleptThrough, type Clock } from '../clock.ts';

export class ArrivalSignal {
  #count = 0;
  readonly #waiting = new Set<() => void>();

  /** How many arrivals there were. */
  get count(): number {
    return this.#count;
  }

  notify(): void {
    this.#count += 1;
    for (const wake of this.#waiting) wake();
  }

  /**
   * Waits until there were more than `since` arrivals.
   * @returns true then, false after `ms` milliseconds.
   * @throws the signal's reason when it is aborted.
   */
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
