/** How fast a sweep goes, and how long the rest of it will take. */
import type { Clock } from '../../domain/clock.ts';
import type { SweepProgress } from '../../app/installation.ts';
import { inWords } from '../../domain/duration.ts';

export class SweepSpeed {
  readonly #clock: Clock;
  #since: number;
  #begunAt = 0;
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** `, 312/s, 18 s left`, or nothing before the first measurement; a new walk is measured from its own start. */
  text({ seen, total }: SweepProgress): string {
    const now = this.#clock.monotonic();
    if (seen < this.#last) [this.#since, this.#begunAt] = [now, seen];
    this.#last = seen;
    const seconds = (now - this.#since) / 1_000;
    const rate = seconds > 0 ? (seen - this.#begunAt) / seconds : 0;
    if (rate === 0) return '';
    const left = total > seen ? `, ${inWords((1_000 * (total - seen)) / rate)} left` : '';
    return `, ${Math.round(rate)}/s${left}`;
  }
}
