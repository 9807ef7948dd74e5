/** The mirror: opens the file and combines the classes of all areas. */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock, Random } from '../../domain/clock.ts';
import { accountStates, type AccountState } from '../reports/account-state.ts';
import { SqliteVendors } from '../rows/sqlite-vendors.ts';
import { ReadingCounter } from '../rows/reading-counter.ts';
import { SqliteCallbacks } from '../transactions/sqlite-callbacks.ts';
import { mirrorClaim, nextEpoch, type DaemonEpoch } from '../files/daemon-claim.ts';
import { forgetDaemonFiles, rememberDaemonFiles } from '../files/daemon-files.ts';
import { AccountRegister } from '../transactions/account-register.ts';
import { SqliteClockSetBackLog } from '../transactions/clock-set-back.ts';
import { Outbox } from '../outbox/outbox.ts';
import { Database } from '../sqlite/database.ts';
import { CheckpointThread } from '../journal/checkpoint-thread.ts';
import { Journal } from '../journal/journal.ts';
import { shortLockWait } from '../sqlite/lock-wait.ts';
import { SqliteDeliveries } from '../rows/sqlite-deliveries.ts';
import { exportToFile } from '../export/write-export.ts';
import type { ProcessOptions } from '../export/copy-mirror.ts';
import type { Exported } from '../export/export-job.ts';
import type { Publication } from '../../settings/export-format.ts';
import { freeBytes, noSpaceForDelivery, noSpaceForSweep } from '../sqlite/file-systems.ts';
import { SqliteFindings } from '../rows/sqlite-findings.ts';
import { SqliteGateways } from '../transactions/sqlite-gateways.ts';
import { SqliteQueue } from '../transactions/sqlite-queue.ts';
import { Marks } from '../rows/marks.ts';
import { SqliteWrites } from '../transactions/sqlite-writes.ts';
import { receivedDeliveriesOf, type ReceivedDeliveries } from '../reports/received-deliveries.ts';
import { IdentityRow } from '../files/identity.ts';
import { mirrorOptions, type MirrorFileOptions } from '../files/mirror-options.ts';
import { lockedOrClosed, type ProcessLock } from '../files/process-lock.ts';
import { RateLedger } from '../rates/rate-ledger.ts';
import { SqliteRequestFailures } from '../transactions/sqlite-request-failures.ts';
import { SqliteReadings } from '../transactions/sqlite-readings.ts';
import { ReadingWriter } from '../transactions/reading-writer.ts';
import { prune } from '../transactions/retention.ts';
import { SqliteRuns } from '../rows/sqlite-runs.ts';
import { SqliteSweepRequests } from '../transactions/sqlite-sweep-requests.ts';
import { SweepRequestWriter } from '../rows/sweep-request-writer.ts';
import type { MirrorSizes, Store } from '../store.ts';
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
} from '../areas/areas.ts';
import { AccountRows } from '../rows/account-rows.ts';
import type { ServedAccounts } from '../records/served-accounts.ts';
import type { Identity } from '../records/identity-record.ts';
import type { RetentionLimits } from '../records/retention-record.ts';
import type { Query } from '../sqlite/query.ts';
import type { ReserveRequest } from '../../domain/rate-reservation.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import type { MirrorError } from '../../domain/errors.ts';

/** How to open the mirror file. */
export interface MirrorFile extends MirrorFileOptions {
  /** Registers this process among those that use the mirror at that path. */
  readonly lockProcess: (database: string, random: Random) => ProcessLock;
}

/** Opens the mirror to write. @throws MirrorError as `Database.open`. */
export async function openMirror(file: MirrorFile): Promise<Store> {
  const database = await Database.open(mirrorOptions(file));
  const process = await lockedOrClosed(database, () => file.lockProcess(database.path, file.random));
  return new SqliteStore(database, process, file);
}

class SqliteStore implements Store {
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
  readonly requestFailures: RequestFailures;
  readonly connectionFailures: RequestFailures;
  readonly outbox: Outbox;
  readonly accountRegister: AccountRegister;
  readonly reserveRequest: ReserveRequest;
  readonly process: ProcessLock;
  readonly path: string;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #counter: ReadingCounter;
  readonly #rateLedger: RateLedger;
  readonly #accounts: AccountRows;
  readonly #identity: IdentityRow;
  readonly #received: (accountId: string) => ReceivedDeliveries;
  /** A field, because reports get `query` without the store. */
  readonly query: Query = (report) => this.#database.read(() => report(this.#database.sqlite));
  #states: ((accountId: string) => AccountState | undefined) | undefined;

