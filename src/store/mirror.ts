/** The mirror file and its transactions; nothing outside opens one. */
import { dirname } from 'node:path';
import type { Random } from '../domain/clock.ts';
import type { MirrorError } from '../domain/errors.ts';
import type { ReadStamp } from '../domain/reading.ts';
import type { ReserveRequest } from '../domain/rate-reservation.ts';
import type { Gateway } from '../domain/vendor.ts';
import { accountStates, type AccountState } from './reports/account-state.ts';
import { vendorScan, type ScannedVendor, type ServedAccounts, type VendorTraits } from './rows/vendor-scan.ts';
import { readingCounter } from './rows/reading-counter.ts';
import { callbackTransactions, type CallbackTransactions } from './rows/callback-rows.ts';
import { mirrorClaim, nextEpoch, type DaemonEpoch } from './files/daemon-claim.ts';
import { forgetDaemonFiles, rememberDaemonFiles } from './files/daemon-files.ts';
import { answerSoon, Database } from './sqlite/database.ts';
import type { Query } from './sqlite/query.ts';
import { deliveryJournal, type NewDelivery } from './rows/deliveries.ts';
import { copyMirror, type CopyOptions } from './files/export.ts';
import { freeBytes } from './sqlite/file-systems.ts';
import { findingLedger, type Finding } from './rows/findings.ts';
import { gatewayRows } from './rows/gateway-rows.ts';
import { queueTransactions, type QueueTransactions } from './transactions/mark-queue.ts';
import { markWriter } from './rows/marks.ts';
import { writeTransactions, type WriteTransactions } from './transactions/writes.ts';
import { receivedDeliveriesOf, type ReceivedDeliveries } from './reports/received-deliveries.ts';
import { identityRow, type Identity } from './files/identity.ts';
import { listMoves, type ListMoves } from './rows/list-moves.ts';
import { mirrorMigrations, mirrorMode, mirrorOptions, type MirrorPlace } from './files/mirror-options.ts';
import { lockedOrClosed, type ProcessLock } from './files/process-lock.ts';
import { rateLedger } from './rows/rate-ledger.ts';
import { requestFailures, type RequestFailures } from './transactions/failed-requests.ts';
import { readingTransactions, type ReadingTransactions } from './transactions/apply-reading.ts';
import { readings } from './transactions/readings.ts';
import { prune, type Keep } from './transactions/retention.ts';
import { runLedger, type Run, type RunEnd, type Sweeping } from './rows/runs.ts';
import { sweepAnswerTransactions, type SweepAnswerTransactions } from './transactions/sweep-answers.ts';
import { sweepRequests } from './rows/sweep-requests.ts';
import type { FindingKind, RunKind, RunTrigger } from './tables/mirror-tables.ts';

/** The mirror file, and who works on it. */
export interface MirrorFile extends MirrorPlace {
  /** Gives this process its name among those that work on the file at that path. */
  readonly lockProcess: (database: string, random: Random) => ProcessLock;
}

export { mirrorMigrations, mirrorMode, mirrorOptions };

