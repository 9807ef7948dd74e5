/** One attempt at one mark: its vendor is read, and done with the mark what the retry policy says. */
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import type { Verdict } from '../../store/decide/verdict.ts';
import type { Engine } from '../account/engine.ts';
import { isNews } from '../observe/classify-change.ts';
import type { ObservationOptions } from '../observe/observation.ts';
import type { Sighting } from '../account/read-vendor.ts';
import { next, secondLookDelay, type Result } from './retry-policy.ts';
import type { Mark } from '../../store/records/mark-record.ts';
import type { OpenDelivery } from '../../store/records/delivery-record.ts';
import type { ReadingContext, SweepContext } from '../../store/records/reading-record.ts';

export interface Attendance {
  readonly context: ReadingContext;
  readonly signal: AbortSignal;
  readonly priority?: 'patient';
  readonly onRequest?: () => void;
  readonly onVerdict?: (verdict: Verdict) => void;
}

/** How a sweep's run attends to marks and reads by id. */
export interface SweepAttendance extends Attendance {
  readonly context: SweepContext;
  readonly onVerdict: (verdict: Verdict) => void;
}

/** Readings by id of a run leave a part of the rate to prompt ones, and count as the run's. */
export function attendanceOf({ context, counter, signal }: ObservationOptions): SweepAttendance {
  return {
    context,
    signal,
    priority: 'patient',
    onRequest: () => counter.addRequest(),
    onVerdict: (verdict) => counter.addVerdict(verdict),
  };
}

/** Attends to a mark. @throws whatever the signal says when it is aborted, and MirrorError `not_supported`. */
export async function attend(engine: Engine, mark: Mark, attendance: Attendance): Promise<void> {
  const told = await engine.mirror.queue.openDeliveries(mark);
  const sighting = await sight(engine, mark.vendorid, attendance);
  if (sighting.kind === 'record') attendance.onVerdict?.(sighting.verdict);
  await conclude(engine, mark, resultOf(engine, sighting, told), told);
}

/** Reads a vendor; a failure refuses it. @throws as `attend`. */
export async function sight({ reader }: Engine, vendorid: number, attendance: Attendance): Promise<Sighting> {
  try {
    return await reader.read(vendorid, attendance);
  } catch (error) {
    if (attendance.signal.aborted || (error instanceof MirrorError && error.code === 'not_supported')) throw error;
    return { kind: 'refused', error: asMirrorError(error) };
  }
}

/** Does with a mark what the retry policy says. `told` are the deliveries that had come before the reading. */
export async function conclude(
  { mirror, sync }: Engine,
  mark: Mark,
  result: Result,
  told: readonly OpenDelivery[] = [],
): Promise<void> {
  const step = next(mark, result, secondLookDelay(sync));
  switch (step.kind) {
    case 'keep':
      return;
    case 'park':
      return mirror.queue.park(mark, step.error);
    case 'settle':
    case 'defer': {
      const ended = await (step.kind === 'settle'
        ? mirror.queue.settle(mark, step.outcome)
        : mirror.queue.defer(mark, step.deferral, step.outcome));
      // The newer mark stands, and what had come before the reading is answered all the same.
      if (!ended && step.outcome === 'applied') await mirror.queue.answer(mark, told);
    }
  }
}

function resultOf({ random }: Engine, sighting: Sighting, told: readonly OpenDelivery[]): Result {
  if (sighting.kind === 'absent') return { kind: 'absent' };
  if (sighting.kind === 'refused')
    return { kind: 'refused', error: sighting.error.message, fraction: random.fraction() };
  if (sighting.verdict.kind === 'guarded') return { kind: 'guarded' };
  return isNews(sighting.verdict) ? { kind: 'news', deliveries: told.length } : { kind: 'nothing_new' };
}
