/** What goes along with the readings of a run: who caused them, and who accounts for the differences that they meet. */
import type { SweepContext } from '../../store/transactions/apply-reading.ts';
import type { Sweeping } from '../../store/rows/runs.ts';
import type { RunTrigger } from '../../store/tables/mirror-tables.ts';
import type { Engine } from '../account/engine.ts';
import { accountant } from './accountant.ts';

export async function sweepContext(engine: Engine, run: Sweeping): Promise<SweepContext> {
  const { accountId, clock, sync } = engine;
  return {
    accountId,
    source: run.kind,
    run,
    runId: run.id,
    deliveryId: null,
    lag: sync.lag,
    accountant: (await isToldOfChanges(engine, run.trigger)) ? accountant(() => clock.now()) : undefined,
  };
}

/**
 * Whether somebody should have told us: there is a callback, it was not verified just now, and what is held was complete
 * before.
 */
async function isToldOfChanges({ mirror, accountId }: Engine, trigger: RunTrigger): Promise<boolean> {
  if (trigger === 'verification') return false;
  return (await mirror.knownCallbacks(accountId)).length > 0 && (await mirror.lastComplete(accountId)) !== undefined;
}
