/**
 * Whether a receiver is down, or a few vendors' messages alone are refused. Where several vendors failed in a row and none came through, it is
 * down: it rests ever longer, then one message is tried, and its failures are no vendor's own.
 */
import type { Clock } from '../domain/clock.ts';
import { queueRest } from '../domain/async/backoff.ts';

/** Vendors whose messages failed, without any other that came through, by which a receiver is known to be down. */
const vendorsUntilDown = 3;

export class ReceiverHealth {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #failed = new Set<string>();
  #rests = 0;
  #restsUntil = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  get isDown(): boolean {
    return this.#failed.size >= vendorsUntilDown;
  }

  /** Milliseconds until something may be sent. */
  get rest(): number {
    return Math.max(0, this.#restsUntil - this.#clock.monotonic());
  }

  /** Something came through. @returns whether it was down. */
  accepted(): boolean {
    const wasDown = this.isDown;
    this.#failed.clear();
    this.#rests = 0;
    this.#restsUntil = 0;
    return wasDown;
  }

  failed(vendor: string): void {
    this.#failed.add(vendor);
    if (this.isDown) this.restAWhile();
  }

  /** Nothing is sent for a while: longer each time, until something comes through. */
  restAWhile(): void {
    this.#rests += 1;
    this.#restsUntil = this.#clock.monotonic() + queueRest(this.#rests);
  }
}
