/** Groups work items that arrive in one turn of the event loop. */
import type { Clock } from '../clock.ts';

interface Waiter<Item, Result> {
  readonly item: Item;
  readonly done: (result: Result) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Returns a function that queues an item and resolves with its result. All items that were queued in one turn of the event loop are handed
 * to `work` together, in a later turn, so that the fixed cost of a batch is paid once and other events are handled first. `work` returns
 * one result for each item, in order; where it fails, every item of the batch fails with its error.
 */
export function inBatches<Item, Result>(
  clock: Pick<Clock, 'yield'>,
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: Waiter<Item, Result>[] = [];
  let last: Promise<unknown> = Promise.resolve();

  const workOnAll = async (): Promise<void> => {
    await clock.yield();
    const group = waiting;
    waiting = [];
    try {
      const results = await work(group.map(({ item }) => item));
      for (const [index, result] of results.entries()) group[index]?.done(result);
    } catch (error) {
      for (const { failed } of group) failed(error);
    }
  };

  return (item) =>
    new Promise((done, failed) => {
      waiting.push({ item, done, failed });
      if (waiting.length === 1) last = last.then(workOnAll);
    });
}
