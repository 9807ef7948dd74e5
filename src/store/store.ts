/** The interface of the mirror for everything above `store/`. */
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
  /** Size of the journal. */
  readonly walBytes: number;
  /** Free disk space. */
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
  /** This process among those that use the mirror. */
  readonly process: ProcessLock;
  takeStamp(): Promise<ReadStamp>;
  /** Takes the number of a request and a place in the rate limit that all processes share. */
  reserveRequest: ReserveRequest;
  readonly requestFailures: RequestFailures;
  /** By name of connection. */
  readonly connectionFailures: RequestFailures;
  /** Pending messages of outgoing webhooks. */
  readonly outbox: Outbox;
  /** Which accounts were added and paused by command. */
  readonly accountRegister: AccountRegister;
  /** Mirror time now, in milliseconds: never runs backwards, and is the same in every process. */
  moment(): number;
  /** Adds accounts, and records the accounts that the settings file names. @returns accounts that it no longer names. */
  addAccounts(accountIds: readonly string[], served: ServedAccounts): Promise<string[]>;
  /** Runs a report on one consistent state. */
  readonly query: Query;

  identity(): Promise<Identity>;
  /** Binds the mirror to a service, unless it is bound already. @returns the service that it is bound to. */
  adoptService(service: string): Promise<string>;
  /** Binds the mirror to a service, after a person confirmed it. */
  acceptService(service: string): Promise<void>;
  /** The deliveries of an account, and the changes that none announced. */
  receivedDeliveries(accountId: string): Promise<ReceivedDeliveries>;
  /** The stored state of an account and its latest activity; undefined for an unknown account. */
  accountState(accountId: string): Promise<AccountState | undefined>;
  /** Removes expired rows, a short batch at each step. @returns the number of removed rows of each batch. */
  prune(keep: RetentionLimits): AsyncGenerator<number, void, void>;
  /** Sizes, for metrics and health. */
  sizes(): MirrorSizes;
  /** As `Database.assertOurs`. */
  assertOurs(): void;
  /**
   * Makes this process the daemon: records which files it has open, and refuses to write once another daemon has taken over.
   * @param secrets path of the secrets file
   * @returns the daemon's epoch, and whether the previous daemon was killed.
   */
  beginDaemon(secrets: string): Promise<{ epoch: DaemonEpoch; wasKilled: boolean }>;
  /** Moves checkpoints to a thread; `program` is its compiled path. */
  checkpointIn(program: string): void;
  /** Records that the daemon stopped normally. */
  forgetDaemonFiles(): Promise<void>;
  /** Why deliveries cannot be stored now, as far as can be checked without writing; undefined while they can. */
  trouble(): MirrorError | undefined;
  /** Why unattended sweeps should wait, because free space is reserved for deliveries; undefined while there is enough. */
  noSpaceForSweep(): MirrorError | undefined;
  /** Writes an export for readers from one consistent state, replacing the file atomically; stops when the signal is aborted. */
  publish(publication: Publication, options: Omit<ProcessOptions, 'random'>): Promise<Exported>;
  /** When the file at that path was written, milliseconds since 1970; undefined where there is none. */
  publishedAt(path: string): number | undefined;

  close(): Promise<void>;
}
