/**
 * From unseen to missing or gone. Where the service reads vendors by id, each suspect is asked for; where it does not, a second complete
 * sweep must agree: an earlier run's, or one more now. Nothing is applied beyond what the breaker allows.
 */
import { sleep } from '../../domain/clock.ts';
import type { MirrorError } from '../../domain/errors.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import type { SweepContext } from '../../store/transactions/apply-reading.ts';
import type { Finding } from '../../store/rows/findings.ts';
import type { Absence } from '../../store/decide/verdict.ts';
import type { Run } from '../../store/rows/runs.ts';
import { answerMarks, everyMark } from '../queue/answer-marks.ts';
import type { Attendance } from '../queue/attempt.ts';
import type { Engine } from '../account/engine.ts';
import type { Observation } from '../observe/observation.ts';
import type { IdSet } from '../sweep/id-set.ts';
import type { RunCounter } from '../observe/run-counter.ts';
import { readById } from './by-id.ts';
import type { Unseen } from './unseen.ts';

export interface AbsenceOptions {
  readonly run: Run;
  readonly attendance: Attendance & { readonly context: SweepContext };
  readonly counter: RunCounter;
  readonly unseen: Unseen;
  /** What the proven sweep showed, and the reading that was numbered before it began. */
  readonly observation: Observation;
  /** Some vendors that its lists have just shown, or another reading. */
  readonly listed: readonly number[];
  readonly began: ReadStamp;
  /** Whether the list is believed when it does not show somebody: an empty one needs a person's word. */
  readonly isBelieved: boolean;
  /** Whether so many absences may not be applied; the error to throw then. */
  readonly breaker: (absences: number) => Promise<MirrorError | undefined>;
}

export interface Resolved {
  /** Suspects that no reading has shown, where absences are not believed. */
  readonly doubted: number;
  /** Hidden vendors that were not read in this run: the highest number of a reading that none of them has passed; undefined for none. */
  readonly unreadSeq: number | undefined;
  /** What a person should know, in sentences. */
  readonly notes: readonly string[];
}

/** Vendors that lists hide, and vendors that are absent, are read again a few at a time, so that a change of theirs is found too. */
const hiddenPerRun = 200;
const absentPerRun = 50;

/** Reads each suspect by its id. @throws MirrorError `breaker_tripped`, and of the service. */
export async function resolveById(engine: Engine, options: AbsenceOptions): Promise<Resolved> {
  const { attendance, counter, unseen, listed, isBelieved } = options;
  const { suspects } = unseen;
  const hidden = unseen.hidden.slice(0, hiddenPerRun).map(({ vendorid }) => vendorid);
  const absent = unseen.absent.slice(0, absentPerRun).map(({ vendorid }) => vendorid);
  const read = await readById(engine, [...suspects, ...hidden, ...absent], { attendance, counter, listed });
  await reportRefused(engine, options, read.refused);

  const isAbsent = (vendorid: number): boolean => read.absent.has(vendorid);
  const unreadSeq = unseen.hidden[hiddenPerRun]?.read_seq;
  const notes = describeUnproven(read.unproven.size);
  if (!isBelieved) {
    const isDoubted = (id: number): boolean => isAbsent(id) || read.refused.has(id) || read.unproven.has(id);
    return { doubted: suspects.filter(isDoubted).length, unreadSeq, notes };
  }
  const gone = [...suspects, ...hidden].filter(isAbsent);
  const tripped = await options.breaker(gone.length);
  if (tripped) throw tripped;
  // Those that were absent before count no more: the newer reading says that they still are.
  for (const vendorid of [...gone, ...absent.filter(isAbsent)])
    await applyAbsence(engine, options, vendorid, 'gone', read.absent.get(vendorid));
  // Where a 404 proves nothing, an earlier complete sweep that missed the vendor too decides.
  for (const vendorid of suspects)
    if (read.unproven.has(vendorid) && unseen.again.has(vendorid))
      await applyAbsence(engine, options, vendorid, 'missing', await engine.mirror.takeStamp());
  return { doubted: 0, unreadSeq, notes };
}

/**
 * A second complete sweep must agree: an earlier run's, or one more now, which answers the marks that are due by then. `sweepAgain`
 * is told of which vendors it matters whether there is something new.
 */
export async function resolveBySweep(
  engine: Engine,
  options: AbsenceOptions,
  sweepAgain: (asked: ReadonlySet<number>) => Promise<Observation>,
): Promise<Resolved> {
  const { attendance, unseen, observation, isBelieved } = options;
  const { mirror, accountId, sync, clock } = engine;
  const unreadSeq = unseen.hidden[0]?.read_seq;
  if (!isBelieved) return { doubted: unseen.suspects.length, unreadSeq, notes: [] };
  for (const vendorid of unseen.again) await applyAbsence(engine, options, vendorid, 'missing', options.began);

  const open = unseen.suspects.filter((vendorid) => !unseen.again.has(vendorid));
  const untilMark = await mirror.untilNextMark(accountId);
  const resolved = { doubted: 0, unreadSeq };
  if (open.length === 0 && (untilMark === undefined || untilMark > sync.lag)) return { ...resolved, notes: [] };
  await sleep(clock, sync.lag, attendance.signal);
  const began = await mirror.takeStamp();
  const marks = await mirror.dueMarks(accountId, everyMark);
  const again = await sweepAgain(new Set(marks.map(({ vendorid }) => vendorid)));
  const { conclusion } = again;
  if (!conclusion.complete)
    return {
      ...resolved,
      notes: [`${open.length} suspects stay open: the second sweep could not be proven complete.`],
    };
  // An empty list agrees to nothing, except to an empty one that a person has believed.
  if (conclusion.shown === 0 && observation.seen.size > 0)
    return { ...resolved, notes: [`${open.length} suspects stay open: the second list was empty.`] };
  for (const vendorid of open)
    if (!again.seen.has(vendorid)) await applyAbsence(engine, options, vendorid, 'missing', began);
  await answerMarks(engine, marks, again);
  return { ...resolved, notes: [] };
}

async function applyAbsence(
  { mirror }: Engine,
  { attendance, counter }: AbsenceOptions,
  vendorid: number,
  absence: Absence,
  stamp: ReadStamp | undefined,
): Promise<void> {
  if (stamp) counter.addVerdict(await mirror.applyAbsence(vendorid, absence, stamp, attendance.context));
}

async function reportRefused(
  { mirror }: Engine,
  { run, unseen }: AbsenceOptions,
  refused: ReadonlyMap<number, string>,
): Promise<void> {
  const findings = unseen.suspects.flatMap((vendorid): Finding[] => {
    const code = refused.get(vendorid);
    return code === undefined ? [] : [{ kind: 'unreadable', vendorid, fields: { refused: code } }];
  });
  if (findings.length > 0) await mirror.addFindings(run, findings);
}

function describeUnproven(count: number): string[] {
  if (count === 0) return [];
  const vendors = count === 1 ? 'One vendor was' : `${count} vendors were`;
  return [
    `${vendors} answered with a 404 that is not in the service's error form: it proves nothing, and nothing was concluded from it.`,
  ];
}

/** Some ids that a list has just shown, from its middle: the ends are where rows come and go. */
export function sample(seen: IdSet): number[] {
  const ids = [...seen];
  return [0.5, 0.25, 0.75].map((part) => ids[Math.floor(ids.length * part)]).filter((id) => id !== undefined);
}
