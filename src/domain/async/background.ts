/** Work in the background, from start to stop. */
import { sleptThrough, type Clock } from '../clock.ts';
import type { Service } from '../lifecycle.ts';

/** A service that starts `work` once, and on stop aborts its signal and waits for it to end. */
export function background(name: string, work: (signal: AbortSignal) => Promise<unknown>): Service {
  const stop = new AbortController();
  let ended: Promise<unknown> | undefined;
  return {
    name,
    start() {
      ended ??= work(stop.signal);
      return Promise.resolve();
    },
    async stop() {
      stop.abort(new Error(`${name} stops.`));
      await ended;
    },
  };
}

/** Runs `work` now, and again `ms` milliseconds after each time it ended, until the signal is aborted. */
export async function repeatedly(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  work: () => Promise<void> | void,
): Promise<void> {
  do await work();
  while (await sleptThrough(clock, ms, signal));
}
