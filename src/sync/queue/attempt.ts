/** One attempt at one mark: its vendor is read, and the mark is settled, put off or parked. */
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import type { OpenDelivery } from '../../store/rows/deliveries.ts';
import type { Mark } from '../../store/rows/marks.ts';
import type { ReadingContext } from '../../store/transactions/readings.ts';
import type { Verdict } from '../../store/decide/verdict.ts';
import type { Engine } from '../account/engine.ts';
import { isNews } from '../observe/accountant.ts';
import type { Sighting } from '../account/read-vendor.ts';

export interface Attendance {
  readonly context: ReadingContext;
  readonly signal: AbortSignal;
  readonly priority?: 'patient';
  readonly onRequest?: () => void;
  readonly onVerdict?: (verdict: Verdict) => void;
}

/** A vendor that is not visible yet is asked for again after 3, 9, 27 and 81 s. */
const notYetDelays = [3_000, 9_000, 27_000, 81_000];

/** Failures before a mark waits for the next reconciliation, and the shortest and longest pause between two, in milliseconds. */
const enoughFailures = 12;
const shortestPause = 5_000;
const longestPause = 3_600_000;

/** Attends to a mark. @throws whatever the signal says when it is aborted, and MirrorError `not_supported`. */
export async function attend(engine: Engine, mark: Mark, attendance: Attendance): Promise<void> {
  const told = await engine.mirror.openDeliveries(mark);
  const sighting = await sight(engine, mark.vendorid, attendance);
  if (sighting.kind === 'refused') return tryLater(engine, mark, sighting.error);
  if (sighting.kind === 'absent') return notYet(engine, mark);
  attendance.onVerdict?.(sighting.verdict);
  const { verdict } = sighting;
  return conclude(engine, mark, verdict.kind === 'updated' && !isNews(verdict) ? 'unchanged' : verdict.kind, told);
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

/** Ends a mark whose vendor was read, or puts it off for a second look. `told` are the deliveries that had come before. */
export async function conclude(
  { mirror, sync }: Engine,
  mark: Mark,
  verdict: Verdict['kind'],
  told: readonly OpenDelivery[] = [],
): Promise<void> {
  const news = verdict === 'created' || verdict === 'updated';
  // The guard has marked the vendor anew; that mark stands.
  if (verdict === 'guarded') return;
  // Before the lag is over, an old copy may answer once more.
  const delay = Math.max(sync.secondLook, sync.lag);
  const lookAgain = { delay, reason: 'second_look', attempts: 0, error: null } as const;
  if (news) {
    // Of several changes this may be the first only.
    const several = (await mirror.openDeliveries(mark)).length > 1;
    const ended = await (several ? mirror.defer(mark, lookAgain, 'applied') : mirror.settle(mark, 'applied'));
    if (!ended) await mirror.answer(mark, told);
    return;
  }
  if (mark.reason === 'delivery') await mirror.defer(mark, { ...lookAgain, attempts: mark.attempts + 1 });
  else await mirror.settle(mark, 'unchanged');
}

/** Puts off a mark whose vendor is not visible yet, parks it after some tries, and ends it if a reconciliation knows none either. */
export async function notYet({ mirror }: Engine, mark: Mark): Promise<void> {
  // Given up once, and a reconciliation has not found it either.
  if (mark.reason === 'reconcile') {
    await mirror.settle(mark, 'not_found');
    return;
  }
  const delay = notYetDelays[mark.attempts];
  if (delay === undefined) await mirror.park(mark, 'The service knows no such vendor.');
  else
    await mirror.defer(mark, {
      delay,
      reason: mark.reason,
      attempts: mark.attempts + 1,
      error: 'The service knows no such vendor yet.',
    });
}

async function tryLater({ mirror, random }: Engine, mark: Mark, error: MirrorError): Promise<void> {
  const attempts = mark.attempts + 1;
  if (attempts >= enoughFailures) return mirror.park(mark, error.message);
  const ceiling = Math.min(longestPause, shortestPause * 2 ** attempts);
  const delay = shortestPause + random.fraction() * (ceiling - shortestPause);
  await mirror.defer(mark, { delay, reason: mark.reason, attempts, error: error.message });
}
