/** The mirror file and its deeds. Each deed is one transaction; nobody outside opens one. */
import { join } from 'node:path';
import type { Clock, Dice } from '../clock.ts';
import type { ReadStamp, VendorPage, VendorReading } from '../reading.ts';
import type { Callback, Gateway } from '../vendor.ts';
import { census, type Resident } from './census.ts';
import { readingCounter } from './counter.ts';
import { callbackRows } from './callback-rows.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { deliveryJournal, type NewDelivery, type SettledOutcome } from './deliveries.ts';
import { findingLedger, type Finding } from './findings.ts';
import { gatewayRows } from './gateway-rows.ts';
import type { Key } from './held.ts';
import { markQueue, markWriter, type Mark } from './marks.ts';
import { readMigrations } from './migrate.ts';
import { readings, type Absence, type ReadingContext, type Verdict } from './readings.ts';
import { runLedger, type IsAlive, type Run, type RunCounts, type RunEnd } from './runs.ts';
import type { RunKind, RunTrigger } from './tables.ts';

export interface MirrorFile {
  readonly path: string;
  /** The folder that holds `mirror/` and `secrets/`, the migrations. */
  readonly migrations: string;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly process: { readonly pid: number; readonly isAlive: IsAlive };
  /** How long to try while another process holds the lock, in milliseconds. */
  readonly patience?: number;
}

/** How the mirror file is opened, to write or to read. */
export function mirrorOptions(file: Omit<MirrorFile, 'process'>): DatabaseOptions {
  return { ...file, mode: 0o640, migrations: readMigrations(join(file.migrations, 'mirror')) };
}

export interface Mirror {
  readonly path: string;
  takeStamp(): Promise<ReadStamp>;
  /** Mirror time now, in milliseconds: never runs backwards, the same in every process. */
  moment(): number;
  addAccounts(accountIds: readonly string[]): Promise<void>;

  beginRun(start: { accountId: string; kind: RunKind; trigger: RunTrigger }): Promise<Run>;
  /** Applies a page whole, and writes down with it how far the run has come. */
  applyPage(
    page: VendorPage,
    context: ReadingContext,
    progress: (verdicts: Verdicts) => RunProgress,
  ): Promise<Verdicts>;
  finishRun(run: Run, end: RunEnd): Promise<void>;

  applyReading(reading: VendorReading, context: ReadingContext): Promise<Verdict>;
  applyAbsence(vendorid: number, absence: Absence, stamp: ReadStamp, context: ReadingContext): Promise<Verdict>;

  /** The vendors of an account, a chunk at a time, in order of their numbers. */
  residents(accountId: string): AsyncGenerator<readonly Resident[]>;
  countVendors(accountId: string): Promise<number>;
  markSuspects(accountId: string, vendorids: readonly number[]): Promise<void>;

  dueMarks(accountId: string, limit: number): Promise<Mark[]>;
  /** Open marks, due or not, parked ones left out. */
  countMarks(accountId: string): Promise<number>;
  settle(mark: Mark): Promise<boolean>;

  /**
   * Journals deliveries and marks their vendors, all in one commit, which is on disk when this resolves.
   * @returns for each whether it was taken; not so where the queue is full.
   * @throws MirrorError `database_locked` soon, because the service waits for its answer.
   */
  acceptDeliveries(deliveries: readonly NewDelivery[]): Promise<boolean[]>;
  /** The newest delivery about a vendor that is not settled. */
  lastDelivery(key: Key): Promise<number | undefined>;
  /** Settles the deliveries about a vendor up to the one called `upTo`. */
  settleDeliveries(key: Key, upTo: number, outcome: SettledOutcome): Promise<void>;
  /** Marks parked vendors again, of one account or one number if told. @returns how many. */
  retryParked(which: { account?: string | undefined; vendorid?: number | undefined }): Promise<number>;

  /** The callbacks of ours, without their path tokens, as the service last showed them. */
  knownCallbacks(accountId: string): Promise<Callback[]>;
  replaceCallbacks(accountId: string, callbacks: readonly Callback[]): Promise<void>;

