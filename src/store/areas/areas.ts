/** What the mirror can do, by area: each is implemented by a class of its own, `SqliteQueue` for `Queue` and so on. */
import type { MirrorError } from '../../domain/errors.ts';
import type { KnownPage, PagePlace, ReadStamp, VendorRow, VendorReading, VendorPage } from '../../domain/reading.ts';
import type { Callback, Gateway } from '../../domain/vendor.ts';
import type { NewDelivery, SettledOutcome, ParkedDeliveries, OpenDelivery } from '../records/delivery-record.ts';
import type { Finding, ObservedFields } from '../records/finding-record.ts';
import type { ListMoves, Run, RunCounts, RunEnd, Sweeping } from '../records/run-record.ts';
import type { ScannedVendor, VendorTraits } from '../records/scanned-vendor.ts';
import type { Deferral, MarkReason } from '../../domain/retry/mark-policy.ts';
import type { FindingKind, RunKind, RunTrigger } from '../tables/mirror-tables.ts';
import type { Mark } from '../records/mark-record.ts';
import type { RegistrationRefusal } from '../records/refusal-record.ts';
import type { AnsweredDeliveries, SweepRequest, UnmarkedVendor, SweepAnswer } from '../records/sweep-record.ts';
import type { StoredVendor, OpenCreation, NewEdit, OpenEdit } from '../records/write-record.ts';
import type { Verdict, Absence } from '../decide/verdict.ts';
import type { SweepContext, Verdicts, ReadingContext } from '../records/reading-record.ts';

/** Readings applied, each in one transaction with everything that must stand or fall with it. */
export interface Readings {
  /**
   * Applies each page whole, several in one commit; with it goes how far the run has come: `counts`, given what became of the rows of
   * all pages that are applied by then.
   */
  applyPages(
    pages: readonly VendorPage[],
    context: SweepContext,
    counts: (applied: readonly Verdicts[]) => RunCounts,
  ): Promise<Verdicts[]>;
  /** What a page showed when its vendors were last stored as it showed them. */
  knownPage(accountId: string, place: PagePlace): Promise<KnownPage>;
  /** What the rows would change, were every one believed. Writes nothing. */
  compareRows(rows: readonly VendorRow[], accountId: string): Promise<Verdicts>;
  applyReading(reading: VendorReading, context: ReadingContext | SweepContext): Promise<Verdict>;
  applyAbsence(vendorid: number, absence: Absence, stamp: ReadStamp, context: SweepContext): Promise<Verdict>;
}

/** Who is in the mirror. */
export interface Vendors {
  /** The vendors of an account, a chunk at a time, in order of their numbers. */
  scannedVendors(accountId: string): AsyncGenerator<readonly ScannedVendor[]>;
  countVendors(accountId: string): Promise<number>;
  /** Numbers of a few active vendors, the youngest. */
  newestActive(accountId: string): Promise<number[]>;
  markSuspects(accountId: string, vendorids: readonly number[]): Promise<void>;
  /** What tells vendors apart from others of the same number; those of the mirror among `vendorids`. */
  traits(accountId: string, vendorids: readonly number[]): Promise<VendorTraits[]>;
  /** Lets a vendor that was forgotten be mirrored again, and marks it to be read. @returns whether it was forgotten. */
  mirrorAgain(accountId: string, vendorid: number): Promise<boolean>;
}

