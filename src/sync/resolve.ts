/**
 * Decides in a run about unlisted vendors and open marks: by reads by id, or by a second sweep that agrees; and what a sweep must be for
 * that. What proves an absence is told in `domain/presence.ts`.
 *
 * A list that leaves out a vendor which reads by id show is refuted, if the vendor stood still while the list was walked: whatever else it did
 * not show may be there, too. Which vendors stood still is known from their readings: the mirror held the vendor before, for longer than a copy
 * of the list may be old; a read by id found it not edited; and so did one more, begun `sync.lag` after the walk ended, which no copy from before
 * answered. A vendor that was created, restored or edited meanwhile differs from what was held, or was not held long enough. Nothing is
 * concluded from a refuted list. It is walked again; if the next walk leaves out no others than walks before, that is how this list is:
 * it counts, and the vendors are findings, which the mirror knows by their own readings. So a list that leaves the same ones out for ever costs
 * no more walks. More of them than may be absent without a person's word need that word.
 *
 * No absence is concluded while the service counts more vendors than it shows, and more than before: the token may see less than it did.
 * That is told, and waits for a person, as the breaker does.
 */
import { sleep } from '../domain/clock.ts';
import { MirrorError, withFullStop } from '../domain/errors.ts';
import type { ReadStamp } from '../domain/reading.ts';
import type { Finding } from '../store/findings.ts';
import type { Mark } from '../store/queue.ts';
import type { ProvenAbsence } from '../store/readings.ts';
import type { Run } from '../store/runs.ts';
import {
  absencesByReading,
  absencesBySweep,
  applyAbsences,
  confirmAbsences,
  describeUnresolved,
  isSecondProof,
  notFoundBy,
  readById,
  readUnseen,
  sweepAgain,
  unlearnShown,
  unlistedIn,
  untilLater,
  whyUndecided,
  type FirstSweep,
  type Unseen,
  type UnseenById,
} from './absences.ts';
import { attemptOptionsOf, readMarked, settleMarks, type SweepAttemptOptions } from './attempt.ts';
import { absenceBound, type Breaker, type BreakerSettings } from './breaker.ts';
import { inFlightTime, observe, type Observation, type ObservationOptions } from './observation.ts';
import type { IdSet } from './sweep/id-set.ts';
import { lastingRemedy, type Complete } from './sweep/passes.ts';
import type { SyncAccount } from './sync-account.ts';

/** What the sweep of a run showed, and the state when it began. */
export interface SweepOutcome extends FirstSweep {
  readonly began: ReadStamp;
  /** Marks that were due when the sweep began. */
  readonly marks: readonly Mark[];
  /** The default list, and the vendors that any list showed. */
  readonly list: CompleteObservation;
  readonly seen: IdSet;
  /** Vendors that any list showed with other values, which were not accepted. */
  readonly guarded: ReadonlySet<number>;
  /** Whether the list of a state was not read that may show vendors which are not known (`mayLackVendors`). */
  readonly lacksHidden: boolean;
  /** Whether the list counts as proof of absence: an empty one needs approval. */
  readonly isBelieved: boolean;
  /** Vendors that lists before left out, though reads by id show them. */
  readonly leftOut: ReadonlySet<number>;
}

export interface Resolution {
  /** Suspects that no reading showed, where the list does not count as proof. */
  readonly unconfirmed: number;
  /** Those of them that were not read by id; and suspects that reads by id found, as they were. */
  readonly unread: number;
  readonly found: number;
  /** Vendors that are no longer shown, but of which nothing is concluded because the token may see less than before. */
  readonly withheld: number;
  /** For hidden vendors that were not read: the lowest `read_seq` among them; undefined where all were read. */
  readonly unreadSeq: number | undefined;
  /** Vendors about which nothing could be decided, and why. */
  readonly undecided: ReadonlyMap<number, MirrorError>;
  /** Vendors that reads by id show and the list leaves out for ever, each with the moment of its reading, in mirror time. */
  readonly unlisted: ReadonlyMap<number, number>;
  /** Vendors that refute the list, where it is to be walked again; then nothing is concluded. */
  readonly refutedBy: readonly number[];
  /** Notes for the run report, in sentences. */
  readonly notes: readonly string[];
}

