/** The context in which the readings of a sweep are applied. */
import type { RunTrigger } from '../../store/tables/mirror-tables.ts';
import type { SyncAccount } from '../account/sync-account.ts';
import { changeClassifier } from './classify-change.ts';
import type { Sweeping } from '../../store/records/run-record.ts';
import type { SweepContext } from '../../store/records/reading-record.ts';

export async function sweepContext(account: SyncAccount, run: Sweeping): Promise<SweepContext> {
  const { accountId, clock, sync } = account;
  return {
    accountId,
    source: run.kind,
    run,
    runId: run.id,
    deliveryId: null,
    lag: sync.lag,
    changeClassifier: (await expectsDeliveries(account, run.trigger)) ? changeClassifier(() => clock.now()) : undefined,
  };
}

/** Whether deliveries should have announced changes: a callback exists, it was not verified just now, and a complete sweep came before. */
async function expectsDeliveries({ mirror, accountId }: SyncAccount, trigger: RunTrigger): Promise<boolean> {
  if (trigger === 'verification') return false;
  return (
    (await mirror.callbacks.knownCallbacks(accountId)).length > 0 &&
    (await mirror.runs.lastComplete(accountId)) !== undefined
  );
}