export interface Mirror
  extends ReadingTransactions, QueueTransactions, CallbackTransactions, SweepAnswerTransactions, WriteTransactions {
  readonly path: string;
  /** This process among those that work on the mirror. */
  readonly process: ProcessLock;
  takeStamp(): Promise<ReadStamp>;
  /** Takes the number of a request, and its place in the rate that all processes share. */
  reserveRequest: ReserveRequest;
  readonly requestFailures: RequestFailures;
  /** Mirror time now, in milliseconds: never runs backwards, the same in every process. */
  moment(): number;
  /** Adds accounts. `served` are those that the settings file names. @returns accounts that it names no more since now. */
  addAccounts(accountIds: readonly string[], served: ServedAccounts): Promise<string[]>;
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
  /** A moment, in our time and not after `now`, before which the reading of that number cannot have begun; undefined where none is known. */
  runBefore(accountId: string, readSeq: number, now: number): Promise<string | undefined>;
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

/** Opens the mirror to write. @throws MirrorError as `Database.open`. */
export async function openMirror(file: MirrorFile): Promise<Mirror> {
  const { clock } = file;
  const database = await Database.open(mirrorOptions(file));
  const process = await lockedOrClosed(database, () => file.lockProcess(database.path, file.random));
  const { sqlite } = database;
  const counter = readingCounter(database, clock);
  const marks = markWriter(sqlite, clock, counter);
  const runs = runLedger(sqlite, clock, counter, process);
  const findings = findingLedger(sqlite, clock);
  const deliveries = deliveryJournal(sqlite, marks, sweepRequests(sqlite, counter));
  const gateways = gatewayRows(sqlite, clock);
  const people = vendorScan(sqlite);
  const identity = identityRow(sqlite, clock);
  const receivedDeliveries = receivedDeliveriesOf(sqlite);
  const moves = listMoves(sqlite);
  let states: ReturnType<typeof accountStates> | undefined;

  return {
    ...readingTransactions(database, clock, {
      readings: readings(sqlite, clock, counter, marks),
      runs,
      findings,
      marks,
      deliveries,
    }),
    ...queueTransactions(database, { clock, counter, marks, deliveries, findings }),
    ...callbackTransactions(database, clock),
    ...sweepAnswerTransactions(database, { clock, marks, deliveries, findings }),
    ...writeTransactions(database, { clock, marks, process }),
    path: database.path,
    process,
    takeStamp: () => counter.take(),
    reserveRequest: rateLedger(database, counter, process),
    requestFailures: requestFailures(database, clock),
    moment: () => counter.moment(),
    addAccounts: (accountIds, served) =>
      database.write(() => {
        for (const accountId of accountIds) people.addAccount(accountId, clock.now());
        return people.serve(served, clock.now());
      }),
    query: (report) => database.read(() => report(sqlite)),
    identity: () => database.read(() => identity.read()),
    async adoptService(service) {
      const isNew = await database.write(() => identity.adopt(service));
      if (isNew) await database.checkpoint();
      return (await database.read(() => identity.read())).service ?? service;
    },
    acceptService: (service) => database.write(() => identity.accept(service)),
    traits: (accountId, vendorids) =>
      database.read(() => vendorids.flatMap((vendorid) => people.traits({ account_id: accountId, vendorid }) ?? [])),

    beginRun: (start) => database.write(() => runs.begin(start)),
    finishRun: (run, end) => database.write(() => runs.finish(run.id, end)),
    unfinishedRuns: (accountId, since) => database.read(() => runs.unfinished(accountId, since)),
    listMoves: (accountId) => database.read(() => moves(accountId)),
    lastSweep: (accountId) => database.read(() => runs.lastSweep(accountId)),
    lastComplete: (accountId) => database.read(() => runs.lastComplete(accountId)),
    lastCompletes: () => database.read(() => runs.lastCompletes()),
    runBefore: (accountId, readSeq, now) => database.read(() => runs.before(accountId, readSeq, now)),

    async *scannedVendors(accountId) {
      for (let last = 0; ;) {
        const chunk = await database.read(() => people.after(accountId, last));
        const end = chunk.at(-1);
        if (!end) return;
        yield chunk;
        last = end.vendorid;
      }
    },
    countVendors: (accountId) => database.read(() => people.count(accountId)),
    someActive: (accountId) => database.read(() => people.someActive(accountId)),
    markSuspects: (accountId, vendorids) =>
      database.write(() => vendorids.forEach((vendorid) => people.suspect({ account_id: accountId, vendorid }))),

    acceptDeliveries: (list) => database.write(() => deliveries.accept(list), answerSoon),
    retryParked: (which) => database.write(() => deliveries.retry(which)),

    promoteFindings: (accountId, foundBefore) => database.write(() => findings.promote(accountId, foundBefore)),
    addFindings: (run, list) =>
      database.write(() => {
        for (const finding of list) findings.add(run.id, run.accountId, finding);
      }),
    countFindings: (run) => database.read(() => findings.count(run.id)),
    reportFields: (run, names, whole) => database.write(() => findings.fields(run.id, run.accountId, names, whole)),

    enabledGateways: (accountId) => database.read(() => gateways.enabled(accountId)),
    replaceGateways: (accountId, listed) => database.write(() => gateways.replace(accountId, listed)),

    receivedDeliveries: (accountId) => database.read(() => receivedDeliveries(accountId)),
    accountState: (accountId) => database.read(() => (states ??= accountStates(sqlite, clock))(accountId)),
    prune: (keep) => prune(database, keep),
    files: () => database.files(),
    assertOurs: () => database.assertOurs(),
    async beginDaemon(secrets) {
      const begun = await database.write(() => ({
        epoch: nextEpoch(sqlite),
        wasKilled: rememberDaemonFiles(sqlite, { database: database.path, secrets }),
      }));
      await database.keepFor(mirrorClaim(sqlite, begun.epoch));
      return begun;
    },
    unwritable: () => database.unwritable(),
    forgetDaemonFiles: () => database.write(() => forgetDaemonFiles(sqlite), answerSoon),
    freeBytes: () => freeBytes(dirname(database.path)),
    publish: (path, own) => copyMirror(database, path, { random: file.random, own }),

    async close() {
      try {
        await database.close();
      } finally {
        process.release();
      }
    },
  };
}
