/** The clock of one process: it can be set, stopped, suspended with its machine, and it ends with the process. */
import { sleep, type Clock } from '../../../src/domain/clock.ts';
import { epoch, type Timeline } from './timeline.ts';

/** In milliseconds. Less, as sums of fractions leave it, would not move the time, and a timer for it would never be due. */
const shortestWait = 1e-6;

export class ProcessClock implements Clock {
  readonly #timeline: Timeline;
  /** What monotonic time lacks: the machine slept, or was restarted. */
  #behind: number;
  #wallError: number;
  #pausedUntil = 0;
  /** Until when it was last stopped, in the timeline's milliseconds. */
  pausedOnce = -Infinity;
  #alive = true;
  #last = 0;

  /** `behind`: how much of the world's time this machine's monotonic clock has not seen; `wallError`: how wrong its wall clock is. */
  constructor(timeline: Timeline, behind: number, wallError: number) {
    this.#timeline = timeline;
    this.#behind = behind;
    this.#wallError = wallError;
  }

  now(): number {
    return epoch + this.#moment() + this.#wallError;
  }

  monotonic(): number {
    return this.#moment() - this.#behind;
  }

  timer(ms: number, run: () => void): () => void {
    const due = this.monotonic() + ms;
    let cancel = (): void => undefined;
    const arm = (wait: number): void => {
      cancel = this.#timeline.timer(wait === 0 ? 0 : Math.max(wait, shortestWait), () => {
        const late = Math.max(this.#pausedUntil - this.#timeline.now, due - this.monotonic());
        if (!this.#alive) return;
        if (late > 0) arm(late);
        else run();
      });
    };
    if (this.#alive) arm(ms);
    return () => cancel();
  }

  yield(): Promise<void> {
    return sleep(this, 0);
  }

  get alive(): boolean {
    return this.#alive;
  }

  get wallError(): number {
    return this.#wallError;
  }

  get behind(): number {
    return this.#behind;
  }

  /** Milliseconds for which the process will not do anything. */
  get paused(): number {
    return Math.max(0, this.#pausedUntil - this.#timeline.now);
  }

  /** The process is stopped for a while; with its machine, monotonic time stands still too. One that is stopped already stays so. */
  pause(ms: number, withMachine: boolean): void {
    if (this.paused > 0) return;
    this.pausedOnce = this.#pausedUntil = this.#timeline.now + ms;
    if (withMachine) this.#behind += ms;
  }

  /** Somebody sets the wall clock. */
  shiftWall(ms: number): void {
    this.#wallError += ms;
  }

  /** The machine is restarted: its monotonic time begins again. */
  reboot(): void {
    this.#behind = this.#timeline.now;
  }

  /** The process is dead: what it waits for never comes. */
  end(): void {
    this.#last = this.#timeline.now;
    this.#alive = false;
  }

  #moment(): number {
    return this.#alive ? this.#timeline.now : this.#last;
  }
}
