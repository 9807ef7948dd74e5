/** What becomes of the vendors that a run's lists did not show, and of what was marked: read by id, or a second sweep must agree. */
import type { ReadStamp } from '../../domain/reading.ts';
import { applyAbsences, goneAmong, missingSince, type ProvenAbsence } from '../absence/absences.ts';
import { readUnseen, type UnseenById } from '../absence/by-id.ts';
import { describeOpen, missedBy, sweepAgain } from '../absence/second-sweep.ts';
import type { Breaker } from '../absence/breaker.ts';
import type { Unseen } from '../absence/unseen.ts';
import type { Engine } from '../account/engine.ts';
import type { ObservationOptions } from '../observe/observation.ts';
import { answerMarks, readMarked } from '../queue/answer-marks.ts';
import { attendanceOf } from '../queue/attempt.ts';
import type { IdSet } from '../sweep/id-set.ts';
import type { WholeObservation } from './whole-sweep.ts';
import type { Mark } from '../../store/records/mark-record.ts';
import type { Run } from '../../store/records/run-record.ts';

/** What the lists of an account showed, and what was known when their sweep began. */
export interface Swept {
  readonly began: ReadStamp;
  /** Marks that were due. */
  readonly marks: readonly Mark[];
  /** The default list, and whom it or another one showed. */
  readonly list: WholeObservation;
  readonly seen: IdSet;
  readonly unseen: Unseen;
  /** Whether the list is believed when it does not show somebody: an empty one needs a person's word. */
  readonly isBelieved: boolean;
}

export interface Resolved {
  /** Suspects that no reading has shown, where absences are not believed. */
  readonly doubted: number;
  /** Hidden vendors that were not read in this run: the highest number of a reading that none of them has passed; undefined for none. */
  readonly unreadSeq: number | undefined;
  /** What a person should know, in sentences. */
  readonly notes: readonly string[];
}

/** Some vendors that lists have just shown, or another reading. */
export function listedOf({ seen, unseen }: Swept): number[] {
  return [...middle(seen), ...unseen.recent];
}

/**
 * Reads by id those whom no list showed, and what is marked. Where a 404 proves nothing, a second complete sweep must agree: an earlier
 * run's, or one more now.
 * @throws MirrorError `breaker_tripped`, and of the service.
 */
export async function resolveById(
  engine: Engine,
  run: Run,
  swept: Swept,
  breaker: Breaker,
  options: ObservationOptions,
): Promise<Resolved> {
  const { unseen, isBelieved } = swept;
  const attendance = attendanceOf(options);
  const read = await readUnseen(engine, run, unseen, listedOf(swept), attendance);
  const { missing, notes } = isBelieved ? await proveMissing(engine, swept, read, options) : nobodyMissing;
  if (isBelieved) {
    const hidden = unseen.hidden.map(({ vendorid }) => vendorid);
    const gone = goneAmong([...unseen.suspects, ...hidden], read);
    await breaker.check(gone.length + missing.length);
    // Those that were absent before count no more: the newer reading says that they still are.
    const still = goneAmong(
      unseen.absent.map(({ vendorid }) => vendorid),
      read,
    );
    await applyAbsences(engine, [...gone, ...still, ...missing], attendance);
  }
  const unproven = describeUnproven(read.unproven.size - missing.length);
  const isUnshown = (id: number): boolean => read.absent.has(id) || read.refused.has(id) || read.unproven.has(id);
  return {
    doubted: isBelieved ? 0 : unseen.suspects.filter(isUnshown).length,
    unreadSeq: read.unreadSeq,
    notes: [...(await readMarked(engine, attendance)), ...unproven, ...notes],
  };
}

interface Missing {
  readonly missing: readonly ProvenAbsence[];
  readonly notes: readonly string[];
}

const nobodyMissing: Missing = { missing: [], notes: [] };

/** Whether sweeps agree about suspects that were answered with a 404 which proves nothing. */
async function proveMissing(
  engine: Engine,
  { list, unseen }: Swept,
  { unproven }: UnseenById,
  options: ObservationOptions,
): Promise<Missing> {
  const suspects = unseen.suspects.filter((vendorid) => unproven.has(vendorid));
  const again = suspects.filter((vendorid) => unseen.again.has(vendorid));
  const open = suspects.filter((vendorid) => !unseen.again.has(vendorid));
  if (open.length > 0) {
    const second = await sweepAgain(engine, list, options);
    const missing = missingSince(second.began, [...again, ...missedBy(second, open)]);
    return { missing, notes: describeOpen(open.length, second) };
  }
  if (again.length === 0) return nobodyMissing;
  return { missing: missingSince(await engine.mirror.takeStamp(), again), notes: [] };
}

/** Where none can be read by id, an earlier complete sweep or one more now must agree, and the sweeps answer what is marked. */
export async function resolveBySweep(engine: Engine, swept: Swept, options: ObservationOptions): Promise<Resolved> {
  const { began, marks, list, seen, unseen, isBelieved } = swept;
  const { mirror, accountId, sync } = engine;
  const unreadSeq = unseen.hidden[0]?.read_seq;
  await answerMarks(engine, marks, { seen, news: list.news });
  if (!isBelieved) return { doubted: unseen.suspects.length, unreadSeq, notes: [] };

  const attendance = attendanceOf(options);
  await applyAbsences(engine, missingSince(began, unseen.again), attendance);
  const open = unseen.suspects.filter((vendorid) => !unseen.again.has(vendorid));
  const untilMark = await mirror.queue.untilNextMark(accountId);
  const isMarkDueSoon = untilMark !== undefined && untilMark <= sync.lag;
  if (open.length === 0 && !isMarkDueSoon) return { doubted: 0, unreadSeq, notes: [] };
  const second = await sweepAgain(engine, list, options);
  if (second.refusal === undefined) await answerMarks(engine, second.marks, second.observation);
  await applyAbsences(engine, missingSince(second.began, missedBy(second, open)), attendance);
  return { doubted: 0, unreadSeq, notes: describeOpen(open.length, second) };
}

function describeUnproven(count: number): string[] {
  if (count === 0) return [];
  const vendors = count === 1 ? 'One vendor was' : `${count} vendors were`;
  return [
    `${vendors} answered with a 404 that is not in the service's error form: it proves nothing, and nothing was concluded from it.`,
  ];
}

/** Some ids from the middle of a list: the ends are where rows come and go. */
function middle(seen: IdSet): number[] {
  const ids = [...seen];
  return [0.5, 0.25, 0.75].map((part) => ids[Math.floor(ids.length * part)]).filter((id) => id !== undefined);
}
