/**
 * Decides in a run about unlisted vendors and open marks: by reads by id, or by a second sweep that agrees; and what a sweep must be for
 * that.
 *
 * A 404 without the service's own error form counts only between two successful reads of listed vendors.
 */
import { sleep } from '../domain/clock.ts';
import { MirrorError } from '../domain/errors.ts';
import type { ReadStamp } from '../domain/reading.ts';
import type { Finding } from '../store/findings.ts';
import type { Mark } from '../store/queue.ts';
import type { Run } from '../store/runs.ts';
import {
  alsoUnlisted,
  applyAbsences,
  describeUnresolved,
  goneByReading,
  missingBySweep,
  readUnseen,
  sweepAgain,
  type ProvenAbsence,
  type Unseen,
  type UnseenById,
} from './absences.ts';
import { attemptOptionsOf, readMarked, settleMarks } from './attempt.ts';
import { absenceBound, type Breaker } from './breaker.ts';
import { inFlightTime, observe, type Observation, type ObservationOptions } from './observation.ts';
import type { IdSet } from './sweep/id-set.ts';
import type { Complete } from './sweep/passes.ts';
import type { SyncAccount } from './sync-account.ts';

/** What the sweep of a run showed, and the state when it began. */
export interface SweepOutcome {
  readonly began: ReadStamp;
  /** Marks that were due when the sweep began. */
  readonly marks: readonly Mark[];
  /** The default list, and the vendors that any list showed. */
  readonly list: CompleteObservation;
  readonly seen: IdSet;
  readonly unseen: Unseen;
  /** Whether the list counts as proof of absence: an empty one needs approval. */
  readonly isBelieved: boolean;
}

/** Decides about unlisted vendors and open marks of a run: by reads by id, or by a second sweep that agrees. */
export interface Resolution {
  /** Suspects that no reading showed, where the list does not count as proof. */
  readonly unconfirmed: number;
  /** For hidden vendors that were not read: the lowest `read_seq` among them; undefined where all were read. */
  readonly unreadSeq: number | undefined;
  /** Vendors about which nothing could be decided, and why. */
  readonly undecided: ReadonlyMap<number, MirrorError>;
  /** Notes for the run report, in sentences. */
  readonly notes: readonly string[];
}

/** A sample of vendors that lists or other readings have just shown. */
export function sampleListed({ seen, unseen }: SweepOutcome): number[] {
  return [...sampleMiddle(seen), ...unseen.recent];
}

/**
 * Reads unlisted and marked vendors by id. Where a 404 proves nothing, a second complete sweep must agree: an earlier run's, or one more
 * now.
 * @throws MirrorError `breaker_tripped`, and of the service.
 */
export async function resolveById(
  account: SyncAccount,
  swept: SweepOutcome,
  breaker: Breaker,
  options: ObservationOptions,
): Promise<Resolution> {
  const { unseen, isBelieved } = swept;
  const attemptOptions = attemptOptionsOf(options);
  const read = await readUnseen(account, unseen, sampleListed(swept), attemptOptions);
  const { missing, notes } = isBelieved ? await proveMissing(account, swept, read, options) : noneMissing;
  if (isBelieved) {
    const hidden = unseen.hidden.map(({ vendorid }) => vendorid);
    const gone = goneByReading([...unseen.suspects, ...hidden], read);
    await breaker.check(gone.length + missing.length);
    // Vendors that were absent before are not counted again: the new reading only confirms it.
    const stillGone = goneByReading(
      unseen.absent.map(({ vendorid }) => vendorid),
      read,
    );
    await applyAbsences(account, [...gone, ...stillGone, ...missing], attemptOptions);
  }
  const undecided = undecidedBy(unseen, read, missing);
  const unproven = describeUnproven(read.unproven.size - missing.length);
  const isUnshown = (id: number): boolean => read.absent.has(id) || read.refused.has(id) || read.unproven.has(id);
  return {
    unconfirmed: isBelieved ? 0 : unseen.suspects.filter(isUnshown).length,
    unreadSeq: read.unreadSeq,
    undecided,
    notes: [...(await readMarked(account, attemptOptions)), ...unproven, ...describeRefused(undecided), ...notes],
  };
}

/** Suspects and hidden vendors whose reading says nothing. What was absent before stays so. */
function undecidedBy(
  { suspects, hidden }: Unseen,
  { refused, unproven }: UnseenById,
  missing: readonly ProvenAbsence[],
): Map<number, MirrorError> {
  const decided = new Set(missing.map(({ vendorid }) => vendorid));
  return new Map(
    [...suspects, ...hidden.map(({ vendorid }) => vendorid)].flatMap((vendorid): [number, MirrorError][] => {
      const error = refused.get(vendorid) ?? (unproven.has(vendorid) ? saysNothing : undefined);
      return error && !decided.has(vendorid) ? [[vendorid, error]] : [];
    }),
  );
}

