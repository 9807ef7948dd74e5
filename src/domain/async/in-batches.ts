/** Pieces of work that take long, and everything else that waits in between. */
import type { Clock } from '../clock.ts';

interface Waiter<Piece, Result> {
  readonly piece: Piece;
  readonly done: (result: Result) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Pieces that came in one turn of the event loop are worked on together, in a turn of their own: what it costs to begin and to end
 * is paid once for all, and whoever else came in the meantime is heard first. A failure is that of all of them.
 */
export function inBatches<Piece, Result>(
  clock: Pick<Clock, 'yield'>,
  work: (pieces: readonly Piece[]) => Promise<readonly Result[]>,
): (piece: Piece) => Promise<Result> {
  let waiting: Waiter<Piece, Result>[] = [];
  let last: Promise<unknown> = Promise.resolve();

  const workOnAll = async (): Promise<void> => {
    await clock.yield();
    const group = waiting;
    waiting = [];
    try {
      const results = await work(group.map(({ piece }) => piece));
      for (const [index, result] of results.entries()) group[index]?.done(result);
    } catch (error) {
      for (const { failed } of group) failed(error);
    }
  };

  return (piece) =>
    new Promise((done, failed) => {
      waiting.push({ piece, done, failed });
      if (waiting.length === 1) last = last.then(workOnAll);
    });
}
