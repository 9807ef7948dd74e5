/**
 * From unseen to gone: vendors that a complete sweep did not show are read by id, or missed by a second sweep, and only then marked. What
 * proves what is told in `domain/presence.ts`.
 *
 * An absence is ordered like a reading: it takes a number, and the guard of `sync.lag` applies to it. Absent vendors are read again, fifty a
 * run, longest unread first. Vendors in a state that lists hide are no suspects: up to two hundred a run are read by id, longest unread
 * first, so that their changes are found too. The second look at a vendor begins `sync.lag` after the first proof ended, in the same run.
 */
import { sleep } from '../domain/clock.ts';
import { eachBounded } from '../domain/concurrency.ts';
import { MirrorError } from '../domain/errors.ts';
import {
  isAbsent,
  isStateShown,
  meaningOfUnlisted,
  nextPresence,
  type AbsenceEvidence,
  type StateListing,
} from '../domain/presence.ts';
import type { ReadStamp } from '../domain/reading.ts';
import { isNews, type Verdict } from '../store/acceptance.ts';
import type { ShownBy } from '../store/listings.ts';
import type { Mark } from '../store/queue.ts';
import type { ProvenAbsence } from '../store/readings.ts';
import type { ScannedVendor } from '../store/vendors.ts';
import type { AttemptOptions, SweepAttemptOptions } from './attempt.ts';
import type { Breaker } from './breaker.ts';
import {
  observe,
  observeHidden,
  type HiddenObservation,
  type Observation,
  type ObservationOptions,
} from './observation.ts';
import type { IdSet } from './sweep/id-set.ts';
import type { SyncAccount } from './sync-account.ts';

/** A `vis_state`; null for vendors without one. */
type State = number | null;

/** The states whose vendors the lists of one sweep show. */
export class ShownStates {
  readonly #learned: ReadonlyMap<State, ShownBy>;
  readonly #walked: ReadonlySet<number>;
  readonly #lacksLists: boolean;

  /**
   * @param learned what is known of the account's lists
   * @param walked states whose own list this sweep walked completely
   * @param lacksLists whether it lacks lists of single states that show what the default list does not: a vendor of any state may be there
   */
  constructor(learned: ReadonlyMap<State, ShownBy>, walked: ReadonlySet<number> = new Set(), lacksLists = false) {
    this.#learned = learned;
    this.#walked = walked;
    this.#lacksLists = lacksLists;
  }

