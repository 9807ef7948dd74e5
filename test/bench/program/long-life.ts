/** A mirror that is reconciled every hour for as long as asked, on a clock that is set forward between. */
import { systemClock } from '../../../src/domain/clock.ts';
import { account, open, type Place } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';

export interface LongLifeQuestion {
  /** So many more reconciliations; then what is too old is removed. */
  readonly hours: number;
}

const hour = 3_600_000;
const keptDeliveries = 90 * 24 * hour;

/** `hours` is how long the mirror will have lived when all is done, which is now. */
export async function job({ hours, ...place }: Place & { readonly hours: number }): Promise<JobResult> {
  let ahead = -hours * hour;
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  const installation = await open(place, clock);
  return {
    result: undefined,
    async answer(question: LongLifeQuestion) {
      for (let done = 0; done < question.hours; done += 1) {
        const { signal } = new AbortController();
        const summary = await installation.pull(account, { kind: 'reconcile', trigger: 'schedule', signal });
        if (summary.outcome !== 'complete') throw summary.error ?? new Error('A reconciliation was not complete.');
        ahead += hour;
      }
      const limits = { deliveriesSince: clock.now() - keptDeliveries, versionsSince: undefined };
      let removed = 0;
      for await (const some of installation.mirror.prune(limits)) removed += some;
      return { removed };
    },
    stop: () => installation.close(),
  };
}
