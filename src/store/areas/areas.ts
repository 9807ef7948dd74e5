/** The operations of the mirror, by area. Each area is implemented by a class: `Queue` by `SqliteQueue`, and so on. */
import type { MirrorError } from '../../domain/errors.ts';
import type { ReadStamp, VendorRow, VendorReading, VendorPage } from '../../domain/reading.ts';
import type { Callback, Gateway } from '../../domain/vendor.ts';
import type { NewDelivery, SettledOutcome, ParkedDeliveries, OpenDelivery } from '../records/delivery-record.ts';
import type { Finding, ObservedFields } from '../records/finding-record.ts';
import type { ListMoves, Run, RunCounts, RunEnd, RunStart, Sweeping } from '../records/run-record.ts';
import type { ScannedVendor, VendorTraits } from '../records/scanned-vendor.ts';
import type { Deferral, MarkReason } from '../../domain/retry/mark-policy.ts';
import type { FindingKind } from '../tables/mirror-tables.ts';
import type { Mark } from '../records/mark-record.ts';
import type { RegistrationRefusal } from '../records/refusal-record.ts';
import type { AnsweredDeliveries, SweepRequest, UnmarkedVendor, SweepAnswer } from '../records/sweep-record.ts';
import type { StoredVendor, OpenCreation, NewEdit, OpenEdit } from '../records/write-record.ts';
import type { Verdict, Absence } from '../decide/verdict.ts';
import type { SweepContext, Verdicts, ReadingContext } from '../records/reading-record.ts';

/** Applies readings, each in one transaction with everything that must be consistent with it. */
export interface Readings {
  /**
   * Applies pages, each atomically, several in one commit, together with the progress of the run.
   * @param counts the counts of the run, given the verdicts of all pages that are applied by then
   * @returns the verdicts of each page, in the order of `pages`
   */
  applyPages(
    pages: readonly VendorPage[],
    context: SweepContext,
    counts: (applied: readonly Verdicts[]) => RunCounts,
  ): Promise<Verdicts[]>;
  /** What the rows would change if all were accepted. Writes nothing. */
  compareRows(rows: readonly VendorRow[], accountId: string): Promise<Verdicts>;
  applyReading(reading: VendorReading, context: ReadingContext | SweepContext): Promise<Verdict>;
  applyAbsence(vendorid: number, absence: Absence, stamp: ReadStamp, context: SweepContext): Promise<Verdict>;
}

/** The stored vendors. */
export interface Vendors {
  /** The vendors of an account in order of id, in chunks. */
  scannedVendors(accountId: string): AsyncGenerator<readonly ScannedVendor[]>;
  countVendors(accountId: string): Promise<number>;
  /** Ids of a few active vendors, the newest first. */
  newestActive(accountId: string): Promise<number[]>;
  /** Marks vendors that a sweep did not show, except those that were read since `began`, which was taken before it. */
  markSuspects(accountId: string, vendorids: readonly number[], began: ReadStamp): Promise<void>;
  /** Fields that identify vendors, for those of `vendorids` that are stored. */
  traits(accountId: string, vendorids: readonly number[]): Promise<VendorTraits[]>;
  /** Lets a forgotten vendor be mirrored again, and marks it. @returns whether it was forgotten. */
  mirrorAgain(accountId: string, vendorid: number): Promise<boolean>;
}

/** Recorded attempts to sweep. */
export interface Runs {
  beginRun(start: RunStart): Promise<Run>;
  finishRun(run: Run, end: RunEnd): Promise<void>;
  /** How many runs of an account began after `since` (milliseconds since 1970) and died with their process. */
  unfinishedRuns(accountId: string, since: number): Promise<number>;
  /** How many of an account's latest complete runs saw its list change. */
  listMoves(accountId: string): Promise<ListMoves>;
  /** The latest sweep of an account, possibly still running. */
  lastSweep(accountId: string): Promise<Sweeping | undefined>;
  /** When the last complete sweep of an account began, as a timestamp of ours; undefined before the first. */
  lastComplete(accountId: string): Promise<string | undefined>;
  /** The same by account. */
  lastCompleteByAccount(): Promise<ReadonlyMap<string, string>>;
  /**
   * The start of the last run before the reading of that number, in milliseconds since 1970 and not after `now`; undefined where it is
   * unknown, because the clock was set back.
   */
  runStartBefore(accountId: string, readSeq: number, now: number): Promise<number | undefined>;
  /** When a run began, milliseconds since 1970; undefined where the clock was set back since. */
  runStart(run: Run): Promise<number | undefined>;
}

/** Differences that sweeps found. */
export interface Findings {
  /** Turns `in_flight` findings from before `foundBefore` (milliseconds since 1970) into missed changes. */
  promoteFindings(accountId: string, foundBefore: number): Promise<void>;
  addFindings(run: Run, findings: readonly Finding[]): Promise<void>;
  countFindings(run: Pick<Run, 'id'>): Promise<{ kind: FindingKind; count: number }[]>;
  /** Records the fields that a run showed. A field that appears or disappears becomes a finding. */
  reportFields(run: Run, shown: ObservedFields): Promise<void>;
}

/** The journal of deliveries. */
export interface Deliveries {
  /**
   * Journals deliveries and marks their vendors; where the queue is full, requests a sweep instead. One commit, which is on disk when this
   * resolves.
   * @throws MirrorError `database_locked` after a short wait, because the service waits for its answer.
   */
  acceptDeliveries(deliveries: readonly NewDelivery[]): Promise<void>;
  /** Marks parked vendors again: all, or those of one account or id. @returns how many. */
  retryParked(which: { account?: string | undefined; vendorid?: number | undefined }): Promise<number>;
}

