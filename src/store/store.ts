/** The mirror as everything above `store/` sees it. */
import type { MirrorError } from '../domain/errors.ts';
import type { Publication } from '../settings/export-format.ts';
import type { ReadStamp } from '../domain/reading.ts';
import type { ReserveRequest } from '../domain/rate-reservation.ts';
import type { DaemonEpoch } from './files/daemon-claim.ts';
import type { ProcessOptions } from './export/copy-mirror.ts';
import type { Exported } from './export/export-job.ts';
import type { ProcessLock } from './files/process-lock.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { AccountRegister } from './transactions/account-register.ts';
import type {
  Readings,
  Vendors,
  Runs,
  Findings,
  Deliveries,
  Gateways,
  Queue,
  Callbacks,
  SweepRequests,
  Writes,
  RequestFailures,
} from './areas/areas.ts';
import type { Identity } from './records/identity-record.ts';
import type { RetentionLimits } from './records/retention-record.ts';
import type { AccountState } from './reports/account-state.ts';
import type { ReceivedDeliveries } from './reports/received-deliveries.ts';
import type { Query } from './sqlite/query.ts';
import type { ServedAccounts } from './records/served-accounts.ts';

/** In bytes. */
export interface MirrorSizes {
  readonly databaseBytes: number;
  /** What is written and not yet in the database file. */
  readonly walBytes: number;
  /** What is free for both to grow. */
  readonly freeBytes: number;
}

/** The mirror. */
export interface Store {
  readonly readings: Readings;
  readonly vendors: Vendors;
  readonly runs: Runs;
  readonly findings: Findings;
  readonly deliveries: Deliveries;
  readonly gateways: Gateways;
  readonly queue: Queue;
  readonly callbacks: Callbacks;
  readonly sweepRequests: SweepRequests;
  readonly writes: Writes;
  readonly path: string;
  /** This process among those that work on the mirror. */
  readonly process: ProcessLock;
  takeStamp(): Promise<ReadStamp>;
  /** Takes the number of a request, and its place in the rate that all processes share. */
  reserveRequest: ReserveRequest;
  readonly requestFailures: RequestFailures;
  /** By the name of the connection. */
  readonly connectionFailures: RequestFailures;
  /** What outgoing webhooks have still to tell. */
  readonly outbox: Outbox;
  /** Which accounts were added and paused by command. */
  readonly accountRegister: AccountRegister;
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
  /** What an account hears by webhooks, and what it does not. */
  receivedDeliveries(accountId: string): Promise<ReceivedDeliveries>;
  /** What the mirror holds of an account, and what went on lately; undefined where it does not know it. */
  accountState(accountId: string): Promise<AccountState | undefined>;
  /** Removes what has served its time, a short batch at each step. @returns of each batch how many rows went. */
  prune(keep: RetentionLimits): AsyncGenerator<number, void, void>;
  /** For those who watch over its growth. */
  sizes(): MirrorSizes;
  /** As of `Database`. */
  assertOurs(): void;
  /**
   * This process is the daemon from now on: writes down that it has this file open, and the file of secrets at that path, and writes nothing
   * more once another daemon has taken over.
   * @returns its number, and whether the daemon before did not stop in good order.
   */
  beginDaemon(secrets: string): Promise<{ epoch: DaemonEpoch; wasKilled: boolean }>;
  /** From now on a thread brings the journal into the file, and no commit does; `program` is the compiled thread. */
  checkpointIn(program: string): void;
  /** The daemon stops in good order. */
  forgetDaemonFiles(): Promise<void>;
  /** Why a delivery cannot be kept now, as far as can be told without one; undefined while it can. */
  trouble(): MirrorError | undefined;
  /** Why a sweep that nobody watches should wait: the room that is left is for deliveries; undefined while there is enough. */
  noSpaceForSweep(): MirrorError | undefined;
  /** Writes a file for readers, of one state of the mirror, and swaps it in whole; gives up when the signal is aborted. */
  publish(publication: Publication, options: Omit<ProcessOptions, 'random'>): Promise<Exported>;
  /** When the file at that path was written, milliseconds since 1970; undefined where there is none. */
  publishedAt(path: string): number | undefined;

  close(): Promise<void>;
}