  constructor(database: Database, process: ProcessLock, { clock, random }: Pick<MirrorFile, 'clock' | 'random'>) {
    const { sqlite } = database;
    const setBacks = new SqliteClockSetBackLog(sqlite, clock);
    const counter = new ReadingCounter(sqlite, clock, setBacks);
    const marks = new Marks(sqlite, clock, counter);
    const rateLedger = new RateLedger(database, { clock, counter, process });
    const runs = new SqliteRuns(database, { clock, counter, process, setBacks });
    const findings = new SqliteFindings(database, clock);
    const deliveries = new SqliteDeliveries(database, marks, new SweepRequestWriter(sqlite, counter));
    const writer = new ReadingWriter(sqlite, clock, counter, marks);
    this.readings = new SqliteReadings(database, clock, { writer, runs, findings, marks, deliveries });
    this.vendors = new SqliteVendors(database, marks);
    this.runs = runs;
    this.findings = findings;
    this.deliveries = deliveries;
    this.gateways = new SqliteGateways(database, clock);
    this.queue = new SqliteQueue(database, { clock, counter, marks, deliveries, findings });
    this.callbacks = new SqliteCallbacks(database, clock);
    this.sweepRequests = new SqliteSweepRequests(database, { clock, marks, deliveries, findings });
    this.writes = new SqliteWrites(database, { clock, marks, process });
    this.requestFailures = new SqliteRequestFailures(database, clock, 'account');
    this.connectionFailures = new SqliteRequestFailures(database, clock, 'connection');
    this.outbox = new Outbox(database, { clock, counter });
    this.accountRegister = new AccountRegister(database, clock);
    this.#rateLedger = rateLedger;
    this.reserveRequest = (demand) => rateLedger.reserve(demand);
    this.process = process;
    this.path = database.path;
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
    this.#counter = counter;
    this.#accounts = new AccountRows(sqlite);
    this.#identity = new IdentityRow(sqlite, clock);
    this.#received = receivedDeliveriesOf(sqlite);
  }

  takeStamp(): Promise<ReadStamp> {
    return this.#rateLedger.takeStamp();
  }

  moment(): number {
    return this.#counter.moment();
  }

  addAccounts(accountIds: readonly string[], served: ServedAccounts): Promise<string[]> {
    return this.#database.write(() => {
      for (const accountId of accountIds) this.#accounts.add(accountId, this.#clock.now());
      return this.#accounts.serve(served, this.#clock.now());
    });
  }

  identity(): Promise<Identity> {
    return this.#database.read(() => this.#identity.read());
  }

  async adoptService(service: string): Promise<string> {
    const isNew = await this.#database.write(() => this.#identity.adopt(service));
    if (isNew) await this.#database.checkpoint();
    return (await this.identity()).service ?? service;
  }

  acceptService(service: string): Promise<void> {
    return this.#database.write(() => this.#identity.accept(service));
  }

  receivedDeliveries(accountId: string): Promise<ReceivedDeliveries> {
    return this.#database.read(() => this.#received(accountId));
  }

  accountState(accountId: string): Promise<AccountState | undefined> {
    return this.#database.read(() => {
      this.#states ??= accountStates(this.#database.sqlite, this.#clock);
      return this.#states(accountId);
    });
  }

  prune(keep: RetentionLimits): AsyncGenerator<number, void, void> {
    return prune(this.#database, keep);
  }

  sizes(): MirrorSizes {
    const { databaseBytes, walBytes } = this.#database.fileSizes() ?? { databaseBytes: 0, walBytes: 0 };
    return { databaseBytes, walBytes, freeBytes: this.#freeBytes() };
  }

  assertOurs(): void {
    this.#database.assertOurs();
  }

  async beginDaemon(secrets: string): Promise<{ epoch: DaemonEpoch; wasKilled: boolean }> {
    const { sqlite, path } = this.#database;
    const begun = await this.#database.write(() => ({
      epoch: nextEpoch(sqlite),
      wasKilled: rememberDaemonFiles(sqlite, { database: path, secrets }),
    }));
    await this.#database.requireClaim(mirrorClaim(sqlite, begun.epoch));
    return begun;
  }

  checkpointIn(program: string): void {
    this.#database.delegateCheckpoints(new Journal(this.#database, new CheckpointThread(program, this.path)));
  }

  forgetDaemonFiles(): Promise<void> {
    return this.#database.write(() => forgetDaemonFiles(this.#database.sqlite), shortLockWait);
  }

  trouble(): MirrorError | undefined {
    return this.#database.whyNotWritable() ?? noSpaceForDelivery(this.#freeBytes());
  }

  noSpaceForSweep(): MirrorError | undefined {
    return noSpaceForSweep(this.#freeBytes(), this.path);
  }

  publish(publication: Publication, options: Omit<ProcessOptions, 'random'>): Promise<Exported> {
    return exportToFile(this.#database, publication.path, publication, { random: this.#random, ...options });
  }

  publishedAt(path: string): number | undefined {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  }

  async close(): Promise<void> {
    try {
      await this.#rateLedger.close();
      await this.#database.close();
    } finally {
      this.process.release();
    }
  }

  #freeBytes(): number {
    return freeBytes(dirname(this.path));
  }
}