/** One recorded attempt to sweep each. */
export interface Runs {
  beginRun(start: { accountId: string; kind: RunKind; trigger: RunTrigger }): Promise<Run>;
  finishRun(run: Run, end: RunEnd): Promise<void>;
  /** How many runs of an account began after `since`, milliseconds since 1970, and died with their process. */
  unfinishedRuns(accountId: string, since: number): Promise<number>;
  /** In how many of an account's latest complete runs its list was seen to move, and how many those are. */
  listMoves(accountId: string): Promise<ListMoves>;
  /** The run of an account that swept last, or sweeps now. */
  lastSweep(accountId: string): Promise<Sweeping | undefined>;
  /** When the last complete sweep of an account began, in our time; undefined before the first. */
  lastComplete(accountId: string): Promise<string | undefined>;
  /** The same of every account that had one. */
  lastCompleteByAccount(): Promise<ReadonlyMap<string, string>>;
  /**
   * A moment, by the clock of today and not after `now`, before which the reading of that number cannot have begun, in milliseconds since
   * 1970; undefined where none is known.
   */
  runStartBefore(accountId: string, readSeq: number, now: number): Promise<number | undefined>;
  /** When a run began, by the clock of today, although that may have been set back since; undefined where that is not known. */
  runStart(run: Run): Promise<number | undefined>;
}

/** Differences that sweeps met. */
export interface Findings {
  /** Findings for which a delivery might still have come: those found before `foundBefore` are now what they look like. */
  promoteFindings(accountId: string, foundBefore: number): Promise<void>;
  addFindings(run: Run, findings: readonly Finding[]): Promise<void>;
  countFindings(run: Pick<Run, 'id'>): Promise<{ kind: FindingKind; count: number }[]>;
  /**
   * Fields that a run showed; `whole` says that it would have shown all. Those that are `excluded` are known, and neither appear nor
   * disappear. One that does either becomes a finding.
   */
  reportFields(run: Run, shown: ObservedFields): Promise<void>;
}

/** The journal of what was delivered. */
export interface Deliveries {
  /**
   * Journals deliveries and marks their vendors, or, where the queue is full, asks for a sweep: one commit, on disk when this resolves.
   * @throws MirrorError `database_locked` soon, because the service waits for its answer.
   */
  acceptDeliveries(deliveries: readonly NewDelivery[]): Promise<void>;
  /** Marks parked vendors again, of one account or one number if told. @returns how many. */
  retryParked(which: { account?: string | undefined; vendorid?: number | undefined }): Promise<number>;
}

export interface Gateways {
  enabledGateways(accountId: string): Promise<number[]>;
  replaceGateways(accountId: string, listed: readonly Gateway[]): Promise<number>;
}

/** Marks that are due; whoever read their vendor settles, defers or parks them. */
export interface Queue {
  /** Marks vendors to be read again after `delay` milliseconds. */
  markVendors(accountId: string, vendorids: readonly number[], reason: MarkReason, delay: number): Promise<void>;
  /** Open marks of an account that are due, the oldest first; all unless told. */
  dueMarks(accountId: string, limit?: number): Promise<Mark[]>;
  /** Milliseconds until the next mark of an account is due, none below zero; undefined where nothing waits. */
  untilNextMark(accountId: string): Promise<number | undefined>;
  /** Open marks, due or not, parked ones left out. */
  countMarks(accountId: string): Promise<number>;
  /** Ends a mark, and with it the deliveries that it stands for. @returns false if the vendor was marked again. */
  settle(mark: Mark, outcome: SettledOutcome): Promise<boolean>;
  /** Puts a mark off, and settles its deliveries if an `outcome` is known already. @returns false if it was marked again. */
  defer(mark: Mark, deferral: Deferral, outcome?: SettledOutcome): Promise<boolean>;
  /** Settles deliveries that a reading answered with news, where their vendor was marked again meanwhile. */
  settleDeliveries(mark: Mark, deliveries: readonly OpenDelivery[]): Promise<void>;
  /** The deliveries that a mark stands for, oldest first. */
  openDeliveries(mark: Mark): Promise<OpenDelivery[]>;
  /** Gives up until the next reconciliation. */
  park(mark: Mark, error: string): Promise<void>;
  /** Parked marks of an account. */
  parkedMarks(accountId: string): Promise<Mark[]>;
  /** Parked deliveries of an account; where more came since, their vendor's mark is not parked any more. */
  parkedDeliveries(accountId: string): Promise<ParkedDeliveries[]>;
  /** Settles parked deliveries about a vendor that does not exist. The mark stands for what came after them. */
  settleParkedDeliveries(accountId: string, parked: ParkedDeliveries): Promise<void>;
}

