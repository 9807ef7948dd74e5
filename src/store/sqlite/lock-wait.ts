/** What writers wait for: the lock while another process holds it, room in the journal, a quiet moment. The driver itself never waits: it would sleep on the event loop. */
import { sleep, type Clock, type Random } from '../../domain/clock.ts';
import { leaveWal, type Sqlite } from './driver.ts';
import { isBusy } from './sqlite-errors.ts';

/** Milliseconds to try, unless told. */
export const defaultLockWait = 30_000;

/** Milliseconds to try where the service waits for an answer. */
export const shortLockWait = 2_000;

/** So many tries follow each other quickly. */
const quickTries = 100;

/**
 * Milliseconds from one try to the next. Most transactions are short, and another process may leave only moments between two of its own;
 * whoever holds the lock for longer is asked less often.
 */
export function lockRetryDelay(tries: number, random: Random): number {
  return tries <= quickTries ? 1 + 2 * random.fraction() : 10 + 40 * random.fraction();
}

/** Brings the journal into the file where commits do not do so themselves. */
export interface Checkpoints {
  /** Something was committed. */
  committed(): void;
  /** Resolves when the journal has room for much more. */
  waitForRoom(): Promise<void>;
  /** Resolves when nothing is brought over any more. */
  stop(): Promise<void>;
}

/** How often closing tries to find a moment in which nobody reads. */
const restAttempts = 20;

/** Puts a file to rest in a moment in which nobody reads it; leaves it as it is where there is none. @throws SqliteError. */
export async function leaveWalWhenIdle(sqlite: Sqlite, clock: Clock, random: Random): Promise<void> {
  for (let attempt = 0; attempt < restAttempts; attempt++) {
    try {
      leaveWal(sqlite);
      return;
    } catch (error) {
      if (!isBusy(error)) throw error;
      await sleep(clock, 5 + 45 * random.fraction());
    }
  }
}
