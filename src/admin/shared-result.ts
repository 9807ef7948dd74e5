/** Work that is done once at a time, and whose result is shared for a while: many who look cost no more than one. */
import type { Clock } from '../domain/clock.ts';

/** How long a result serves at least, in milliseconds. */
const shortest = 1_000;

/** How many times as long as it took a result serves at least, so that the work never takes more than a tenth of the time. */
const restFactor = 9;

export function shared<T>(clock: Pick<Clock, 'monotonic'>, work: () => Promise<T>): () => Promise<T> {
  let last: { readonly result: Promise<T>; until: number } | undefined;
  return () => {
    const now = clock.monotonic();
    if (last && now < last.until) return last.result;
    const begun = { result: work(), until: Infinity };
    const end = (): void => {
      const took = clock.monotonic() - now;
      begun.until = now + Math.max(shortest, took + restFactor * took);
    };
    begun.result.then(end, end);
    last = begun;
    return begun.result;
  };
}
