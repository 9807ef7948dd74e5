/** Detects jumps of the wall clock: a suspended or stopped machine, or a clock that was set. */
import { sleptThrough, type Clock } from '../../domain/clock.ts';
import type { Service } from '../../domain/lifecycle.ts';
import { background } from '../../domain/async/background.ts';

export interface ClockJumpOptions {
  readonly clock: Clock;
  /** Called with how far the wall clock jumped, in milliseconds; negative where it was set back. */
  readonly onJump: (ms: number) => void;
}

const tick = 30_000;

/** Delays of a busy machine up to this are not taken for a jump. */
const tolerance = 2 * tick;

/** Sleeps half a minute at a time, and compares the wall clock with what it should then show. */
export function createClockJumpDetector({ clock, onJump }: ClockJumpOptions): Service {
  return background('the clock jump detector', async (signal) => {
    for (;;) {
      const expected = clock.now() + tick;
      if (!(await sleptThrough(clock, tick, signal))) return;
      const jump = clock.now() - expected;
      if (Math.abs(jump) > tolerance) onJump(jump);
    }
  });
}
