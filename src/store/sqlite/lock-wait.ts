/** How long to try for the write lock while another process holds it, and how often. The driver itself never waits: it would sleep on the event loop. */
import type { Random } from '../../domain/clock.ts';

/** Milliseconds to try, unless told. */
export const usualLockWait = 30_000;

/** Milliseconds to try where the service waits for an answer. */
export const answerSoon = 2_000;

/** So many tries follow each other quickly. */
const quickTries = 100;

/**
 * Milliseconds from one try to the next. Most transactions are short, and another process may leave only moments between two of its own;
 * whoever holds the lock for longer is asked less often.
 */
export function untilNextTry(tries: number, random: Random): number {
  return tries <= quickTries ? 1 + 2 * random.fraction() : 10 + 40 * random.fraction();
}
