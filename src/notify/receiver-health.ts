/**
 * Tells a receiver that is down from one that refuses single vendors. Where several vendors failed in a row and none was accepted, the
 * receiver is down: sending pauses, ever longer, then one message is tried, and its failures do not count against vendors.
 */
import type { Clock } from '../domain/clock.ts';
import { queuePause } from '../domain/retry/backoff.ts';

/** A receiver is down when messages of this many vendors failed and none was accepted in between. */
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

  /** Milliseconds until sending may continue. */
  get rest(): number {
    return Math.max(0, this.#restsUntil - this.#clock.monotonic());
  }

  /** A message was accepted. @returns whether the receiver was down. */
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

  /** Pauses sending: longer each time, until a message is accepted. */
  restAWhile(): void {
    this.#rests += 1;
    this.#restsUntil = this.#clock.monotonic() + queuePause(this.#rests);
  }
}
