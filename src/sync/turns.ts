/** Pieces of work that take long one at a time, and everything else that waits in between. */
import type { Clock } from '../clock.ts';

/**
 * Answers of several requests may come in one turn of the event loop. Were all of them applied in it, a delivery would wait
 * for them all; so each piece gets a turn of its own.
 */
export function inTurns<Piece, Result>(
  clock: Pick<Clock, 'yield'>,
  work: (piece: Piece) => Promise<Result>,
): (piece: Piece) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (piece) => {
    const result = last.then(() => clock.yield()).then(() => work(piece));
    last = result.catch(() => undefined);
    return result;
  };
}
