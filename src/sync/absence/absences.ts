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
import type { Mark } from '../../store/rows/marks.ts';
import type { Run } from '../../store/rows/runs.ts';
import { answerMarks } from '../queue/answer-marks.ts';
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

/** Sweeps once more, from a moment after the call; it is told of which vendors it matters whether there is something new. */
type SweepAgain = (asked: ReadonlySet<number>) => Promise<Observation>;

/**
 * Reads each suspect by its id. Where a 404 proves nothing, a second complete sweep must agree: an earlier run's, or one more now.
 * @throws MirrorError `breaker_tripped`, and of the service.
 */
export async function resolveById(engine: Engine, options: AbsenceOptions, sweepAgain: SweepAgain): Promise<Resolved> {
  const { attendance, counter, unseen, listed, isBelieved } = options;
  const { suspects } = unseen;
  const hidden = unseen.hidden.slice(0, hiddenPerRun).map(({ vendorid }) => vendorid);
  const absent = unseen.absent.slice(0, absentPerRun).map(({ vendorid }) => vendorid);
  const read = await readById(engine, [...suspects, ...hidden, ...absent], { attendance, counter, listed });
  await reportRefused(engine, options, read.refused);

  const isAbsent = (vendorid: number): boolean => read.absent.has(vendorid);
  const unreadSeq = unseen.hidden[hiddenPerRun]?.read_seq;
  if (!isBelieved) {
    const isDoubted = (id: number): boolean => isAbsent(id) || read.refused.has(id) || read.unproven.has(id);
    const doubted = suspects.filter(isDoubted).length;
    return { doubted, unreadSeq, notes: describeUnproven(read.unproven.size) };
  }
  const unproven = suspects.filter((vendorid) => read.unproven.has(vendorid));
  const isOpen = unproven.some((vendorid) => !unseen.again.has(vendorid));
  const second = isOpen ? await sweepOnceMore(engine, options, sweepAgain) : undefined;
  const missing = unproven.filter((vendorid) => unseen.again.has(vendorid) || second?.misses(vendorid) === true);
  const gone = [...suspects, ...hidden].filter(isAbsent);
  const tripped = await options.breaker(gone.length + missing.length);
  if (tripped) throw tripped;
  // Those that were absent before count no more: the newer reading says that they still are.
  for (const vendorid of [...gone, ...absent.filter(isAbsent)])
    await applyAbsence(engine, options, vendorid, 'gone', read.absent.get(vendorid));
  for (const vendorid of missing)
    await applyAbsence(engine, options, vendorid, 'missing', second?.began ?? (await engine.mirror.takeStamp()));
  const notes = [...describeUnproven(read.unproven.size - missing.length), ...describeOpen(unproven, missing, second)];
  return { doubted: 0, unreadSeq, notes };
}

/** Without reads by id, a second complete sweep must agree: an earlier run's, or one more now, which answers the marks that are due by then. */
export async function resolveBySweep(
  engine: Engine,
  options: AbsenceOptions,
  sweepAgain: SweepAgain,
): Promise<Resolved> {
  const { unseen, isBelieved } = options;
  const { mirror, accountId, sync } = engine;
  const unreadSeq = unseen.hidden[0]?.read_seq;
  if (!isBelieved) return { doubted: unseen.suspects.length, unreadSeq, notes: [] };
  for (const vendorid of unseen.again) await applyAbsence(engine, options, vendorid, 'missing', options.began);

  const open = unseen.suspects.filter((vendorid) => !unseen.again.has(vendorid));
  const untilMark = await mirror.untilNextMark(accountId);
  if (open.length === 0 && (untilMark === undefined || untilMark > sync.lag))
    return { doubted: 0, unreadSeq, notes: [] };
  const second = await sweepOnceMore(engine, options, sweepAgain, () => mirror.dueMarks(accountId));
  const missing = open.filter((vendorid) => second.misses(vendorid));
  for (const vendorid of missing) await applyAbsence(engine, options, vendorid, 'missing', second.began);
  return { doubted: 0, unreadSeq, notes: describeOpen(open, missing, second) };
}

interface SecondSweep {
  /** Numbered before it began. */
  readonly began: ReadStamp;
  /** Whether it agrees that the vendor is not listed. */
  misses(vendorid: number): boolean;
  /** Why it agrees to nothing. */
  readonly refusal: string | undefined;
}

/** Sweeps once more, as late as an old copy of the list may be, and answers the marks that `dueMarks` finds then. */
async function sweepOnceMore(
  engine: Engine,
  { attendance, observation }: AbsenceOptions,
  sweepAgain: SweepAgain,
  dueMarks: () => Promise<readonly Mark[]> = () => Promise.resolve([]),
): Promise<SecondSweep> {
  const { mirror, sync, clock } = engine;
  await sleep(clock, sync.lag, attendance.signal);
  const began = await mirror.takeStamp();
  const marks = await dueMarks();
  const again = await sweepAgain(new Set(marks.map(({ vendorid }) => vendorid)));
  const refusal = refusalOf(again, observation);
  if (refusal === undefined) await answerMarks(engine, marks, again);
  return { began, misses: (vendorid) => refusal === undefined && !again.seen.has(vendorid), refusal };
}

function refusalOf({ conclusion }: Observation, first: Observation): string | undefined {
  if (!conclusion.complete) return 'the second sweep could not be proven complete';
  // An empty list agrees to nothing, except to an empty one that a person has believed.
  return conclusion.shown === 0 && first.seen.size > 0 ? 'the second list was empty' : undefined;
}

function describeOpen(open: readonly number[], missing: readonly number[], second: SecondSweep | undefined): string[] {
  if (second?.refusal === undefined) return [];
  return [`${open.length - missing.length} suspects stay open: ${second.refusal}.`];
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
