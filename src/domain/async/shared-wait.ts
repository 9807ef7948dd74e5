/** Aligns the waits of many loops, so that they wake the processor together. */
import type { Clock } from '../clock.ts';

/** Waits end at multiples of this, in milliseconds. */
const tick = 1_000;

/** How long to wait so that the wait ends at a whole second of the clock: at most `ms` milliseconds, and less by up to one tick. */
export function sharedWait(clock: Pick<Clock, 'monotonic'>, ms: number): number {
  return ms - ((clock.monotonic() + ms) % tick);
}
