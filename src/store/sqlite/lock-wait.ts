/**
 * Waits of writers: for the lock of another process, room in the journal, or a moment without readers. The driver itself never waits,
 * because it would block the event loop.
 */
import { sleep, type Clock, type Random } from '../../domain/clock.ts';
import { leaveWal, type Sqlite } from './driver.ts';
import { isBusy } from './sqlite-errors.ts';

/** How long to retry by default, in milliseconds. */
export const defaultLockWait = 30_000;

/** How long to retry where the service waits for an answer, in milliseconds. */
export const shortLockWait = 2_000;

/** The number of quick retries. */
const quickTries = 100;

/**
 * Milliseconds until the next try. Most transactions are short, and another process may leave only moments between two of its own; a lock
 * that is held for longer is tried less often.
 */
export function lockRetryDelay(tries: number, random: Random): number {
  return tries <= quickTries ? 1 + 2 * random.fraction() : 10 + 40 * random.fraction();
}

/** Runs checkpoints, in place of commits. */
export interface Checkpoints {
  /** Called after each commit. */
  committed(): void;
  /** Resolves when the journal has room. */
  waitForRoom(): Promise<void>;
  /** Resolves when no checkpoint runs any more. */
  stop(): Promise<void>;
}

/** How often closing tries to find a moment without readers. */
const restAttempts = 20;

/** Leaves WAL in a moment without readers; stays in WAL where there is none. @throws SqliteError. */
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