function describeRefused(undecided: ReadonlyMap<number, MirrorError>): string[] {
  const refused = [...undecided].filter(([, error]) => error !== saysNothing);
  const [[vendorid, error] = []] = refused;
  if (!error) return [];
  const which = refused.length === 1 ? `Vendor ${vendorid}` : `Vendor ${vendorid} and ${refused.length - 1} others`;
  return [`${which} could not be read: ${error.message}`];
}

const saysNothing = new MirrorError(
  'not_found',
  "It was answered with a 404 that is not in the service's error form, which proves nothing.",
);

interface Missing {
  readonly missing: readonly ProvenAbsence[];
  readonly notes: readonly string[];
}

const noneMissing: Missing = { missing: [], notes: [] };

/** Absences of suspects whose 404 proves nothing, where two sweeps agree. Each is as old as the later of the two. */
async function proveMissing(
  account: SyncAccount,
  { began, list, unseen }: SweepOutcome,
  { unproven }: UnseenById,
  options: ObservationOptions,
): Promise<Missing> {
  const suspects = unseen.suspects.filter((vendorid) => unproven.has(vendorid));
  const again = suspects.filter((vendorid) => unseen.missedBefore.has(vendorid));
  const open = suspects.filter((vendorid) => !unseen.missedBefore.has(vendorid));
  const missedAgain = missingBySweep(began, again);
  if (open.length === 0 || account.sync.lag > longestPause) return { missing: missedAgain, notes: [] };
  const second = await sweepAgain(account, list, options);
  const missing = [...missedAgain, ...missingBySweep(second.began, alsoUnlisted(second, open))];
  return { missing, notes: describeUnresolved(open.length, second) };
}

/** Without reads by id: an earlier complete sweep, or one more now, must agree, and the sweeps settle the marks. */
export async function resolveBySweep(
  account: SyncAccount,
  swept: SweepOutcome,
  options: ObservationOptions,
): Promise<Resolution> {
  const { began, marks, list, seen, unseen, isBelieved } = swept;
  const { mirror, accountId, sync } = account;
  const unreadSeq = unseen.hidden[0]?.read_seq;
  await settleMarks(account, marks, { seen, news: list.news });
  if (!isBelieved) return { unconfirmed: unseen.suspects.length, unreadSeq, undecided: none, notes: [] };

  const attemptOptions = attemptOptionsOf(options);
  await applyAbsences(account, missingBySweep(began, unseen.missedBefore), attemptOptions);
  const open = unseen.suspects.filter((vendorid) => !unseen.missedBefore.has(vendorid));
  const untilMark = await mirror.queue.untilNextMark(accountId);
  const isMarkDueSoon = untilMark !== undefined && untilMark <= sync.lag;
  if ((open.length === 0 && !isMarkDueSoon) || sync.lag > longestPause)
    return { unconfirmed: 0, unreadSeq, undecided: none, notes: [] };
  const second = await sweepAgain(account, list, options);
  if (second.disagreement === undefined) await settleMarks(account, second.marks, second.observation);
  await applyAbsences(account, missingBySweep(second.began, alsoUnlisted(second, open)), attemptOptions);
  const { disagreement } = second;
  const undecided =
    disagreement === undefined ? none : new Map(open.map((vendorid) => [vendorid, notConfirmed(disagreement)]));
  return { unconfirmed: 0, unreadSeq, undecided, notes: describeUnresolved(open.length, second) };
}

const none: ReadonlyMap<number, MirrorError> = new Map();

function notConfirmed(why: string): MirrorError {
  return new MirrorError('sweep_incomplete', `No list shows it, but ${why}.`);
}

/** A run does not wait for its second sweep longer than this, in milliseconds: the next run is the second sweep. Others wait for their turn. */
const longestPause = 60_000;

function describeUnproven(count: number): string[] {
  if (count === 0) return [];
  const vendors = count === 1 ? 'One vendor was' : `${count} vendors were`;
  return [`${vendors} answered with a 404 that is not in the service's error form, which proves nothing.`];
}

/** A few ids from the middle of a list, because rows come and go at its ends. */
function sampleMiddle(seen: IdSet): number[] {
  const ids = [...seen];
  return [0.5, 0.25, 0.75].map((part) => ids[Math.floor(ids.length * part)]).filter((id) => id !== undefined);
}

