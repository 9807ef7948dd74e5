/** One attempt at one mark: reads its vendor, and does with the mark what the retry policy says. */
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import type { Verdict } from '../../store/decide/verdict.ts';
import type { SyncAccount } from '../account/sync-account.ts';
import { isNews } from '../observe/classify-change.ts';
import type { ObservationOptions } from '../observe/observation.ts';
import type { ReadResult } from '../account/vendor-reader.ts';
import { nextStep, secondLookDelay, type Result } from '../../domain/retry/mark-policy.ts';
import type { Mark } from '../../store/records/mark-record.ts';
import type { OpenDelivery } from '../../store/records/delivery-record.ts';
import type { ReadingContext, SweepContext } from '../../store/records/reading-record.ts';

export interface AttemptOptions {
  readonly context: ReadingContext;
  readonly signal: AbortSignal;
  readonly priority?: 'background';
  readonly onRequest?: () => void;
  readonly onVerdict?: (verdict: Verdict) => void;
}

/** Options of attempts within a run that sweeps. */
export interface SweepAttemptOptions extends AttemptOptions {
  readonly context: SweepContext;
  readonly onVerdict: (verdict: Verdict) => void;
}

/** The options for reads by id within a run: in the background, and counted for the run. */
export function attemptOptionsOf({ context, counter, signal }: ObservationOptions): SweepAttemptOptions {
  return {
    context,
    signal,
    priority: 'background',
    onRequest: () => counter.addRequest(),
    onVerdict: (verdict) => counter.addVerdict(verdict),
  };
}

/**
 * Reads the vendor of a mark, and settles, defers or parks the mark.
 * @param openDeliveries the vendor's, just now
 * @throws the signal's reason when it is aborted, and MirrorError `not_supported`.
 */
export async function processMark(
  account: SyncAccount,
  mark: Mark,
  openDeliveries: readonly OpenDelivery[],
  options: AttemptOptions,
): Promise<void> {
  const found = await tryRead(account, mark.vendorid, options);
  if (found.kind === 'record') options.onVerdict?.(found.verdict);
  await finishAttempt(account, mark, resultOf(account, found, openDeliveries), openDeliveries);
}

/** Reads a vendor; an error becomes a `refused` result. @throws as `processMark`. */
export async function tryRead({ reader }: SyncAccount, vendorid: number, options: AttemptOptions): Promise<ReadResult> {
  try {
    return await reader.read(vendorid, options);
  } catch (error) {
    if (options.signal.aborted || (error instanceof MirrorError && error.code === 'not_supported')) throw error;
    return { kind: 'refused', error: asMirrorError(error) };
  }
}

/** Settles, defers or parks a mark by the retry policy. @param openDeliveries deliveries that had come before the reading */
export async function finishAttempt(
  { mirror, sync }: SyncAccount,
  mark: Mark,
  result: Result,
  openDeliveries: readonly OpenDelivery[] = [],
): Promise<void> {
  const step = nextStep(mark, result, secondLookDelay(sync));
  switch (step.kind) {
    case 'keep':
      return;
    case 'park':
      return mirror.queue.park(mark, step.error);
    case 'settle':
    case 'defer': {
      const changed = await (step.kind === 'settle'
        ? mirror.queue.settle(mark, step.outcome)
        : mirror.queue.defer(mark, step.deferral, step.outcome));
      // The vendor was marked again: the new mark stays, but the deliveries before the reading are settled.
      if (!changed && step.outcome === 'applied') await mirror.queue.settleDeliveries(mark, openDeliveries);
    }
  }
}

function resultOf({ random }: SyncAccount, found: ReadResult, openDeliveries: readonly OpenDelivery[]): Result {
  if (found.kind === 'absent') return { kind: 'absent' };
  if (found.kind === 'refused') return { kind: 'refused', error: found.error.message, fraction: random.fraction() };
  if (found.verdict.kind === 'guarded') return { kind: 'guarded' };
  return isNews(found.verdict) ? { kind: 'news', deliveries: openDeliveries.length } : { kind: 'nothing_new' };
}