export const nothingResolved: Resolution = {
  unconfirmed: 0,
  unread: 0,
  found: 0,
  withheld: 0,
  unreadSeq: undefined,
  undecided: new Map(),
  unlisted: new Map(),
  refutedBy: [],
  notes: [],
};

/**
 * A sample of vendors that lists or other readings have just shown, and that a read by id should find: active ones first, because lists may
 * show deleted vendors that no read by id finds.
 */
export async function sampleListed(
  { mirror, accountId }: SyncAccount,
  { seen, unseen }: Pick<SweepOutcome, 'seen' | 'unseen'>,
): Promise<number[]> {
  const active = (await mirror.vendors.newestActive(accountId)).filter((vendorid) => seen.has(vendorid));
  return [...new Set([...active, ...sampleMiddle(seen), ...unseen.recent])];
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
  const limits = { listed: await sampleListed(account, swept), enough: (await breaker.room()) + 1 };
  const read = await readUnseen(account, unseen, limits, attemptOptions);
  const isUnshown = (id: number): boolean => isUnread(read, id) || read.refused.has(id);
  const forgotten = isBelieved ? await unlearnShown(account, unseen, read.unchanged, swept.leftOut) : new Set<never>();
  const unlisted = isBelieved
    ? await leftOutBy(account, swept, { read, forgotten }, attemptOptions)
    : nothingResolved.unlisted;
  const refutedBy = [...unlisted.keys()].filter((id) => !swept.leftOut.has(id));
  if (refutedBy.length > 0) return { ...nothingResolved, refutedBy, notes: [describeRefuted(refutedBy)] };
  const concluded = isBelieved
    ? await conclude(account, swept, { read, forgotten }, breaker, options)
    : nothingConcluded;
  const undecided = undecidedBy(unseen, read, concluded);
  return {
    ...nothingResolved,
    unconfirmed: isBelieved ? 0 : unseen.suspects.filter(isUnshown).length,
    unread: isBelieved ? 0 : read.unread.size,
    found: unseen.suspects.filter((id) => read.unchanged.has(id)).length,
    withheld: concluded.withheld,
    unreadSeq: read.unreadSeq,
    undecided,
    unlisted,
    notes: [
      ...(await readMarked(account, attemptOptions)),
      ...describeUnproven(read.unproven.size - concluded.missing.size),
      ...describeRefused(undecided),
      ...concluded.notes,
    ],
  };
}

/** What reads by id showed, and the states that lists turned out not to show. */
interface ReadSuspects {
  readonly read: UnseenById;
  readonly forgotten: ReadonlySet<number | null>;
}

/**
 * Vendors that stood still while the list was walked, in a state that it shows, and that it left out; each with the moment at which the
 * last read of it began. Those that refuted a list before are read once.
 */
async function leftOutBy(
  account: SyncAccount,
  { unseen: { suspects, stateOf }, ended, leftOut, seen, unseen }: SweepOutcome,
  { read, forgotten }: ReadSuspects,
  options: SweepAttemptOptions,
): Promise<ReadonlyMap<number, number>> {
  const { mirror, sync } = account;
  const found = suspects.filter((id) => read.unchanged.has(id) && !forgotten.has(stateOf.get(id) ?? null));
  const [before, fresh] = [found.filter((id) => leftOut.has(id)), found.filter((id) => !leftOut.has(id))];
  const unlisted = new Map(before.map((id): [number, number] => [id, ended]));
  // Where copies are so old, the next run looks.
  if (fresh.length === 0 || sync.lag > longestPause) return unlisted;
  await untilLater(account, ended, options.signal);
  const moment = await mirror.moment();
  const listed = await sampleListed(account, { seen, unseen });
  const again = await readById(account, fresh, { listed, enough: Infinity }, options);
  for (const id of fresh) if (again.unchanged.has(id)) unlisted.set(id, moment);
  return unlisted;
}