/** A sweep that a run may rely on: proven complete, and with only usable records. */
type CompleteObservation = Observation & { readonly conclusion: Complete };

/**
 * Sweeps the default list. The very first list of an account may be empty by a fault: it is swept twice. Vendors that were read by id before
 * need not contradict it, because they may be deleted or archived.
 */
export async function observeList(account: SyncAccount, options: ObservationOptions): Promise<Observation> {
  const { mirror, accountId, clock, sync } = account;
  const observation = await observe(account, options);
  const { conclusion } = observation;
  const isFirst = conclusion.complete && conclusion.shown === 0 && !(await mirror.runs.lastComplete(accountId));
  if (!isFirst) return observation;
  await sleep(clock, sync.lag, options.signal);
  return observe(account, options);
}

/** Checks that a sweep is complete. @throws MirrorError `record_rejected`, after storing findings, and `sweep_incomplete`. */
export async function requireComplete(
  { mirror, accountId }: SyncAccount,
  run: Run,
  observation: Observation,
): Promise<CompleteObservation> {
  const { conclusion } = observation;
  const rejected = [...observation.rejected, ...observation.unusable.values()];
  if (rejected.length > 0) {
    const findings = rejected.map((reason): Finding => ({
      kind: 'record_rejected',
      vendorid: null,
      fields: { reason },
    }));
    await mirror.findings.addFindings(run, findings);
    const records = rejected.length === 1 ? 'One record' : `${rejected.length} records`;
    throw new MirrorError('record_rejected', `${records} of the list cannot be used: ${String(rejected[0])}`);
  }
  if (!conclusion.complete)
    throw new MirrorError('sweep_incomplete', `The sweep could not be proven complete: ${conclusion.why}.`);
  const { miscounted } = await mirror.accountRegister.listCount(accountId);
  const isBeyond = conclusion.unreadable < 0;
  if (conclusion.proof !== 'windows' && isBeyond !== miscounted)
    await mirror.accountRegister.noteMiscounted(accountId, isBeyond);
  return { ...observation, conclusion };
}

/**
 * Stores findings about the list as a whole: its fields, its count, and changes that no delivery announced in time.
 * @returns notes for the run report.
 */
export async function reportList(
  account: SyncAccount,
  run: Run,
  { fields, lagging, conclusion }: CompleteObservation,
): Promise<string[]> {
  const { mirror, accountId, clock } = account;
  await mirror.findings.reportFields(run, fields);
  await mirror.findings.promoteFindings(accountId, clock.now() - inFlightTime);
  await mirror.readings.settleCopies(accountId, [...lagging.keys()]);
  const notes = await reportCopies(account, run, [...lagging.values()]);
  const { unreadable, shown, proof } = conclusion;
  // Between two windows, vendors come and go: a few are no difference.
  if (unreadable === 0 || (proof === 'windows' && unreadable <= absenceBound(shown, account.sync.breaker)))
    return notes;
  const finding: Finding =
    unreadable > 0
      ? { kind: 'unreadable', vendorid: null, fields: { rows: unreadable } }
      : { kind: 'count_mismatch', vendorid: null, fields: { shown, counted: shown + unreadable } };
  await mirror.findings.addFindings(run, [finding]);
  return [
    ...notes,
    unreadable > 0
      ? `The service counts ${unreadable} more vendors than it shows.`
      : `The service shows ${-unreadable} more vendors than it counts.`,
  ];
}

/** @param ages of the copies that showed vendors as they were before, in milliseconds */
async function reportCopies({ mirror }: SyncAccount, run: Run, ages: readonly number[]): Promise<string[]> {
  if (ages.length === 0) return [];
  const seconds = Math.round(Math.max(...ages) / 1_000);
  await mirror.findings.addFindings(run, [
    { kind: 'lagging_copy', vendorid: null, fields: { vendors: ages.length, seconds } },
  ]);
  const vendors = ages.length === 1 ? 'one vendor as it was' : `${ages.length} vendors as they were`;
  return [`The list is behind: it showed ${vendors} before, up to ${seconds} s after they had changed.`];
}

/** @throws MirrorError `sweep_incomplete` where the list is empty but the mirror holds active vendors. */
export async function refuseEmptyList({ mirror, accountId }: SyncAccount, { shown }: Complete): Promise<void> {
  if (shown === 0 && (await mirror.vendors.newestActive(accountId)).length > 0)
    throw new MirrorError(
      'sweep_incomplete',
      'The service returned an empty list, but the mirror holds active vendors.',
    );
}
