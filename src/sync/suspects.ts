/** Asking after the vendors that a complete sweep did not show, and after those that must be read again (rules 4 and 7). */
import { sleep } from '../clock.ts';
import { eachBounded } from '../lifecycle.ts';
import type { ReadStamp } from '../reading.ts';
import type { Absence } from '../store/readings.ts';
import type { Run } from '../store/runs.ts';
import type { Engine } from './engine.ts';
import type { IdSet } from './id-set.ts';
import { sweep, type Sweep } from './sweep.ts';
import type { Unseen } from './unseen.ts';

export interface Resolution {
  readonly engine: Engine;
  readonly plan: Sweep;
  readonly run: Run;
  readonly seen: IdSet;
  readonly unseen: Unseen;
  /** Taken before the sweep began. */
  readonly stamp: ReadStamp;
  readonly notes: string[];
}

/** Deleted vendors that lists hide are read again a few at a time, so that a change of theirs is found too. */
const hiddenPerRun = 200;

/** Rounds of reading again what was too young to be contradicted; what still moves then waits in the queue. */
const rounds = 3;

/** Reads each suspect by its number. @returns how many absences were met and not `believed`. */
export async function resolveByNumber(resolution: Resolution, believed: boolean): Promise<number> {
  const { engine, plan, unseen, run } = resolution;
  let doubted = 0;
  const ask = async (vendorid: number): Promise<void> => {
    const sighting = await engine.reader.read(vendorid, {
      context: plan.context,
      signal: plan.signal,
      onRequest: () => plan.tally.addRequest(),
    });
    if (sighting.kind === 'record') plan.tally.addVerdict(sighting.verdict);
    else if (sighting.kind === 'refused')
      await engine.mirror.addFindings(run, [
        { kind: 'unreadable', vendorid, fields: { refused: sighting.error.code } },
      ]);
    else if (believed) await applyAbsence(resolution, vendorid, 'gone', sighting.stamp);
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
  const { engine, plan, unseen, stamp, notes } = resolution;
  const { mirror, accountId, sync, clock } = engine;
  if (!believed) return unseen.suspects.length;
  for (const vendorid of unseen.again) await applyAbsence(resolution, vendorid, 'missing', stamp);

  const open = unseen.suspects.filter((vendorid) => !unseen.again.has(vendorid));
  if (open.length === 0 && (await mirror.countMarks(accountId)) === 0) return 0;
  await sleep(clock, sync.lag, plan.signal);
  const second = await mirror.takeStamp();
  const marks = await mirror.dueMarks(accountId, Number.MAX_SAFE_INTEGER);
  const { conclusion, seen } = await sweep(plan);
  if (!conclusion.complete) {
    notes.push(`${open.length} suspects stay open: the second sweep could not be proven complete.`);
    return 0;
  }
  for (const vendorid of open) if (!seen.has(vendorid)) await applyAbsence(resolution, vendorid, 'missing', second);
  for (const mark of marks) await mirror.settle(mark);
  return 0;
}

async function applyAbsence(
  { engine, plan }: Resolution,
  vendorid: number,
  absence: Absence,
  stamp: ReadStamp,
): Promise<void> {
  plan.tally.addVerdict(await engine.mirror.applyAbsence(vendorid, absence, stamp, plan.context));
}

/** Reads again what is marked: now, or as soon as the guard allows. */
async function readMarked({ engine, plan, notes }: Resolution): Promise<void> {
  const { mirror, accountId, sync, clock, reader } = engine;
  const { context, signal, tally } = plan;
  for (let round = 0; round < rounds && (await mirror.countMarks(accountId)) > 0; round++) {
    if (round > 0 || (await mirror.dueMarks(accountId, 1)).length === 0) await sleep(clock, sync.lag, signal);
    const marks = await mirror.dueMarks(accountId, Number.MAX_SAFE_INTEGER);
    await eachBounded(marks, engine.concurrency, async (mark) => {
      const sighting = await reader.read(mark.vendorid, { context, signal, onRequest: () => tally.addRequest() });
      if (sighting.kind === 'record') tally.addVerdict(sighting.verdict);
      if (sighting.kind !== 'refused') await mirror.settle(mark);
    });
  }
  const left = await mirror.countMarks(accountId);
  if (left > 0) notes.push(`${left} vendors are still changing and wait to be read again.`);
}
