/** How fresh the mirror is after a complete run. */
import type { SyncAccount } from '../account/sync-account.ts';
import type { Run } from '../../store/records/run-record.ts';

/** Moments, Unix ms, up to which the mirror is complete; null where the current clock cannot say. */
export interface Freshness {
  /** `safeAsOf`: for all vendors; `listedAsOf`: for those that lists show. */
  readonly safeAsOf: number | null;
  readonly listedAsOf: number | null;
}

/** Numbers of the oldest readings that the run could not replace; undefined for none. */
export interface FreshnessLimits {
  /** Of vendors that were stored too recently to be contradicted. */
  readonly guardedSeq: number | undefined;
  /** Of hidden vendors that were not read. */
  readonly unreadSeq: number | undefined;
}

export async function freshnessOf(
  { mirror, accountId, sync }: SyncAccount,
  run: Run,
  { guardedSeq, unreadSeq }: FreshnessLimits,
): Promise<Freshness> {
  const began = await mirror.runs.runStart(run);
  if (began === undefined) return { listedAsOf: null, safeAsOf: null };
  const before = async (readSeq: number | undefined): Promise<number | undefined> =>
    readSeq === undefined ? began : await mirror.runs.runStartBefore(accountId, readSeq, began);
  const [listed, unread] = [await before(guardedSeq), await before(unreadSeq)];
  if (listed === undefined) return { listedAsOf: null, safeAsOf: null };
  return {
    listedAsOf: listed - sync.lag,
    safeAsOf: unread === undefined ? null : Math.min(listed, unread) - sync.lag,
  };
}
