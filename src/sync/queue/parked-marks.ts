/** Parked marks: a reconciliation retries them, and settles deliveries whose vendor it does not find either. */
import { eachBounded } from '../../domain/async/each-bounded.ts';
import { tryRead, type AttemptOptions } from './attempt.ts';
import type { SyncAccount } from '../account/sync-account.ts';
import type { IdSet } from '../sweep/id-set.ts';
import type { ParkedDeliveries } from '../../store/records/delivery-record.ts';

/** Marks parked vendors again. @returns the deliveries that were parked before. */
export async function markParkedAgain({ mirror, accountId }: SyncAccount): Promise<ParkedDeliveries[]> {
  const parked = await mirror.queue.parkedMarks(accountId);
  await mirror.queue.markVendors(
    accountId,
    parked.map(({ vendorid }) => vendorid),
    'reconcile',
    0,
  );
  return mirror.queue.parkedDeliveries(accountId);
}

/**
 * Settles deliveries that were parked before the sweep began and whose vendor neither the list nor a read shows. The marks alone would not
 * end them, because each further delivery for the same id defers the mark.
 */
export async function settleParked(
  account: SyncAccount,
  parked: readonly ParkedDeliveries[],
  seen: IdSet,
  /** Undefined where there are no reads by id. */
  options: AttemptOptions | undefined,
): Promise<void> {
  if (parked.length === 0) return;
  const { mirror, accountId, concurrency } = account;
  const open = new Set((await mirror.queue.parkedDeliveries(accountId)).map(({ vendorid }) => vendorid));
  const left = parked.filter(({ vendorid }) => open.has(vendorid) && !seen.has(vendorid));
  await eachBounded(left, concurrency, async (deliveries) => {
    if (options) {
      const found = await tryRead(account, deliveries.vendorid, options);
      if (found.kind === 'record') options.onVerdict?.(found.verdict);
      if (found.kind !== 'absent') return;
    } else if (seen.size === 0) return;
    await mirror.queue.settleParkedDeliveries(accountId, deliveries);
  });
}
