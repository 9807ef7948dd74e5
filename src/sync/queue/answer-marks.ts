/** What a run does about the queue: a complete sweep answers marks where vendors cannot be read by id, and wakes what was parked. */
import { sleep } from '../../domain/clock.ts';
import { eachBounded } from '../../domain/lifecycle.ts';
import type { ParkedDeliveries } from '../../store/rows/deliveries.ts';
import type { Mark } from '../../store/rows/marks.ts';
import type { Verdict } from '../../store/decide/verdict.ts';
import { attend, conclude, notYet, sight, type Attendance } from './attempt.ts';
import type { Engine } from '../account/engine.ts';
import type { Observation } from '../observe/observation.ts';
import type { IdSet } from '../sweep/id-set.ts';

/** However many there are. */
export const everyMark = Number.MAX_SAFE_INTEGER;

/** Rounds of reading again what was too young to be contradicted; what still moves then waits in the queue. */
const rounds = 3;

/** A complete sweep answers the marks that were made before it began. */
export async function answerMarks(
  engine: Engine,
  marks: readonly Mark[],
  { seen, news }: Pick<Observation, 'seen' | 'news'>,
): Promise<void> {
  for (const mark of marks) {
    if (seen.has(mark.vendorid)) await conclude(engine, mark, news.has(mark.vendorid) ? 'updated' : 'unchanged');
    else await notYet(engine, mark);
  }
}

/** Reads again what is marked: now, or as soon as the guard allows. What is due later is the worker's, or the next run's. @returns what a person should know. */
export async function readMarked(
  engine: Engine,
  attendance: Attendance,
  onVerdict: (verdict: Verdict) => void,
): Promise<string[]> {
  const { mirror, accountId, sync, clock } = engine;
  for (let round = 0; round < rounds; round++) {
    const wait = await mirror.untilNextMark(accountId);
    if (wait === undefined || wait > sync.lag) return [];
    await sleep(clock, wait, attendance.signal);
    await eachBounded(await mirror.dueMarks(accountId, everyMark), engine.concurrency, async (mark) => {
      await attend(engine, mark, { ...attendance, onVerdict });
    });
  }
  const left = await mirror.countMarks(accountId);
  return left > 0 ? [`${left} vendors are still changing and wait to be read again.`] : [];
}

/** What was parked is marked again. @returns the deliveries that were given up before now. */
export async function wakeParked({ mirror, accountId }: Engine): Promise<ParkedDeliveries[]> {
  const parked = await mirror.parkedMarks(accountId);
  await mirror.markVendors(
    accountId,
    parked.map(({ vendorid }) => vendorid),
    'reconcile',
    0,
  );
  return mirror.parkedDeliveries(accountId);
}

/**
 * Ends the deliveries that were parked before the sweep began, and whose vendor neither the list nor a reading shows. Marks alone would
 * not end them: each further delivery about the same number puts its mark off.
 */
export async function dismissParked(
  engine: Engine,
  parked: readonly ParkedDeliveries[],
  seen: IdSet,
  readsById: boolean,
  attendance: Attendance & { readonly onVerdict: (verdict: Verdict) => void },
): Promise<void> {
  if (parked.length === 0) return;
  const { mirror, accountId, concurrency } = engine;
  const open = new Set((await mirror.parkedDeliveries(accountId)).map(({ vendorid }) => vendorid));
  const left = parked.filter(({ vendorid }) => open.has(vendorid) && !seen.has(vendorid));
  await eachBounded(left, concurrency, async (deliveries) => {
    if (readsById) {
      const sighting = await sight(engine, deliveries.vendorid, attendance);
      if (sighting.kind === 'record') attendance.onVerdict(sighting.verdict);
      if (sighting.kind !== 'absent') return;
    } else if (seen.size === 0) return;
    await mirror.dismiss(accountId, deliveries);
  });
}