/** The callbacks that this installation registered, as the service last showed them; and those it refused. */
export interface Callbacks {
  /** The callbacks of ours, without their path tokens, as the service last showed them. */
  knownCallbacks(accountId: string): Promise<Callback[]>;
  replaceCallbacks(accountId: string, callbacks: readonly Callback[]): Promise<void>;
  /** The callbacks of accounts that are served no more are verified no more: nobody receives what they send. @returns what they are. */
  unverifyUnservedCallbacks(): Promise<{ readonly accountId: string; readonly callbackid: number }[]>;
  refusals(accountId: string): Promise<RegistrationRefusal[]>;
  /** Events that could not be registered, all that there are. */
  replaceRefusals(accountId: string, refusals: readonly RegistrationRefusal[]): Promise<void>;
}

/** Sweeps that deliveries asked for because their vendor found no room in the queue, or named a callback of ours. */
export interface SweepRequests {
  /** How many deliveries named a callback of ours where a vendor should be, and when the last one came; undefined where none did. */
  callbackIds(accountId: string): Promise<{ readonly deliveries: number; readonly last: string } | undefined>;
  /** The open request of an account. */
  sweepRequest(accountId: string): Promise<SweepRequest | undefined>;
  /** Vendors of which these deliveries tell, and for which there was no room in the queue; some of them at a time. */
  unmarkedVendors(accountId: string, answered: AnsweredDeliveries): Promise<UnmarkedVendor[]>;
  /** Settles what was delivered about vendors that are still not marked, and marks `unseen` ones as far as there is room. @returns whether there was. */
  settleUnmarked(
    accountId: string,
    answers: readonly (UnmarkedVendor & { readonly outcome: SettledOutcome | 'unseen' })[],
  ): Promise<boolean>;
  /** Ends the request if no newer one came; of a newer one, says up to when it is answered. */
  finishSweepRequest(accountId: string, answer: SweepAnswer): Promise<void>;
  /** The sweep came to nothing: the next one waits until that moment of mirror time. */
  postponeSweepRequest(accountId: string, restUntilMs: number): Promise<void>;
}

/** What writes to the service need of the mirror: vendors as it holds them, and writes whose outcome is open. */
export interface Writes {
  /** A vendor as the mirror holds it; undefined where it never showed. */
  storedVendor(accountId: string, vendorid: number): Promise<StoredVendor | undefined>;
  /** Numbers of the vendors of a name that the mirror holds. */
  vendorsNamed(accountId: string, name: string): Promise<number[]>;
  /** Writes down that a vendor of that name is about to be created; on disk when this resolves. An older one of the name is forgotten. */
  beginCreation(accountId: string, name: string, by: string | null): Promise<void>;
  openCreation(accountId: string, name: string): Promise<OpenCreation | undefined>;
  /** It is known what became of the creation. */
  endCreation(accountId: string, name: string): Promise<void>;
  /**
   * Writes down that a vendor is about to be edited, and marks it to be read after `delay` milliseconds; on disk when this resolves.
   * @returns the number of the edit.
   */
  beginEdit(accountId: string, edit: NewEdit): Promise<number>;
  /** Edits of a vendor of which nobody knows whether they were carried out, the oldest first. */
  openEdits(accountId: string, vendorid: number): Promise<OpenEdit[]>;
  /** It is known what became of the edits. Those that another process has under way stay. */
  endEdits(ids: readonly number[]): Promise<void>;
}

/** Requests that failed one after the other, until the next one is answered: those of an account, or those of a connection that gave no access. */
export interface RequestFailures {
  /** Writes down how the last of so many further requests failed, whose message must hold no secret. */
  add(of: string, requests: number, last: Pick<MirrorError, 'code' | 'message'>): Promise<void>;
  /** A request was answered. */
  forget(of: string): Promise<void>;
}