  has(state: State): boolean {
    if (this.#lacksLists) return false;
    const by = state === 0 ? 'list' : this.#learned.get(state);
    return by === 'list' || (by === 'filter' && state !== null && this.#walked.has(state));
  }
}

/**
 * Whether a sweep lacks lists that alone may show some vendors. Where none ever showed any, it is enough that the service declined them more
 * than once.
 */
export function lacksLists(filtersShow: boolean, hidden: Pick<HiddenObservation, 'lacks'> | undefined): boolean {
  if (!hidden || hidden.lacks === 'again' || hidden.lacks === 'settled') return filtersShow;
  return hidden.lacks !== 'nothing';
}

/**
 * Whether vendors may be in such lists that nobody knows of. An absence needs two proofs, mostly a read by id among them; this claim has no other,
 * so the service must have declined the lists for long.
 */
export function mayLackVendors(filtersShow: boolean, hidden: Pick<HiddenObservation, 'lacks'> | undefined): boolean {
  return hidden?.lacks === 'again' || lacksLists(filtersShow, hidden);
}

/** The evidence of a sweep that could have shown a vendor and did not. */
export function unlistedIn({ began, ended }: { readonly began: ReadStamp; readonly ended: number }): AbsenceEvidence {
  return { kind: 'unlisted', begun: began.begun, ended };
}

/** The same for a read by id. */
export function notFoundBy({ stamp, ended }: NotFound): AbsenceEvidence {
  return { kind: 'not_found', begun: stamp.begun, ended };
}

/** Whether this evidence is the second proof of the absence of a vendor whose first proof ended at `since`. */
export function isSecondProof(since: number | undefined, evidence: AbsenceEvidence, lag: number): boolean {
  return since !== undefined && isAbsent(nextPresence({ presence: 'suspect', since }, evidence, lag).presence);
}

/** Stores the proven absences. @throws MirrorError `breaker_tripped` where another process stored too many meanwhile. */
export async function applyAbsences(
  { mirror }: SyncAccount,
  absences: readonly ProvenAbsence[],
  breaker: Breaker,
  { context, onVerdict }: SweepAttemptOptions,
): Promise<void> {
  if (absences.length === 0) return;
  const verdicts = await mirror.readings.applyAbsences(absences, await breaker.allowance(), context);
  if (!verdicts) throw await breaker.trip(absences.length);
  for (const verdict of verdicts) onVerdict(verdict);
}

/** Records that absent vendors were not found again. A vendor that came back meanwhile stays. */
export async function confirmAbsences(
  { mirror }: SyncAccount,
  absences: readonly ProvenAbsence[],
  { context, onVerdict }: SweepAttemptOptions,
): Promise<void> {
  if (absences.length === 0) return;
  // They are counted already, or were approved.
  const verdicts = await mirror.readings.applyAbsences(absences, { bound: Infinity, since: 0, approved: 0 }, context);
  for (const verdict of verdicts ?? []) onVerdict(verdict);
}

/** Absences of those vendors that were not found, each with its reading. */
export function absencesByReading(
  vendorids: readonly number[],
  notFound: ReadonlyMap<number, NotFound>,
): ProvenAbsence[] {
  return vendorids.flatMap((vendorid) => {
    const found = notFound.get(vendorid);
    return found ? { vendorid, evidence: notFoundBy(found), stamp: found.stamp } : [];
  });
}

/** Absences of vendors that a sweep did not list. */
export function absencesBySweep(
  vendorids: readonly number[],
  sweep: { readonly began: ReadStamp; readonly ended: number },
): ProvenAbsence[] {
  return vendorids.map((vendorid) => ({ vendorid, evidence: unlistedIn(sweep), stamp: sweep.began }));
}

export interface Unseen {
  /** Vendors that should have been listed and were not. */
  readonly suspects: number[];
  /** The states of suspects and hidden vendors. */
  readonly stateOf: ReadonlyMap<number, State>;
  /** Suspects of an earlier sweep, with the moment at which their first proof ended. */
  readonly doubted: ReadonlyMap<number, number>;
  /** Vendors whose state lists hide; the one not read for longest first. */
  readonly hidden: readonly UnlistedVendor[];
  /** Missing and gone vendors, in the same order. They are read again, so that a wrong absence is corrected. */
  readonly absent: readonly UnlistedVendor[];
  /** A few unlisted vendors that another reading showed moments ago: a read by id should find them. */
  readonly recent: readonly number[];
  /** Number of vendors that were present; and of those that were when the last 24 hours began. */
  readonly present: number;
  readonly base: number;
  /** What the default list, and all lists together, showed of the vendors of each state besides 0. */
  readonly listings: ReadonlyMap<State, Readonly<Record<ShownBy, StateListing>>>;
  /**
   * The lowest `read_seq` of vendors that are too recently stored for the sweep to contradict; undefined for none. Their reading may have
   * begun long ago, because answers take time and mirror time stands still while the machine is off, so the run's freshness is limited by
   * it.
   */
  readonly guardedSeq: number | undefined;
}

export type UnlistedVendor = Pick<ScannedVendor, 'vendorid' | 'read_seq'>;

export interface SeenBySweep {
  readonly seen: IdSet;
  /** Vendors that the sweep saw with other values, which were not accepted. */
  readonly guarded: ReadonlySet<number>;
  /** Those of `seen` that the default list showed. */
  readonly listed: IdSet;
  /** States whose vendors the lists of this sweep show. */
  readonly shows: Pick<ShownStates, 'has'>;
  /** A vendor that was first seen later did not exist when the day of the breaker began. */
  readonly dayBegan: string;
  /** Vendors that became absent after this moment of mirror time were present before. */
  readonly since: number;
  /** Taken before the sweep began: a vendor with a higher number was read since. */
  readonly began: ReadStamp;
  /** How long the service may answer from an old copy, in milliseconds. */
  readonly lag: number;
}

const mostRecent = 3;

/**
 * The result of `sortUnseen` for a sweep that showed all stored vendors, unchanged.
 * @param states how many vendors of each the default list showed; empty where that need not be known
 */
export function allSeen(present: number, states: ReadonlyMap<State, number> = new Map()): Unseen {
  const none = { suspects: [], stateOf: new Map(), doubted: new Map(), hidden: [], absent: [], recent: [] };
  const listings = [...states]
    .filter(([state]) => state !== 0)
    .map(
      ([state, shown]) =>
        [state, { list: { ...unknownListing, shown }, filter: { ...unknownListing, shown } }] as const,
    );
  return { ...none, present, base: present, listings: new Map(listings), guardedSeq: undefined };
}

/** Sorts the stored vendors that a sweep did not show. @param scannedVendors the stored vendors of the account, in chunks */
export async function sortUnseen(
  scannedVendors: AsyncIterable<readonly ScannedVendor[]>,
  { seen, listed, guarded, shows, dayBegan, since, began, lag }: SeenBySweep,
): Promise<Unseen> {
  const suspects: number[] = [];
  const stateOf = new Map<number, State>();
  const doubted = new Map<number, number>();
  const hidden: UnlistedVendor[] = [];
  const absent: UnlistedVendor[] = [];
  const recent: number[] = [];
  const listings = new Map<State, Record<ShownBy, { shown: number; leftOut: number; found: number }>>();
  let present = 0;
  let base = 0;
  let guardedSeq: number | undefined;
  for await (const chunk of scannedVendors) {
    for (const vendor of chunk) {
      const { vendorid, vis_state, presence, presence_ms, read_seq, held_since_ms, first_seen_at } = vendor;
      const isSeen = seen.has(vendorid);
      const tooYoung = began.begun - held_since_ms < lag;
      const isPresent = !isAbsent(presence);
      const isOld = first_seen_at <= dayBegan;
      if (isOld && (isPresent || (presence_ms ?? 0) > since)) base += 1;
      if (isPresent) {
        present += 1;
        const isKnown = isSeen && !guarded.has(vendorid);
        if (tooYoung && !isKnown) guardedSeq = Math.min(read_seq, guardedSeq ?? Infinity);
        if (vis_state !== 0 && !guarded.has(vendorid)) {
          const of = listings.get(vis_state) ?? { list: { ...unknownListing }, filter: { ...unknownListing } };
          listings.set(vis_state, of);
          of.list[listed.has(vendorid) ? 'shown' : 'leftOut'] += 1;
          of.filter[isSeen ? 'shown' : 'leftOut'] += 1;
        }
      }
      if (isSeen) continue;
      const isRecent = tooYoung || read_seq > began.readSeq;
      const meaning = meaningOfUnlisted({ presence, isRecent, isShown: shows.has(vis_state) });
      // Those that are so by less than is required now are read first.
      if (meaning === 'absent')
        absent.push({ vendorid, read_seq: presence_ms === null && vis_state !== 0 ? -1 : read_seq });
      else if (meaning === 'recent') {
        if (recent.length < mostRecent) recent.push(vendorid);
      } else {
        stateOf.set(vendorid, vis_state);
        if (presence === 'suspect' && presence_ms !== null) doubted.set(vendorid, presence_ms);
        if (meaning === 'hidden') hidden.push({ vendorid, read_seq });
        else suspects.push(vendorid);
      }
    }
  }
  return {
    ...{ suspects, stateOf, doubted, recent, present, base, listings, guardedSeq },
    hidden: hidden.sort(byReading),
    absent: absent.sort(byReading),
  };
}

const unknownListing: StateListing = { shown: 0, leftOut: 0, found: 0 };

function byReading(a: UnlistedVendor, b: UnlistedVendor): number {
  return a.read_seq - b.read_seq;
}

/** A read by id that did not find its vendor, and when it ended. */
export interface NotFound {
  readonly stamp: ReadStamp;
  /** Mirror time. */
  readonly ended: number;
}

/** The results of reading unlisted vendors by id. */
export interface UnseenById {
  /** Vendors that were not found, each with the reading that says so. */
  readonly notFound: ReadonlyMap<number, NotFound>;
  /** Vendors whose 404 says nothing. */
  readonly unproven: ReadonlySet<number>;
  /** Vendors whose read was refused, or answered for them alone with what cannot be used. */
  readonly refused: ReadonlyMap<number, MirrorError>;
  /** Vendors that are as they are stored, but for balances and fields that no list shows. */
  readonly unchanged: ReadonlySet<number>;
  /** Suspects that were not read, because too many before them were not found. */
  readonly unread: ReadonlySet<number>;
  /** For hidden vendors that were not read: the lowest `read_seq` among them; undefined where all were read. */
  readonly unreadSeq: number | undefined;
}

/** How many of the vendors that were just read are tried again to confirm an unproven 404. */
const mostKnown = 3;

/** Hidden and absent vendors are read again in portions, so that their changes are found too. */
const hiddenPerRun = 200;
const absentPerRun = 50;

/**
 * Reads all suspects, and some hidden and absent vendors. Those about which nothing could be decided before are read after all others, each time
 * in another order, so that all get their turn.
 * @param listed vendors that the list has just shown
 * @param enough as many that are not found are more than may be called absent: no further ones are read
 * @throws MirrorError of the service, where it answers for no vendor.
 */
export async function readUnseen(
  account: SyncAccount,
  { suspects, hidden, absent }: Unseen,
  { listed, enough }: { readonly listed: readonly number[]; readonly enough: number },
  options: AttemptOptions,
): Promise<UnseenById> {
  const { mirror, accountId, random } = account;
  const undecided = await mirror.undecided.vendorids(accountId);
  const isNew = (vendorid: number): boolean => !undecided.has(vendorid);
  const newHidden = hidden.filter(({ vendorid }) => isNew(vendorid));
  const others = [...newHidden.slice(0, hiddenPerRun), ...absent.slice(0, absentPerRun)];
  const again = [...suspects, ...hidden.map(({ vendorid }) => vendorid)].filter((vendorid) => !isNew(vendorid));
  const middle = Math.floor(random.fraction() * again.length);
  const vendorids = [...others.map(({ vendorid }) => vendorid), ...again.slice(middle), ...again.slice(0, middle)];
  const read = await readById(account, suspects.filter(isNew), { listed, enough }, options);
  const rest = await readById(account, vendorids, { listed, enough: Infinity }, options);
  return {
    notFound: new Map([...read.notFound, ...rest.notFound]),
    unproven: new Set([...read.unproven, ...rest.unproven]),
    refused: new Map([...read.refused, ...rest.refused]),
    unchanged: new Set([...read.unchanged, ...rest.unchanged]),
    unread: read.unread,
    unreadSeq: newHidden[hiddenPerRun]?.read_seq,
  };
}

/** When so many vendors could not be read, the others wait for the next run: each may take as long as a request may. */
const mostRefused = 100;
const notTried = new MirrorError('service_unavailable', `It was not read, because ${mostRefused} others could not be.`);

/**
 * Reads the vendors, applies the answers and collects those that are not found. A 404 that is not in the service's own error form may come
 * from a proxy: it counts when it was met twice, the second time between two successful reads of vendors that the list has just shown or
 * that were just read.
 */
export async function readById(
  account: SyncAccount,
  vendorids: Iterable<number>,
  { listed, enough }: { readonly listed: readonly number[]; readonly enough: number },
  options: AttemptOptions,
): Promise<Omit<UnseenById, 'unreadSeq'>> {
  const notFound = new Map<number, NotFound>();
  const refused = new Map<number, MirrorError>();
  const unchanged = new Set<number>();
  const unread = new Set<number>();
  const answered: number[] = [];
  let unproven = new Map<number, NotFound>();

  const read = async (vendorid: number): Promise<void> => {
    if (refused.size >= mostRefused) {
      refused.set(vendorid, notTried);
      return;
    }
    if (notFound.size + unproven.size >= enough) {
      unread.add(vendorid);
      return;
    }
    const found = await account.reader.read(vendorid, options);
    if (found.kind === 'record') {
      options.onVerdict?.(found.verdict);
      answered.push(vendorid);
      if (isSame(found.verdict)) unchanged.add(vendorid);
    } else if (found.kind === 'refused') {
      // Where the service does not answer for others either, it is down. A denial says itself that it is not.
      const isDenied = found.error.code === 'access_denied';
      if (!isDenied && listed.length + answered.length > 0 && !(await answersKnown())) throw found.error;
      refused.set(vendorid, found.error);
    } else
      (found.isProven ? notFound : unproven).set(vendorid, {
        stamp: found.stamp,
        ended: await account.mirror.moment(),
      });
  };
  const answersKnown = async (): Promise<boolean> => {
    for (const vendorid of [...listed, ...answered.slice(0, mostKnown)])
      if ((await account.reader.read(vendorid, options)).kind === 'record') return true;
    return false;
  };

  await eachBounded(vendorids, account.concurrency, read);
  if (unproven.size > 0 && (await answersKnown())) {
    const secondRound = [...unproven.keys()];
    unproven = new Map();
    await eachBounded(secondRound, account.concurrency, read);
    if (await answersKnown()) {
      for (const [vendorid, found] of unproven) notFound.set(vendorid, found);
      unproven = new Map();
    }
  }
  return { notFound, unproven: new Set(unproven.keys()), refused, unchanged, unread };
}

/** Whether a vendor was not edited since it was stored: a balance moves, and a field that no list shows is filled in, without an edit. */
function isSame(verdict: Verdict): boolean {
  if (verdict.kind !== 'updated') return verdict.kind === 'unchanged';
  return !isNews(verdict) && verdict.before.vis_state === verdict.after.vis_state;
}

/** A second sweep within a run: it confirms that vendors are not listed, or says why it confirms nothing. */
export interface SecondSweep {
  /** Taken before the sweep began, and mirror time when it ended. */
  readonly began: ReadStamp;
  readonly ended: number;
  /** Marks that were due then; a confirming sweep settles them. */
  readonly marks: readonly Mark[];
  readonly observation: Observation;
  /** Of `vendorids`: those that it could have shown and did not; and those that it did not show, but perhaps could not. */
  readonly unlisted: readonly number[];
  readonly undecided: readonly number[];
  /** Why it confirms nothing; undefined where it does. */
  readonly disagreement: string | undefined;
}

/**
 * Sweeps again after `sync.lag`, when no copy of the list can be as old as the first sweep: the default list, and those of single states, as
 * the first one did.
 */
export async function sweepAgain(
  account: SyncAccount,
  { list, ended: since, unseen, learned, filtersShow }: FirstSweep,
  vendorids: readonly number[],
  options: ObservationOptions,
): Promise<SecondSweep> {
  const { mirror, accountId } = account;
  await untilLater(account, since, options.signal);
  const began = await mirror.takeStamp();
  const marks = await mirror.queue.dueMarks(accountId);
  // Whether vendors can be read by id may have been found out since the first sweep began.
  const context = { ...options.context, readsById: account.reader.mayRead };
  const observation = await observe(account, { ...options, context });
  // Whoever was archived since may be in the list of that state alone, which a fault may have left empty before.
  const hidden = account.extraWalks === 'auto' ? await observeHidden(account, options) : undefined;
  const ended = await mirror.moment();
  const disagreement = disagreementOf(observation, list);
  const shows = new ShownStates(learned, hidden?.states, lacksLists(filtersShow, hidden));
  const isListable = (id: number): boolean => disagreement === undefined && shows.has(unseen.stateOf.get(id) ?? null);
  const unseenAgain = vendorids.filter((id) => !observation.seen.has(id) && hidden?.seen.has(id) !== true);
  const unlisted = unseenAgain.filter(isListable);
  const undecided = unseenAgain.filter((id) => !isListable(id));
  return { began, ended, marks, observation, unlisted, undecided, disagreement };
}

export interface FirstSweep {
  readonly list: Observation;
  /** Mirror time when it ended. */
  readonly ended: number;
  readonly unseen: Unseen;
  /** What was known of the account's lists when it was sorted. */
  readonly learned: ReadonlyMap<State, ShownBy>;
  /** Whether lists of single states show what the default list does not. */
  readonly filtersShow: boolean;
}

/** Waits until no copy of the service is as old as what ended at `since`, in mirror time. */
export async function untilLater(
  { mirror, sync, clock }: SyncAccount,
  since: number,
  signal: AbortSignal,
): Promise<void> {
  const wait = since + sync.lag - (await mirror.moment());
  return wait <= 0 ? Promise.resolve() : sleep(clock, wait, signal);
}

function disagreementOf({ conclusion }: Observation, first: Observation): string | undefined {
  if (!conclusion.complete) return 'the second sweep could not be proven complete';
  // An empty list confirms nothing, except another empty list that a person approved.
  return conclusion.shown === 0 && first.seen.size > 0 ? 'the second list was empty' : undefined;
}

/** Why a second sweep did not confirm that vendors are absent which it did not show. */
export function whyUndecided({ disagreement }: Pick<SecondSweep, 'disagreement'>): string {
  return disagreement ?? 'no list that would show it was proven complete';
}

export function describeUnresolved(second: Pick<SecondSweep, 'undecided' | 'disagreement'>): string[] {
  const open = second.undecided.length;
  if (open === 0) return [];
  return [`${open === 1 ? '1 suspect stays' : `${open} suspects stay`} undecided: ${whyUndecided(second)}.`];
}

/**
 * Records which states lists show, by what a complete sweep showed.
 * @param walked states whose own list it walked completely
 * @returns what is known from then on
 */
export async function learnShown(
  { mirror, accountId }: SyncAccount,
  listings: Unseen['listings'],
  learned: ReadonlyMap<State, ShownBy>,
  walked: ReadonlySet<number> | undefined,
): Promise<ReadonlyMap<State, ShownBy>> {
  const now = new Map(learned);
  for (const [state, listing] of listings) {
    if (now.has(state)) continue;
    const byFilter = state !== null && walked?.has(state) === true && isStateShown(false, listing.filter);
    const by = isStateShown(false, listing.list) ? 'list' : byFilter ? 'filter' : undefined;
    if (!by) continue;
    await mirror.listings.learnShown(accountId, state, by);
    now.set(state, by);
  }
  return now;
}

/**
 * Forgets that lists show a state, where reads by id found several vendors that they left out, or one that they left out before.
 * @returns the forgotten states.
 */
export async function unlearnShown(
  { mirror, accountId }: SyncAccount,
  { suspects, stateOf }: Unseen,
  unchanged: ReadonlySet<number>,
  before: Pick<ReadonlySet<number>, 'has'>,
): Promise<ReadonlySet<State>> {
  const found = new Map<State, number>();
  for (const vendorid of suspects) {
    const state = stateOf.get(vendorid) ?? null;
    if (state !== 0 && unchanged.has(vendorid)) found.set(state, (found.get(state) ?? 0) + 1);
  }
  const forgotten = new Set<State>();
  for (const [state, count] of found) {
    const isAgain = suspects.some((id) => unchanged.has(id) && before.has(id) && (stateOf.get(id) ?? null) === state);
    if (!isAgain && isStateShown(true, { shown: 0, leftOut: count, found: count })) continue;
    await mirror.listings.unlearnShown(accountId, state);
    forgotten.add(state);
  }
  return forgotten;
}
