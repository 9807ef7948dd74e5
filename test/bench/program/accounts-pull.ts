/** Full pulls of many accounts by one process, some at a time, and the same again. */
import { eachBounded } from '../../../src/domain/concurrency.ts';
import { timed } from '../baselines/bare-mirror.ts';
import { open, type Place } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';

export interface AccountsPullResult {
  /** Milliseconds until all had been pulled. */
  readonly first: number;
  /** Milliseconds until all had been pulled again, without a change. */
  readonly again: number;
  /** Of memory, at the end. */
  readonly megabytes: number;
}

/** Accounts at the same time. */
const together = 4;

export async function job(place: Place): Promise<JobResult> {
  const installation = await open(place);
  const all = async (): Promise<number> => {
    const { ms } = await timed(() =>
      eachBounded(installation.accounts, together, async (account) => {
        const { outcome, error } = await installation.pull(account, {
          kind: 'pull',
          trigger: 'command',
          signal: new AbortController().signal,
        });
        if (outcome !== 'complete') throw error ?? new Error(`The pull of ${account} was not complete.`);
      }),
    );
    return ms;
  };
  const [first, again] = [await all(), await all()];
  await installation.close();
  const result: AccountsPullResult = { first, again, megabytes: process.memoryUsage().rss / 2 ** 20 };
  return { result };
}