export interface Gateways {
  enabledGateways(accountId: string): Promise<number[]>;
  replaceGateways(accountId: string, listed: readonly Gateway[]): Promise<number>;
}

/** The queue of marks: due ones are settled, deferred or parked after their vendor was read. */
export interface Queue {
  /** Marks vendors to be read again after `delay` milliseconds. */
  markVendors(accountId: string, vendorids: readonly number[], reason: MarkReason, delay: number): Promise<void>;
  /** Due marks of an account, the oldest first; at most `limit`. */
  dueMarks(accountId: string, limit?: number): Promise<Mark[]>;
  /** Milliseconds until the next mark of an account is due, at least 0; undefined where none is open. */
  untilNextMark(accountId: string): Promise<number | undefined>;
  /** The number of open marks, due or not, without parked ones. */
  countMarks(accountId: string): Promise<number>;
  /** Removes a mark, and settles its deliveries. @returns false if the vendor was marked again meanwhile. */
  settle(mark: Mark, outcome: SettledOutcome): Promise<boolean>;
  /** Defers a mark, and settles its deliveries where an `outcome` is given. @returns false if the vendor was marked again meanwhile. */
  defer(mark: Mark, deferral: Deferral, outcome?: SettledOutcome): Promise<boolean>;
  /** Settles deliveries that a reading answered, where the mark itself could not be settled. */
  settleDeliveries(mark: Mark, deliveries: readonly OpenDelivery[]): Promise<void>;
  /** The deliveries of a mark, oldest first. */
  openDeliveries(mark: Mark): Promise<OpenDelivery[]>;
  /** Gives up until the next reconciliation. */
  park(mark: Mark, error: string): Promise<void>;
  /** Parked marks of an account. */
  parkedMarks(accountId: string): Promise<Mark[]>;
  /** Parked deliveries of an account. Where more deliveries came since, the vendor's mark is open again. */
  parkedDeliveries(accountId: string): Promise<ParkedDeliveries[]>;
  /** Settles parked deliveries of a vendor that does not exist. */
  settleParkedDeliveries(accountId: string, parked: ParkedDeliveries): Promise<void>;
}

/** Our registered callbacks as the service last showed them, and refused registrations. */
export interface Callbacks {
  /** Our callbacks, without their path tokens, as the service last showed them. */
  knownCallbacks(accountId: string): Promise<Callback[]>;
  replaceCallbacks(accountId: string, callbacks: readonly Callback[]): Promise<void>;
  /** Sets the callbacks of accounts that are no longer served to unverified, because their deliveries are not received. @returns them. */
  unverifyUnservedCallbacks(): Promise<{ readonly accountId: string; readonly callbackid: number }[]>;
  refusals(accountId: string): Promise<RegistrationRefusal[]>;
  /** Replaces the refused registrations of an account. */
  replaceRefusals(accountId: string, refusals: readonly RegistrationRefusal[]): Promise<void>;
}

/** Sweeps that deliveries requested, because their vendor did not fit into the queue or they named a callback of ours. */
export interface SweepRequests {
  /** How many deliveries had the id of a callback instead of a vendor, and when the last came; undefined where none did. */
  callbackIds(accountId: string): Promise<{ readonly deliveries: number; readonly last: string } | undefined>;
  /** The open request of an account; undefined where there is none. */
  sweepRequest(accountId: string): Promise<SweepRequest | undefined>;
  /** Some of the vendors of these deliveries that did not fit into the queue. */
  unmarkedVendors(accountId: string, answered: AnsweredDeliveries): Promise<UnmarkedVendor[]>;
  /**
   * Settles the deliveries of unmarked vendors, and marks `unseen` vendors while the queue has room.
   * @returns whether it had room for all.
   */
  settleUnmarked(
    accountId: string,
    answers: readonly (UnmarkedVendor & { readonly outcome: SettledOutcome | 'unseen' })[],
  ): Promise<boolean>;
  /** Closes the request; where a newer one came, records up to when it is answered. */
  finishSweepRequest(accountId: string, answer: SweepAnswer): Promise<void>;
  /** Postpones the next requested sweep to that moment of mirror time. */
  postponeSweepRequest(accountId: string, restUntilMs: number): Promise<void>;
}

/** What writes to the service need: stored vendors, and writes with an unknown outcome. */
export interface Writes {
  /** A stored vendor; undefined where it was never seen. */
  storedVendor(accountId: string, vendorid: number): Promise<StoredVendor | undefined>;
  /** Ids of stored vendors with that name. */
  vendorsNamed(accountId: string, name: string): Promise<number[]>;
  /** Records a creation before it is sent; on disk when this resolves. Replaces an earlier one of the same name. */
  beginCreation(accountId: string, name: string, by: string | null): Promise<void>;
  openCreation(accountId: string, name: string): Promise<OpenCreation | undefined>;
  /** Removes a creation whose outcome is known. */
  endCreation(accountId: string, name: string): Promise<void>;
  /**
   * Records an edit before it is sent, and marks the vendor to be read after `delay` milliseconds; on disk when this resolves.
   * @returns the id of the edit.
   */
  beginEdit(accountId: string, edit: NewEdit): Promise<number>;
  /** Edits of a vendor with an unknown outcome, the oldest first. */
  openEdits(accountId: string, vendorid: number): Promise<OpenEdit[]>;
  /** Removes edits whose outcome is known, except those of other running processes. */
  endEdits(ids: readonly number[]): Promise<void>;
}

/** Consecutive failed requests of an account, or of a connection that gave no access. */
export interface RequestFailures {
  /** Adds `requests` further failures, with the error of the last. Its message must contain no secret. */
  add(of: string, requests: number, last: Pick<MirrorError, 'code' | 'message'>): Promise<void>;
  /** Clears the failures, because a request was answered. */
  forget(of: string): Promise<void>;
}
