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
  #pauses = 0;
  #pausedUntil = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  get isDown(): boolean {
    return this.#failed.size >= vendorsUntilDown;
  }

  /** Milliseconds until sending may continue. */
  get pauseLeft(): number {
    return Math.max(0, this.#pausedUntil - this.#clock.monotonic());
  }

  /** A message was accepted. @returns whether the receiver was down. */
  accepted(): boolean {
    const wasDown = this.isDown;
    this.#failed.clear();
    this.#pauses = 0;
    this.#pausedUntil = 0;
    return wasDown;
  }

  failed(vendor: string): void {
    this.#failed.add(vendor);
    if (this.isDown) this.pause();
  }

  /** Pauses sending: longer each time, until a message is accepted. */
  pause(): void {
    this.#pauses += 1;
    this.#pausedUntil = this.#clock.monotonic() + queuePause(this.#pauses);
  }
}
