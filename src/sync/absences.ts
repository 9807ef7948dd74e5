/**
 * From unseen to gone: vendors that a complete sweep did not show are read by id, or confirmed by a second sweep, and only then marked.
 *
 * An absence is ordered like a reading: it takes a number, and the guard of `sync.lag` applies to it. Absent vendors are read again, fifty a
 * run, longest unread first. Deleted vendors that lists hide are no suspects: up to two hundred a run are read by id, longest unread first,
 * so that their changes are found too. Without reads by id, the second sweep that an absence needs follows in the same run, after
 * `sync.lag`.
 */
import { sleep } from '../domain/clock.ts';
import { eachBounded } from '../domain/concurrency.ts';
import { MirrorError } from '../domain/errors.ts';
import { isAbsent, meaningOfUnlisted, type AbsenceProof } from '../domain/presence.ts';
import type { ReadStamp } from '../domain/reading.ts';
import type { Mark } from '../store/queue.ts';
import type { ScannedVendor } from '../store/vendors.ts';
import type { AttemptOptions, SweepAttemptOptions } from './attempt.ts';
import { observe, type Observation, type ObservationOptions } from './observation.ts';
import type { IdSet } from './sweep/id-set.ts';
import type { SyncAccount } from './sync-account.ts';

/** An absence, and the reading that proved it. */
export interface ProvenAbsence {
  readonly vendorid: number;
  readonly proof: AbsenceProof;
  readonly stamp: ReadStamp;
}

/** Marks as gone the vendors for which a read by id proved that the service does not know them. */
export function goneByReading(
  vendorids: readonly number[],
  { absent }: { readonly absent: ReadonlyMap<number, ReadStamp> },
): ProvenAbsence[] {
  return vendorids.flatMap((vendorid) => {
    const stamp = absent.get(vendorid);
    return stamp ? { vendorid, proof: 'not_found', stamp } : [];
  });
}

/** Marks as missing vendors that two complete sweeps did not show; `stamp` was taken when the later one began. */
export function missingBySweep(stamp: ReadStamp, vendorids: Iterable<number>): ProvenAbsence[] {
  return Array.from(vendorids, (vendorid) => ({ vendorid, proof: 'unlisted_again', stamp }));
}

/** Stores the proven absences. */
export async function applyAbsences(
  { mirror }: SyncAccount,
  absences: Iterable<ProvenAbsence>,
  { context, onVerdict }: SweepAttemptOptions,
): Promise<void> {
  for (const { vendorid, proof, stamp } of absences)
    onVerdict(await mirror.readings.applyAbsence(vendorid, proof, stamp, context));
}

export interface Unseen {
  /** Vendors that should have been listed and were not. */
  readonly suspects: number[];
  /** Suspects that an earlier complete sweep did not show either. */
  readonly missedBefore: ReadonlySet<number>;
  /** Deleted vendors where lists hide those; the one not read for longest first. */
  readonly hidden: readonly UnlistedVendor[];
  /** Missing and gone vendors, in the same order. They are read again, so that a wrong absence is corrected. */
  readonly absent: readonly UnlistedVendor[];
  /** A few unlisted vendors that another reading showed moments ago: a read by id should find them. */
  readonly recent: readonly number[];
  /** Number of vendors that were present. */
  readonly present: number;
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
  /** Whether the lists of this sweep show deleted vendors. */
  readonly showsDeleted: boolean;
  /** Taken before the sweep began: a vendor with a higher number was read since. */
  readonly began: ReadStamp;
  /** How long the service may answer from an old copy, in milliseconds. */
  readonly lag: number;
}

const mostRecent = 3;

/** The result of `sortUnseen` for a sweep that showed all stored vendors, unchanged. */
export function allSeen(present: number): Unseen {
  return { suspects: [], missedBefore: new Set(), hidden: [], absent: [], recent: [], present, guardedSeq: undefined };
}

