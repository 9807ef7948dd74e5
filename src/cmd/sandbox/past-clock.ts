/** A clock of the past: it stands still between two moments of a history, and ends at the moment at which it was made. */
import { assertDelay, type Clock } from '../../domain/clock.ts';

interface Timer {
  readonly due: number;
  readonly run: () => void;
}

export class PastClock implements Clock {
  readonly #real: Pick<Clock, 'yield'>;
  /** Where it ends. */
  readonly #end: { readonly wall: number; readonly monotonic: number };
  readonly #timers = new Set<Timer>();
  /** Milliseconds until the end. */
  #left: number;

  /** @param span how long before now it begins, in milliseconds */
  constructor(clock: Clock, span: number) {
    this.#real = clock;
    this.#end = { wall: clock.now(), monotonic: Math.max(clock.monotonic(), span) };
    this.#left = span;
  }

  now(): number {
    return this.#end.wall - this.#left;
  }

  /**
   * Ends where the real clock continues, so that mirror time goes on without a jump. Where the machine has not run for that long, it is as if
   * the machine was restarted at the end, because monotonic time begins at 0.
   */
  monotonic(): number {
    return this.#end.monotonic - this.#left;
  }

  /** Runs only when time is moved past it: nothing here waits for a timer, and no deadline is missed while time stands still. */
  timer(ms: number, run: () => void): () => void {
    assertDelay(ms);
    const timer = { due: this.monotonic() + ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  yield(): Promise<void> {
    return this.#real.yield();
  }

  /** Moves time to `wall`, milliseconds since 1970, but neither back nor past the end. */
  moveTo(wall: number): void {
    this.#left = Math.max(0, Math.min(this.#left, this.#end.wall - wall));
    for (const timer of this.#timers)
      if (timer.due <= this.monotonic()) {
        this.#timers.delete(timer);
        timer.run();
      }
  }
}
