/** What a run does with open marks: it reads their vendors, or, where there are no reads by id, its complete sweep settles them. */
import { sleep } from '../../domain/clock.ts';
import { eachBounded } from '../../domain/async/each-bounded.ts';
import { processMark, finishAttempt, type AttemptOptions } from './attempt.ts';
import type { SyncAccount } from '../account/sync-account.ts';
import type { Observation } from '../observe/observation.ts';
import type { Mark } from '../../store/records/mark-record.ts';

/** Rounds of reading vendors that were guarded; those that still change stay in the queue. */
const rounds = 3;

/** Settles marks that were made before a complete sweep began, by what it showed. */
export async function settleMarks(
  account: SyncAccount,
  marks: readonly Mark[],
  { seen, news }: Pick<Observation, 'seen' | 'news'>,
): Promise<void> {
  for (const mark of marks) {
    if (!seen.has(mark.vendorid)) await finishAttempt(account, mark, { kind: 'absent' });
    else if (!news.has(mark.vendorid)) await finishAttempt(account, mark, { kind: 'nothing_new' });
    else {
      const { length: deliveries } = await account.mirror.queue.openDeliveries(mark);
      await finishAttempt(account, mark, { kind: 'news', deliveries });
    }
  }
}

/**
 * Reads marked vendors that are due now or within `sync.lag`. Later ones are left to the worker or the next run.
 * @returns notes for the run report.
 */
export async function readMarked(account: SyncAccount, options: AttemptOptions): Promise<string[]> {
  const { mirror, accountId, sync, clock } = account;
  for (let round = 0; round < rounds; round++) {
    const wait = await mirror.queue.untilNextMark(accountId);
    if (wait === undefined || wait > sync.lag) return [];
    await sleep(clock, wait, options.signal);
    await eachBounded(await mirror.queue.dueMarks(accountId), account.concurrency, async (mark) =>
      processMark(account, mark, await mirror.queue.openDeliveries(mark), options),
    );
  }
  const left = await mirror.queue.countMarks(accountId);
  if (left === 0) return [];
  return [
    left === 1
      ? 'One vendor is still changing and waits to be read again.'
      : `${left} vendors are still changing and wait to be read again.`,
  ];
}
