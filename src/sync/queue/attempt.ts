/** One attempt at one mark: its vendor is read, and done with the mark what the retry policy says. */
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import type { Verdict } from '../../store/decide/verdict.ts';
import type { Engine } from '../account/engine.ts';
import { isNews } from '../observe/classify-change.ts';
import type { ObservationOptions } from '../observe/observation.ts';
import type { ReadResult } from '../account/vendor-reader.ts';
import { next, secondLookDelay, type Result } from './retry-policy.ts';
import type { Mark } from '../../store/records/mark-record.ts';
import type { OpenDelivery } from '../../store/records/delivery-record.ts';
import type { ReadingContext, SweepContext } from '../../store/records/reading-record.ts';

export interface AttemptOptions {
  readonly context: ReadingContext;
  readonly signal: AbortSignal;
  readonly priority?: 'patient';
  readonly onRequest?: () => void;
  readonly onVerdict?: (verdict: Verdict) => void;
}

/** How a sweep's run attends to marks and reads by id. */
export interface SweepAttemptOptions extends AttemptOptions {
  readonly context: SweepContext;
  readonly onVerdict: (verdict: Verdict) => void;
}

/** Readings by id of a run leave a part of the rate to prompt ones, and count as the run's. */
export function attemptOptionsOf({ context, counter, signal }: ObservationOptions): SweepAttemptOptions {
  return {
    context,
    signal,
    priority: 'patient',
    onRequest: () => counter.addRequest(),
    onVerdict: (verdict) => counter.addVerdict(verdict),
  };
}

/** Attends to a mark. @throws whatever the signal says when it is aborted, and MirrorError `not_supported`. */
export async function processMark(engine: Engine, mark: Mark, options: AttemptOptions): Promise<void> {
  const openDeliveries = await engine.mirror.queue.openDeliveries(mark);
  const found = await tryRead(engine, mark.vendorid, options);
  if (found.kind === 'record') options.onVerdict?.(found.verdict);
  await finishAttempt(engine, mark, resultOf(engine, found, openDeliveries), openDeliveries);
}

/** Reads a vendor; a failure refuses it. @throws as `attend`. */
export async function tryRead({ reader }: Engine, vendorid: number, options: AttemptOptions): Promise<ReadResult> {
  try {
    return await reader.read(vendorid, options);
  } catch (error) {
    if (options.signal.aborted || (error instanceof MirrorError && error.code === 'not_supported')) throw error;
    return { kind: 'refused', error: asMirrorError(error) };
  }
}

/** Does with a mark what the retry policy says. `told` are the deliveries that had come before the reading. */
export async function finishAttempt(
  { mirror, sync }: Engine,
  mark: Mark,
  result: Result,
  openDeliveries: readonly OpenDelivery[] = [],
): Promise<void> {
  const step = next(mark, result, secondLookDelay(sync));
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
      // The newer mark stands, and what had come before the reading is answered all the same.
      if (!changed && step.outcome === 'applied') await mirror.queue.settleDeliveries(mark, openDeliveries);
    }
  }
}

function resultOf({ random }: Engine, found: ReadResult, openDeliveries: readonly OpenDelivery[]): Result {
  if (found.kind === 'absent') return { kind: 'absent' };
  if (found.kind === 'refused') return { kind: 'refused', error: found.error.message, fraction: random.fraction() };
  if (found.verdict.kind === 'guarded') return { kind: 'guarded' };
  return isNews(found.verdict) ? { kind: 'news', deliveries: openDeliveries.length } : { kind: 'nothing_new' };
}
