/** Notices that time went by unseen: a suspended or stopped machine, or a clock that was set. */
import { sleep, type Clock } from '../domain/clock.ts';
import type { Service } from '../domain/lifecycle.ts';

export interface ClockJumpOptions {
  readonly clock: Clock;
  /** Told how far the wall clock strayed from what it should show, in milliseconds; negative where it was set back. */
  readonly onJump: (ms: number) => void;
}

const tick = 30_000;

/** What a busy machine may lose without being suspected of having slept. */
const tolerance = 2 * tick;

/** Sleeps half a minute at a time, and compares the wall clock with what it should then show. */
export function createClockJumpDetector({ clock, onJump }: ClockJumpOptions): Service {
  let life: { readonly ended: Promise<void>; readonly stop: AbortController } | undefined;

  const watch = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      const expected = clock.now() + tick;
      const slept = await sleep(clock, tick, signal).then(
        () => true,
        () => false,
      );
      if (!slept) return;
      const stray = clock.now() - expected;
      if (Math.abs(stray) > tolerance) onJump(stray);
    }
  };

  return {
    name: 'the gap watch',
    start() {
      const stop = new AbortController();
      life = { stop, ended: watch(stop.signal) };
      return Promise.resolve();
    },
    async stop() {
      life?.stop.abort(new Error('The gap watch stops.'));
      await life?.ended;
    },
  };
}
