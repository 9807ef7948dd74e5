/** Work whose result is shared for a while, so that many readers cost no more than one. */
import type { Clock } from '../../domain/clock.ts';
import { SingleFlight } from '../../domain/async/single-flight.ts';

/** How long a result serves at least, in milliseconds. */
const shortest = 1_000;

/** How many times as long as it took a result serves at least, so that the work never takes more than a tenth of the time. */
const restFactor = 9;

export function shared<T>(clock: Pick<Clock, 'monotonic'>, work: () => Promise<T>): () => Promise<T> {
  let until = 0;
  const flight = new SingleFlight<T>(() => clock.monotonic() < until);
  const timed = async (): Promise<T> => {
    const begun = clock.monotonic();
    try {
      return await work();
    } finally {
      const took = clock.monotonic() - begun;
      until = begun + Math.max(shortest, took + restFactor * took);
    }
  };
  return () => flight.run(timed);
}
