/** Notices that time went by unseen: a suspended or stopped machine, or a clock that was set. */
import { sleep, type Clock } from './clock.ts';
import type { Service } from './lifecycle.ts';

export interface GapWatchOptions {
  readonly clock: Clock;
  /** Told how far the time strayed from what it should be, in milliseconds; negative where the wall clock was set back. */
  readonly onGap: (ms: number) => void;
}

const tick = 30_000;

/** What a busy machine may lose without being suspected of having slept. */
const tolerance = 2 * tick;

/** Compares wall time and monotonic time with the time it meant to sleep, every half minute. */
export function createGapWatch({ clock, onGap }: GapWatchOptions): Service {
  let life: { readonly ended: Promise<void>; readonly stop: AbortController } | undefined;

  const watch = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      const [wall, monotonic] = [clock.now(), clock.monotonic()];
      const slept = await sleep(clock, tick, signal).then(
        () => true,
        () => false,
      );
      if (!slept) return;
      const [wallStray, stray] = [clock.now() - wall - tick, clock.monotonic() - monotonic - tick];
      const furthest = Math.abs(wallStray) > Math.abs(stray) ? wallStray : stray;
      if (Math.abs(furthest) > tolerance) onGap(furthest);
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