  addFindings(run: Run, findings: readonly Finding[]): Promise<void>;
  reportFields(run: Run, names: readonly string[], whole: boolean): Promise<void>;

  enabledGateways(accountId: string): Promise<number[]>;
  replaceGateways(accountId: string, listed: readonly Gateway[]): Promise<number>;

  close(): Promise<void>;
}

export type Verdicts = ReadonlyMap<number, Verdict>;

export interface RunProgress {
  readonly runId: number;
  readonly counts: RunCounts;
}

/** Milliseconds to try while another process holds the lock and the service waits for an answer. */
const answerSoon = 2_000;

/** Opens the mirror to write. @throws MirrorError as `Database.open`. */
export async function openMirror(file: MirrorFile): Promise<Mirror> {
  const { clock } = file;
  const database = await Database.open(mirrorOptions(file));
  const { sqlite } = database;
  const counter = readingCounter(database, clock);
  const marks = markWriter(sqlite, clock, counter);
  const queue = markQueue(sqlite);
  const reading = readings(sqlite, clock, counter, marks);
  const runs = runLedger(sqlite, clock, counter, file.process);
  const findings = findingLedger(sqlite, clock);
  const deliveries = deliveryJournal(sqlite, marks);
  const callbacks = callbackRows(sqlite);
  const gateways = gatewayRows(sqlite, clock);
  const people = census(sqlite);

  return {
    path: database.path,
    takeStamp: () => counter.take(),
    moment: () => counter.moment(),
    addAccounts: (accountIds) =>
      database.write(() => {
        for (const accountId of accountIds) people.addAccount(accountId, clock.now());
      }),

    beginRun: (start) => database.write(() => runs.begin(start)),
    applyPage: (page, context, progress) =>
      database.write(() => {
        const verdicts = reading.page(page.rows, page.stamp, context);
        const { runId, counts } = progress(verdicts);
        runs.progress(runId, counts);
        return verdicts;
      }),
    finishRun: (run, end) => database.write(() => runs.finish(run.id, end)),

    applyReading: ({ row, stamp }, context) => database.write(() => reading.record(row, stamp, context)),
    applyAbsence: (vendorid, absence, stamp, context) =>
      database.write(() => reading.absence(vendorid, absence, stamp, context)),

    async *residents(accountId) {
      for (let last = 0; ;) {
        const chunk = await database.read(() => people.after(accountId, last));
        const end = chunk.at(-1);
        if (!end) return;
        yield chunk;
        last = end.vendorid;
      }
    },
    countVendors: (accountId) => database.read(() => people.count(accountId)),
    markSuspects: (accountId, vendorids) =>
      database.write(() => {
        for (const vendorid of vendorids) people.suspect({ account_id: accountId, vendorid });
      }),

    dueMarks: (accountId, limit) =>
      database.read(() => queue.due({ account_id: accountId, moment: counter.moment(), limit })),
    countMarks: (accountId) => database.read(() => queue.count(accountId)),
    settle: (mark) => database.write(() => queue.settle(mark)),

    acceptDeliveries: (list) => database.write(() => list.map((delivery) => deliveries.accept(delivery)), answerSoon),
    lastDelivery: (key) => database.read(() => deliveries.last(key)),
    settleDeliveries: (key, upTo, outcome) => database.write(() => deliveries.settle(key, upTo, outcome, clock.now())),
    retryParked: (which) => database.write(() => deliveries.retry(which)),

    knownCallbacks: (accountId) => database.read(() => callbacks.known(accountId)),
    replaceCallbacks: (accountId, list) => database.write(() => callbacks.replace(accountId, list, clock.now())),

    addFindings: (run, list) =>
      database.write(() => {
        for (const finding of list) findings.add(run.id, run.accountId, finding);
      }),
    reportFields: (run, names, whole) => database.write(() => findings.fields(run.id, run.accountId, names, whole)),

    enabledGateways: (accountId) => database.read(() => gateways.enabled(accountId)),
    replaceGateways: (accountId, listed) => database.write(() => gateways.replace(accountId, listed)),

    close: () => database.close(),
  };
}