function describeRefuted([vendorid, ...others]: readonly number[]): string {
  const which =
    others.length === 0 ? `vendor ${String(vendorid)}` : `vendor ${String(vendorid)} and ${others.length} others`;
  return `The list left out ${which}, though reads by id show them: it was walked again.`;
}

/**
 * Vendors that lists leave out for ever may be as many as may be absent without a person's word; with it, as many as were accepted more.
 * @throws MirrorError `list_refuted`.
 */
export function refuseUnlisted(
  unlisted: number,
  { shown, accepted }: { readonly shown: number; readonly accepted: number },
  settings: BreakerSettings,
): void {
  if (unlisted > accepted + absenceBound(shown, settings)) throw listRefuted(unlisted);
}

/** The error of a run whose list left out so many vendors that reads by id show. */
export function listRefuted(unlisted: number): MirrorError {
  const which = unlisted === 1 ? 'One vendor that reads by id show' : `${unlisted} vendors that reads by id show`;
  return new MirrorError('list_refuted', `${which} did not stand in the list, so others may be missing too.`);
}

/** Whether no read found the vendor, and none was refused. */
function isUnread({ notFound, unproven, unread }: UnseenById, vendorid: number): boolean {
  return notFound.has(vendorid) || unproven.has(vendorid) || unread.has(vendorid);
}

interface Concluded {
  readonly withheld: number;
  /** Vendors that are missing although their 404 proves nothing. */
  readonly missing: ReadonlySet<number>;
  /** Vendors of which nothing is known after all, and why. */
  readonly open: ReadonlyMap<number, MirrorError>;
  readonly notes: readonly string[];
}

const nothingConcluded: Concluded = { withheld: 0, missing: new Set(), open: new Map(), notes: [] };

