/** Waits of many that look around now and then, ended together: each turn of the event loop wakes the processor. */
import type { Clock } from '../clock.ts';

/** Waits end at multiples of this, in milliseconds. */
const tick = 1_000;

/** How long to wait, at most `ms` milliseconds and a tick less at least, so that it ends at a whole second of the clock. `ms` is several ticks long. */
export function sharedWait(clock: Pick<Clock, 'monotonic'>, ms: number): number {
  return ms - ((clock.monotonic() + ms) % tick);
}
