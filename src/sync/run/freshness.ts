/** What a complete run may claim. */
import type { Engine } from '../account/engine.ts';
import type { Run } from '../../store/records/run-record.ts';

/** What is known to be in the mirror after a complete run, as moments: Unix ms; null where the clock of today tells none. */
export interface Freshness {
  /** Everything that had happened by then, and everything of what lists show. */
  readonly safeAsOf: number | null;
  readonly listedAsOf: number | null;
}

/** Readings that the run has not passed, by their numbers; undefined for none. */
export interface FreshnessLimits {
  /** Of vendors that were too young to be contradicted. */
  readonly guardedSeq: number | undefined;
  /** Of vendors that lists hide and nobody read. */
  readonly unreadSeq: number | undefined;
}

export async function freshnessOf(
  { mirror, accountId, sync }: Engine,
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