/** Sorts the stored vendors that a sweep did not show. @param scannedVendors the stored vendors of the account, in chunks */
export async function sortUnseen(
  scannedVendors: AsyncIterable<readonly ScannedVendor[]>,
  { seen, guarded, showsDeleted, began, lag }: SeenBySweep,
): Promise<Unseen> {
  const suspects: number[] = [];
  const missedBefore = new Set<number>();
  const hidden: UnlistedVendor[] = [];
  const absent: UnlistedVendor[] = [];
  const recent: number[] = [];
  let present = 0;
  let guardedSeq: number | undefined;
  for await (const chunk of scannedVendors) {
    for (const { vendorid, vis_state, presence, read_seq, held_since_ms } of chunk) {
      const isSeen = seen.has(vendorid);
      const tooYoung = began.begun - held_since_ms < lag;
      if (!isAbsent(presence)) {
        present += 1;
        const isKnown = isSeen && !guarded.has(vendorid);
        if (tooYoung && !isKnown) guardedSeq = Math.min(read_seq, guardedSeq ?? Infinity);
      }
      if (isSeen) continue;
      const isRecent = tooYoung || read_seq > began.readSeq;
      switch (meaningOfUnlisted({ presence, visState: vis_state, isRecent, showsDeleted })) {
        case 'absent':
          absent.push({ vendorid, read_seq });
          break;
        case 'recent':
          if (recent.length < mostRecent) recent.push(vendorid);
          break;
        case 'hidden':
          hidden.push({ vendorid, read_seq });
          break;
        case 'suspect':
          suspects.push(vendorid);
          if (presence === 'suspect') missedBefore.add(vendorid);
      }
    }
  }
  return {
    suspects,
    missedBefore,
    hidden: hidden.sort(byReading),
    absent: absent.sort(byReading),
    recent,
    present,
    guardedSeq,
  };
}

function byReading(a: UnlistedVendor, b: UnlistedVendor): number {
  return a.read_seq - b.read_seq;
}

/**
 * Reads by id what a complete sweep did not show: suspects first, then some of the hidden and of the absent vendors.
 *
 * A 404 in the service's own error form proves that a vendor is gone. Another 404 may come from a proxy: it counts only between two
 * successful reads of vendors that the list has just shown or that were just read. Absences are checked against the breaker together, and
 * applied afterwards.
 */

interface ReadAbsences {
  /** Vendors that do not exist at the service, each with the reading that proved it. */
  readonly absent: ReadonlyMap<number, ReadStamp>;
  /** Vendors whose 404 proves nothing. */
  readonly unproven: ReadonlySet<number>;
  /** Vendors whose read was refused, or answered for them alone with what cannot be used. */
  readonly refused: ReadonlyMap<number, MirrorError>;
}

/** How many of the vendors that were just read are tried again to confirm an unproven 404. */
const mostKnown = 3;

/** The results of reading unlisted vendors by id. */
export interface UnseenById extends ReadAbsences {
  /** For hidden vendors that were not read: the lowest `read_seq` among them; undefined where all were read. */
  readonly unreadSeq: number | undefined;
}

/** Hidden and absent vendors are read again in portions, so that their changes are found too. */
const hiddenPerRun = 200;
const absentPerRun = 50;

/**
 * Reads all suspects, and some hidden and absent vendors. Those about which nothing could be decided before are read after all others, each time
 * in another order, so that all get their turn.
 * @throws MirrorError of the service, where it answers for no vendor.
 */
export async function readUnseen(
  account: SyncAccount,
  { suspects, hidden, absent }: Unseen,
  listed: readonly number[],
  options: AttemptOptions,
): Promise<UnseenById> {
  const { mirror, accountId, random } = account;
  const undecided = await mirror.undecided.vendorids(accountId);
  const isNew = (vendorid: number): boolean => !undecided.has(vendorid);
  const newHidden = hidden.filter(({ vendorid }) => isNew(vendorid));
  const others = [...newHidden.slice(0, hiddenPerRun), ...absent.slice(0, absentPerRun)];
  const again = [...suspects, ...hidden.map(({ vendorid }) => vendorid)].filter((vendorid) => !isNew(vendorid));
  const middle = Math.floor(random.fraction() * again.length);
  const vendorids = [
    ...suspects.filter(isNew),
    ...others.map(({ vendorid }) => vendorid),
    ...again.slice(middle),
    ...again.slice(0, middle),
  ];
  const read = await readById(account, vendorids, listed, options);
  return { ...read, unreadSeq: newHidden[hiddenPerRun]?.read_seq };
}

