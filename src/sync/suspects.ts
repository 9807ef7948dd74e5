/** Asking after the vendors that a complete sweep did not show, and after those that must be read again (rules 4 and 7). */
import { sleep } from '../clock.ts';
import { eachBounded } from '../lifecycle.ts';
import type { ReadStamp } from '../reading.ts';
import type { ParkedDeliveries } from '../store/deliveries.ts';
import type { Mark } from '../store/marks.ts';
import type { SweepContext } from '../store/reading-deeds.ts';
import type { Absence } from '../store/readings.ts';
import type { Run } from '../store/runs.ts';
import { attend, conclude, notYet, sight, type Attendance } from './attend.ts';
import type { Engine } from './engine.ts';
import type { IdSet } from './id-set.ts';
import { sweep, type Sweep } from './sweep.ts';
import type { Tally } from './tally.ts';
import type { Unseen } from './unseen.ts';

export interface Resolution {
  readonly engine: Engine;
  readonly plan: Sweep;
  readonly attendance: Attendance & { readonly context: SweepContext };
  readonly tally: Tally;
  readonly run: Run;
  readonly seen: IdSet;
  readonly unseen: Unseen;
  /** How many vendors the proven list showed. */
  readonly shown: number;
  /** Taken before the sweep began. */
  readonly stamp: ReadStamp;
  /** Marks that were due before the sweep began. */
  readonly marks: readonly Mark[];
  /** Deliveries that were given up before the sweep began. */
  readonly parked: readonly ParkedDeliveries[];
  /** Vendors whose marks the sweep may answer, and those of them of which it has shown something new. */
  readonly marked: Set<number>;
  readonly news: Set<number>;
  readonly notes: string[];
}

/** Deleted vendors that lists hide are read again a few at a time, so that a change of theirs is found too. */
const hiddenPerRun = 200;

/** However many there are. */
export const everyMark = Number.MAX_SAFE_INTEGER;

/** Rounds of reading again what was too young to be contradicted; what still moves then waits in the queue. */
const rounds = 3;

/** Reads each suspect by its number. @returns how many suspects no reading has shown, where absences are not `believed`. */
export async function resolveByNumber(resolution: Resolution, believed: boolean): Promise<number> {
  const { engine, attendance, tally, unseen, run } = resolution;
  let doubted = 0;
  const ask = async (vendorid: number): Promise<void> => {
    const sighting = await engine.reader.read(vendorid, attendance);
    if (sighting.kind === 'record') tally.addVerdict(sighting.verdict);
    else if (sighting.kind === 'refused') {
      await engine.mirror.addFindings(run, [
        { kind: 'unreadable', vendorid, fields: { refused: sighting.error.code } },
      ]);
      if (!believed) doubted += 1;
    } else if (believed) await applyAbsence(resolution, vendorid, 'gone', sighting.stamp);
    else doubted += 1;
  };
  await eachBounded(unseen.suspects, engine.concurrency, ask);
  await eachBounded(unseen.hidden.slice(0, hiddenPerRun), engine.concurrency, ask);
  await readMarked(resolution);
  return doubted;
}

/**
 * Where the service reads no vendor by number, a second complete sweep must agree: an earlier run's, or one more now.
 * @returns how many absences were met and not `believed`.
 */
export async function resolveBySweep(resolution: Resolution, believed: boolean): Promise<number> {
  const { engine, plan, unseen, shown, stamp, notes, marks, marked, seen, news } = resolution;
  const { mirror, accountId, sync, clock } = engine;
  await answerMarks(resolution, marks, seen);
  if (!believed) return unseen.suspects.length;
  for (const vendorid of unseen.again) await applyAbsence(resolution, vendorid, 'missing', stamp);

  const open = unseen.suspects.filter((vendorid) => !unseen.again.has(vendorid));
  const untilMark = await mirror.untilNextMark(accountId);
  if (open.length === 0 && (untilMark === undefined || untilMark > sync.lag)) return 0;
  await sleep(clock, sync.lag, plan.signal);
  const second = await mirror.takeStamp();
  const left = await mirror.dueMarks(accountId, everyMark);
  // What came in between is answered by what comes now.
  news.clear();
  for (const { vendorid } of left) marked.add(vendorid);
  const again = await sweep(plan);
  if (!again.conclusion.complete) {
    notes.push(`${open.length} suspects stay open: the second sweep could not be proven complete.`);
    return 0;
  }
  // An empty list agrees to nothing (rule 9), except to an empty one that a person has believed.
  if (again.conclusion.shown === 0 && shown > 0) {
    notes.push(`${open.length} suspects stay open: the second list was empty.`);
    return 0;
  }
  for (const vendorid of open)
    if (!again.seen.has(vendorid)) await applyAbsence(resolution, vendorid, 'missing', second);
  await answerMarks(resolution, left, again.seen);
  return 0;
}

/** A complete sweep answers the marks that were made before it began. */
async function answerMarks({ engine, news }: Resolution, marks: readonly Mark[], seen: IdSet): Promise<void> {
  for (const mark of marks) {
    if (seen.has(mark.vendorid)) await conclude(engine, mark, news.has(mark.vendorid) ? 'updated' : 'unchanged');
    else await notYet(engine, mark);
  }
}

/**
 * Ends the deliveries that were given up before the sweep began, and whose vendor neither the list nor a reading shows. Marks alone would
 * not end them: each further delivery about the same number puts its mark off.
 */
export async function dismissParked(
  { engine, attendance, tally, seen, shown, parked }: Resolution,
  offered: boolean,
): Promise<void> {
  if (parked.length === 0) return;
  const { mirror, accountId, concurrency } = engine;
  const open = new Set((await mirror.parkedDeliveries(accountId)).map(({ vendorid }) => vendorid));
  const left = parked.filter(({ vendorid }) => open.has(vendorid) && !seen.has(vendorid));
  await eachBounded(left, concurrency, async (deliveries) => {
    if (offered) {
      const sighting = await sight(engine, deliveries.vendorid, attendance);
      if (sighting.kind === 'record') tally.addVerdict(sighting.verdict);
      if (sighting.kind !== 'absent') return;
    } else if (shown === 0) return;
    await mirror.dismiss(accountId, deliveries);
  });
}

async function applyAbsence(
  { engine, attendance, tally }: Resolution,
  vendorid: number,
  absence: Absence,
  stamp: ReadStamp,
): Promise<void> {
  tally.addVerdict(await engine.mirror.applyAbsence(vendorid, absence, stamp, attendance.context));
}

/** Reads again what is marked: now, or as soon as the guard allows. What is due later is the worker's, or the next run's. */
async function readMarked({ engine, attendance, tally, notes }: Resolution): Promise<void> {
  const { mirror, accountId, sync, clock } = engine;
  for (let round = 0; round < rounds; round++) {
    const wait = await mirror.untilNextMark(accountId);
    if (wait === undefined || wait > sync.lag) return;
    await sleep(clock, wait, attendance.signal);
    await eachBounded(await mirror.dueMarks(accountId, everyMark), engine.concurrency, async (mark) => {
      await attend(engine, mark, { ...attendance, onVerdict: (verdict) => tally.addVerdict(verdict) });
    });
  }
  const left = await mirror.countMarks(accountId);
  if (left > 0) notes.push(`${left} vendors are still changing and wait to be read again.`);
}
