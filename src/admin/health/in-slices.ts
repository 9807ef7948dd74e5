/** Work on many things that leaves the event loop to others in between: a delivery must not wait for a page. */
import type { Clock } from '../../domain/clock.ts';

/** What `work` makes of each item, at most `atOnce` of them in one turn of the event loop. */
export async function inSlices<T, Result>(
  clock: Pick<Clock, 'yield'>,
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    results.push(work(item));
    if (results.length % atOnce === 0) await clock.yield();
  }
  return results;
}