/** When so many vendors could not be read, the others wait for the next run: each may take as long as a request may. */
const mostRefused = 100;
const notTried = new MirrorError('service_unavailable', `It was not read, because ${mostRefused} others could not be.`);

/** Reads the vendors, applies the answers and collects the absent ones. `listed` are vendors that the list has just shown. */
async function readById(
  account: SyncAccount,
  vendorids: Iterable<number>,
  listed: readonly number[],
  options: AttemptOptions,
): Promise<ReadAbsences> {
  const absent = new Map<number, ReadStamp>();
  const refused = new Map<number, MirrorError>();
  const answered: number[] = [];
  let unprovenAbsent = new Map<number, ReadStamp>();

  const read = async (vendorid: number): Promise<void> => {
    if (refused.size >= mostRefused) {
      refused.set(vendorid, notTried);
      return;
    }
    const found = await account.reader.read(vendorid, options);
    if (found.kind === 'record') {
      options.onVerdict?.(found.verdict);
      answered.push(vendorid);
    } else if (found.kind === 'refused') {
      // Where the service does not answer for others either, it is down. A denial says itself that it is not.
      const isDenied = found.error.code === 'access_denied';
      if (!isDenied && listed.length + answered.length > 0 && !(await answersKnown())) throw found.error;
      refused.set(vendorid, found.error);
    } else (found.isProven ? absent : unprovenAbsent).set(vendorid, found.stamp);
  };
  const answersKnown = async (): Promise<boolean> => {
    for (const vendorid of [...listed, ...answered.slice(0, mostKnown)])
      if ((await account.reader.read(vendorid, options)).kind === 'record') return true;
    return false;
  };

  await eachBounded(vendorids, account.concurrency, read);
  if (unprovenAbsent.size > 0 && (await answersKnown())) {
    const secondRound = [...unprovenAbsent.keys()];
    unprovenAbsent = new Map();
    await eachBounded(secondRound, account.concurrency, read);
    if (await answersKnown()) {
      for (const [vendorid, stamp] of unprovenAbsent) absent.set(vendorid, stamp);
      unprovenAbsent = new Map();
    }
  }
  return { absent, unproven: new Set(unprovenAbsent.keys()), refused };
}

/** A second sweep within a run: it confirms that vendors are not listed, or says why it confirms nothing. */
export interface SecondSweep {
  /** Taken before the sweep began. */
  readonly began: ReadStamp;
  /** Marks that were due then; a confirming sweep settles them. */
  readonly marks: readonly Mark[];
  readonly observation: Observation;
  /** Why it confirms nothing; undefined where it does. */
  readonly disagreement: string | undefined;
}

/** Sweeps again after `sync.lag`, when no copy of the list can be as old as the first sweep. */
export async function sweepAgain(
  account: SyncAccount,
  first: Observation,
  options: ObservationOptions,
): Promise<SecondSweep> {
  const { mirror, accountId, sync, clock } = account;
  await sleep(clock, sync.lag, options.signal);
  const began = await mirror.takeStamp();
  const marks = await mirror.queue.dueMarks(accountId);
  const observation = await observe(account, options);
  return { began, marks, observation, disagreement: disagreementOf(observation, first) };
}

function disagreementOf({ conclusion }: Observation, first: Observation): string | undefined {
  if (!conclusion.complete) return 'the second sweep could not be proven complete';
  // An empty list confirms nothing, except another empty list that a person approved.
  return conclusion.shown === 0 && first.seen.size > 0 ? 'the second list was empty' : undefined;
}

/** The vendors that the second sweep did not list either. */
export function alsoUnlisted({ observation, disagreement }: SecondSweep, vendorids: readonly number[]): number[] {
  return disagreement === undefined ? vendorids.filter((vendorid) => !observation.seen.has(vendorid)) : [];
}

/** A note about the suspects that stay undecided. */
export function describeUnresolved(open: number, { disagreement }: SecondSweep): string[] {
  if (disagreement === undefined) return [];
  return [`${open === 1 ? '1 suspect stays' : `${open} suspects stay`} undecided: ${disagreement}.`];
}
