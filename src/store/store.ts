/** The mirror as everything above `store/` sees it. */
import type { MirrorError } from '../domain/errors.ts';
import type { ReadStamp } from '../domain/reading.ts';
import type { ReserveRequest } from '../domain/rate-reservation.ts';
import type { Gateway } from '../domain/vendor.ts';
import type { DaemonEpoch } from './files/daemon-claim.ts';
import type { CopyOptions } from './files/export.ts';
import type { ProcessLock } from './files/process-lock.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { NewDelivery } from './records/delivery-record.ts';
import type { Finding } from './records/finding-record.ts';
import type { Identity } from './records/identity-record.ts';
import type { Keep } from './records/retention-record.ts';
import type { ListMoves, Run, RunEnd, Sweeping } from './records/run-record.ts';
import type { ScannedVendor, VendorTraits } from './records/scanned-vendor.ts';
import type { AccountState } from './reports/account-state.ts';
import type { ReceivedDeliveries } from './reports/received-deliveries.ts';
import type { CallbackTransactions } from './rows/callback-rows.ts';
import type { Query } from './sqlite/query.ts';
import type { ServedAccounts } from './rows/vendor-scan.ts';
import type { FindingKind, RunKind, RunTrigger } from './tables/mirror-tables.ts';
import type { ReadingTransactions } from './transactions/apply-reading.ts';
import type { RequestFailures } from './transactions/failed-requests.ts';
import type { QueueTransactions } from './transactions/mark-queue.ts';
import type { SweepAnswerTransactions } from './transactions/sweep-answers.ts';
import type { WriteTransactions } from './transactions/writes.ts';

export interface Store
  extends ReadingTransactions, QueueTransactions, CallbackTransactions, SweepAnswerTransactions, WriteTransactions {
  readonly path: string;
  /** This process among those that work on the mirror. */
  readonly process: ProcessLock;
  takeStamp(): Promise<ReadStamp>;
  /** Takes the number of a request, and its place in the rate that all processes share. */
  reserveRequest: ReserveRequest;
  readonly requestFailures: RequestFailures;
  /** What outgoing webhooks have still to tell. */
  readonly outbox: Outbox;
  /** Mirror time now, in milliseconds: never runs backwards, the same in every process. */
  moment(): number;
  /** Adds accounts. `served` are those that the settings file names. @returns accounts that it names no more since now. */
  addAccounts(accountIds: readonly string[], served: ServedAccounts): Promise<string[]>;
  /** What a report says, against one consistent state. */
  readonly query: Query;

  identity(): Promise<Identity>;
  /** Makes the mirror belong to a service, unless it belongs to one. @returns the service that it belongs to now. */
  adoptService(service: string): Promise<string>;
  /** Makes the mirror belong to a service, at a person's word. */
  acceptService(service: string): Promise<void>;
  /** What tells vendors apart from others of the same number; those of the mirror among `vendorids`. */
  traits(accountId: string, vendorids: readonly number[]): Promise<VendorTraits[]>;

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
  lastCompletes(): Promise<ReadonlyMap<string, string>>;
  /**
   * A moment, by the clock of today and not after `now`, before which the reading of that number cannot have begun, in milliseconds since
   * 1970; undefined where none is known.
   */
  runBefore(accountId: string, readSeq: number, now: number): Promise<number | undefined>;
  /** When a run began, by the clock of today, although that may have been set back since; undefined where that is not known. */
  runBegan(run: Run): Promise<number | undefined>;

  /** The vendors of an account, a chunk at a time, in order of their numbers. */
  scannedVendors(accountId: string): AsyncGenerator<readonly ScannedVendor[]>;
  countVendors(accountId: string): Promise<number>;
  /** Numbers of a few active vendors, the youngest. */
  someActive(accountId: string): Promise<number[]>;
  markSuspects(accountId: string, vendorids: readonly number[]): Promise<void>;

  /**
   * Journals deliveries and marks their vendors, or, where the queue is full, asks for a sweep: one commit, on disk when this resolves.
   * @throws MirrorError `database_locked` soon, because the service waits for its answer.
   */
  acceptDeliveries(deliveries: readonly NewDelivery[]): Promise<void>;
  /** Marks parked vendors again, of one account or one number if told. @returns how many. */
  retryParked(which: { account?: string | undefined; vendorid?: number | undefined }): Promise<number>;

  /** Findings for which a delivery might still have come: those found before `foundBefore` are now what they look like. */
  promoteFindings(accountId: string, foundBefore: number): Promise<void>;
  addFindings(run: Run, findings: readonly Finding[]): Promise<void>;
  countFindings(run: Pick<Run, 'id'>): Promise<{ kind: FindingKind; count: number }[]>;
  reportFields(run: Run, names: readonly string[], whole: boolean): Promise<void>;

  enabledGateways(accountId: string): Promise<number[]>;
  replaceGateways(accountId: string, listed: readonly Gateway[]): Promise<number>;

  /** What an account hears by webhooks, and what it does not. */
  receivedDeliveries(accountId: string): Promise<ReceivedDeliveries>;
  /** What the mirror holds of an account, and what went on lately; undefined where it does not know it. */
  accountState(accountId: string): Promise<AccountState | undefined>;
  /** Removes what has served its time, a short batch at each step. @returns of each batch how many rows went. */
  prune(keep: Keep): AsyncGenerator<number, void, void>;
  /** Sizes of the file and its journal, in bytes; undefined where the file is no longer the one that was opened. */
  files(): { databaseBytes: number; walBytes: number } | undefined;
  /** As of `Database`. */
  assertOurs(): void;
  /**
   * This process is the daemon from now on: writes down that it has this file open, and the file of secrets at that path, and writes nothing
   * more once another daemon has taken over.
   * @returns its number, and whether the daemon before did not stop in good order.
   */
  beginDaemon(secrets: string): Promise<{ epoch: DaemonEpoch; wasKilled: boolean }>;
  /** The daemon stops in good order. */
  forgetDaemonFiles(): Promise<void>;
  /** Why the file cannot be written now; undefined while it can. */
  unwritable(): MirrorError | undefined;
  /** Bytes that are free beside the file. */
  freeBytes(): number;
  /** Writes a consistent copy for readers, swapped in whole. */
  publish(path: string, own: CopyOptions['own']): Promise<void>;

  close(): Promise<void>;
}