/** Suspects and hidden vendors whose reading says nothing, and those that are withheld. What was absent before stays so. */
function undecidedBy(
  { suspects, hidden }: Unseen,
  { refused, unproven }: UnseenById,
  { missing, open }: Concluded,
): Map<number, MirrorError> {
  return new Map(
    [...suspects, ...hidden.map(({ vendorid }) => vendorid)].flatMap((vendorid): [number, MirrorError][] => {
      const error = refused.get(vendorid) ?? open.get(vendorid) ?? (unproven.has(vendorid) ? saysNothing : undefined);
      return error && !missing.has(vendorid) ? [[vendorid, error]] : [];
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

/** Concludes absences from a sweep and from reads by id: marks suspects, and looks at them again. */
async function conclude(
  account: SyncAccount,
  swept: SweepOutcome,
  { read, forgotten }: ReadSuspects,
  breaker: Breaker,
  options: ObservationOptions,
): Promise<Concluded> {
  const { unseen } = swept;
  const { doubted, stateOf } = unseen;
  const { mirror, accountId, sync } = account;
  const attemptOptions = attemptOptionsOf(options);
  const isForgotten = (id: number): boolean => forgotten.has(stateOf.get(id) ?? null);
  const suspects = unseen.suspects.filter((id) => !isForgotten(id));
  const others = [...unseen.suspects.filter(isForgotten), ...unseen.hidden.map(({ vendorid }) => vendorid)];
  const unlisted = suspects.filter((id) => isUnread(read, id));
  const hidden = others.filter((id) => read.notFound.has(id));
  const absent = unlisted.length + hidden.length;

  const refused = suspects.filter((id) => read.refused.has(id));
  const withheld = await withheldOf(account, swept, { absent: unlisted, refused });
  const isWithheld = withheld > 0 && !breaker.isApproved(absent);
  if (!isWithheld) await breaker.check(absent - read.unread.size, read.unread.size);

  await markUnlisted(account, swept, [...unlisted, ...refused]);
  for (const vendorid of hidden) {
    const found = read.notFound.get(vendorid);
    const since = isForgotten(vendorid) ? undefined : doubted.get(vendorid);
    if (!found || since !== undefined) continue;
    const proof = { evidence: notFoundBy(found), readSeq: found.stamp.readSeq, lag: sync.lag };
    await mirror.vendors.markSuspects(accountId, [vendorid], proof);
  }
  if (isWithheld) {
    const open = new Map([...unlisted, ...hidden].map((vendorid) => [vendorid, mayBeUnseen]));
    return { ...nothingConcluded, withheld, open, notes: [describeWithheld(withheld)] };
  }

  const sinceOf = (id: number): number | undefined => (isForgotten(id) ? undefined : doubted.get(id));
  const notFound = absencesByReading([...unlisted, ...hidden], read.notFound);
  const proven = notFound.filter(({ vendorid, evidence }) => isSecondProof(sinceOf(vendorid), evidence, sync.lag));
  const early = notFound.filter((absence) => !proven.includes(absence)).map(({ vendorid }) => vendorid);
  const later = await lookAgain(account, swept, early, attemptOptions);
  const { missing, notes } = await proveMissing(
    account,
    swept,
    unlisted.filter((id) => read.unproven.has(id)),
    options,
  );
  await applyAbsences(account, [...proven, ...later.absences, ...missing], breaker, attemptOptions);
  // Vendors that were absent before are not counted again: the new reading only confirms it.
  const before = unseen.absent.map(({ vendorid }) => vendorid);
  await confirmAbsences(account, absencesByReading(before, read.notFound), attemptOptions);
  return { withheld: 0, missing: new Set(missing.map(({ vendorid }) => vendorid)), open: later.open, notes };
}

/** Marks vendors that the sweep could have listed and did not; those that an earlier one missed are marked already. */
async function markUnlisted(
  { mirror, accountId, sync }: SyncAccount,
  swept: SweepOutcome,
  vendorids: readonly number[],
): Promise<void> {
  const fresh = vendorids.filter((vendorid) => !swept.unseen.doubted.has(vendorid));
  if (fresh.length === 0) return;
  const proof = { evidence: unlistedIn(swept), readSeq: swept.began.readSeq, lag: sync.lag };
  await mirror.vendors.markSuspects(accountId, fresh, proof);
}

/** Reads vendors once more that were not found, when no copy of the service is as old as what was read then. */
async function lookAgain(
  account: SyncAccount,
  swept: SweepOutcome,
  vendorids: readonly number[],
  options: SweepAttemptOptions,
): Promise<{ absences: readonly ProvenAbsence[]; open: ReadonlyMap<number, MirrorError> }> {
  // Where copies are so old, the next run looks.
  if (vendorids.length === 0 || account.sync.lag > longestPause) return { absences: [], open: new Map() };
  await untilLater(account, await account.mirror.moment(), options.signal);
  const listed = await sampleListed(account, swept);
  const read = await readById(account, vendorids, { listed, enough: Infinity }, options);
  const open = new Map([...read.unproven].map((vendorid) => [vendorid, saysNothing]));
  return { absences: absencesByReading(vendorids, read.notFound), open: new Map([...open, ...read.refused]) };
}

/**
 * How many vendors the token may no longer see: those that are not shown any more, while the service counts more than it shows, and more
 * than when no vendor was in doubt. Vendors whose reads it refuses explain as many.
 */
async function withheldOf(
  { mirror, accountId }: SyncAccount,
  { list, unseen }: SweepOutcome,
  { absent, refused }: { readonly absent: readonly number[]; readonly refused: readonly number[] },
): Promise<number> {
  if (absent.length === 0) return 0;
  const { shortfall } = await mirror.listings.memory(accountId);
  if (shortfall === null) return 0;
  const explained = refused.filter((id) => !unseen.doubted.has(id)).length;
  return shortfallOf(list) - shortfall > explained ? absent.length : 0;
}

/** How many more vendors the service counts than it shows. */
function shortfallOf({ conclusion }: CompleteObservation): number {
  return Math.max(0, conclusion.unreadable);
}

const mayBeUnseen = new MirrorError(
  'access_denied',
  'The service counts more vendors than it shows: the token may see less than before.',
);

function describeWithheld(withheld: number): string {
  const vendors = withheld === 1 ? 'One vendor' : `${withheld} vendors`;
  return `${vendors} can no longer be read, and the service counts more than it shows: the token may see less than before, so nothing is concluded.`;
}

/**
 * Remembers how many vendors the service counts and does not show. While absences are withheld, what it was before them counts; and while
 * the list moves, so that its count may be of another moment than its rows, the least that was seen.
 */
export async function rememberShortfall(
  { mirror, accountId }: SyncAccount,
  { list }: SweepOutcome,
  withheld: number,
): Promise<void> {
  const { shortfall: before } = await mirror.listings.memory(accountId);
  const now = shortfallOf(list);
  const isSettled = withheld === 0 && list.conclusion.proof !== 'windows';
  const shortfall = isSettled || before === null ? now : Math.min(before, now);
  await mirror.listings.remember(accountId, { shortfall, withheld });
}

/** Absences of suspects whose 404 proves nothing, where two sweeps agree. Each is as old as the later of the two. */
async function proveMissing(
  account: SyncAccount,
  swept: SweepOutcome,
  suspects: readonly number[],
  options: ObservationOptions,
): Promise<{ readonly missing: readonly ProvenAbsence[]; readonly notes: readonly string[] }> {
  const { again, open } = byEarlierSweep(account, swept, suspects);
  if (open.length === 0 || account.sync.lag > longestPause) return { missing: again, notes: [] };
  const second = await sweepAgain(account, swept, open, options);
  return {
    missing: [...again, ...absencesBySweep(second.unlisted, second)],
    notes: describeUnresolved(second),
  };
}

/** Which suspects this sweep is the second one to miss. */
function byEarlierSweep(
  { sync }: SyncAccount,
  swept: SweepOutcome,
  suspects: readonly number[],
): { readonly again: readonly ProvenAbsence[]; readonly open: readonly number[] } {
  const { doubted } = swept.unseen;
  const isAgain = (id: number): boolean => isSecondProof(doubted.get(id), unlistedIn(swept), sync.lag);
  return {
    again: absencesBySweep(suspects.filter(isAgain), swept),
    open: suspects.filter((id) => !isAgain(id)),
  };
}

/**
 * Without reads by id: an earlier complete sweep, or one more now, must agree, and the sweeps settle the marks.
 * @throws MirrorError `breaker_tripped`, and of the service.
 */
export async function resolveBySweep(
  account: SyncAccount,
  swept: SweepOutcome,
  breaker: Breaker,
  options: ObservationOptions,
): Promise<Resolution> {
  const { marks, list, seen, unseen, isBelieved } = swept;
  const { suspects } = unseen;
  const { mirror, accountId, sync } = account;
  const unreadSeq = unseen.hidden[0]?.read_seq;
  const nothing: Resolution = { ...nothingResolved, unreadSeq };
  await settleMarks(account, marks, { seen, news: list.news });
  if (!isBelieved) return { ...nothing, unconfirmed: suspects.length, unread: suspects.length };

  const withheld = await withheldOf(account, swept, { absent: suspects, refused: [] });
  if (withheld > 0 && !breaker.isApproved(suspects.length)) {
    await markUnlisted(account, swept, suspects);
    const undecided = new Map(suspects.map((vendorid) => [vendorid, mayBeUnseen]));
    return { ...nothing, withheld, undecided, notes: [describeWithheld(withheld)] };
  }
  await breaker.check(suspects.length);
  await markUnlisted(account, swept, suspects);
  const attemptOptions = attemptOptionsOf(options);
  const absent = unseen.absent.map(({ vendorid }) => vendorid);
  await confirmAbsences(account, absencesBySweep(absent, swept), attemptOptions);
  const { again, open } = byEarlierSweep(account, swept, suspects);
  const untilMark = await mirror.queue.untilNextMark(accountId);
  const isMarkDueSoon = untilMark !== undefined && untilMark <= sync.lag;
  if ((open.length === 0 && !isMarkDueSoon) || sync.lag > longestPause) {
    await applyAbsences(account, again, breaker, attemptOptions);
    return nothing;
  }
  const second = await sweepAgain(account, swept, open, options);
  if (second.disagreement === undefined) await settleMarks(account, second.marks, second.observation);
  await applyAbsences(account, [...again, ...absencesBySweep(second.unlisted, second)], breaker, attemptOptions);
  const undecided = new Map(second.undecided.map((vendorid) => [vendorid, notConfirmed(whyUndecided(second))]));
  return { ...nothing, undecided, notes: describeUnresolved(second) };
}

function notConfirmed(why: string): MirrorError {
  return new MirrorError('sweep_incomplete', withFullStop(`No list shows it, but ${why}`));
}

/** A run does not wait for its second sweep longer than this, in milliseconds: the next run is the second sweep. Others wait for their turn. */
const longestPause = 60_000;

function describeUnproven(count: number): string[] {
  if (count === 0) return [];
  const vendors = count === 1 ? 'One vendor was' : `${count} vendors were`;
  return [`${vendors} answered with a 404 that is not in the service's error form, which proves nothing.`];
}

/** A few ids from the middle of a list, because rows come and go at its ends. */
export function sampleMiddle(vendorids: Iterable<number>): number[] {
  const ids = [...vendorids];
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

/** @param rejected why each record cannot be used */
export function recordsRejected(rejected: readonly string[]): MirrorError {
  const records = rejected.length === 1 ? 'One record' : `${rejected.length} records`;
  return new MirrorError('record_rejected', `${records} of the list cannot be used: ${String(rejected[0])}`);
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
    throw recordsRejected(rejected);
  }
  if (!conclusion.complete)
    throw new MirrorError(
      'sweep_incomplete',
      withFullStop(`The sweep could not be proven complete: ${conclusion.why}`),
      { remedy: conclusion.isLasting ? lastingRemedy : undefined },
    );
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
  { fields, lagging, seen, conclusion }: CompleteObservation,
): Promise<string[]> {
  const { mirror, accountId, clock } = account;
  await mirror.findings.reportFields(run, fields);
  await mirror.findings.promoteFindings(accountId, clock.now() - inFlightTime);
  await mirror.readings.settleCopies(accountId, [...lagging.keys()]);
  const notes = await reportCopies(account, run, [...lagging.values()], seen.size);
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

/**
 * @param ages of the copies that showed vendors as they were before, in milliseconds
 * @param seen how many vendors the list showed
 */
async function reportCopies(
  { mirror }: SyncAccount,
  run: Run,
  ages: readonly number[],
  seen: number,
): Promise<string[]> {
  if (ages.length === 0) return [];
  const seconds = Math.round(Math.max(...ages) / 1_000);
  await mirror.findings.addFindings(run, [
    { kind: 'lagging_copy', vendorid: null, fields: { vendors: ages.length, seconds } },
  ]);
  const vendors = ages.length === 1 ? 'one vendor as it was' : `${ages.length} vendors as they were`;
  const showed = `showed ${vendors} before, up to ${seconds} s after they had changed`;
  // Hardly ever do most vendors change within the age of a copy.
  return ages.length > 1 && 2 * ages.length > seen
    ? [
        `The list ${showed}: it is behind, or gives \`updated_at\` otherwise than reads by id do, as in another time zone.`,
      ]
    : [`The list is behind: it ${showed}.`];
}

/** @throws MirrorError `sweep_incomplete` where the list is empty but the mirror holds active vendors. */
export async function refuseEmptyList(
  { mirror, accountId }: SyncAccount,
  { shown }: Complete,
  found: number,
): Promise<void> {
  if (shown === 0 && (await mirror.vendors.newestActive(accountId)).length > 0)
    throw new MirrorError(
      'sweep_incomplete',
      `The service returned an empty list, but ${found === 0 ? 'the mirror holds active vendors' : 'reads by id show active vendors'}.`,
    );
}
