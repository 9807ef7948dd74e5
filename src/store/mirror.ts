/** The mirror file and its deeds. Each deed is one transaction; nobody outside opens one. */
import { join } from 'node:path';
import type { Clock, Dice } from '../clock.ts';
import type { ReadStamp, VendorPage, VendorReading } from '../reading.ts';
import type { Gateway } from '../vendor.ts';
import { census, type Resident } from './census.ts';
import { readingCounter } from './counter.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { findingLedger, type Finding } from './findings.ts';
import { gatewayRows } from './gateway-rows.ts';
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

  addFindings(run: Run, findings: readonly Finding[]): Promise<void>;
  reportFields(run: Run, names: readonly string[], whole: boolean): Promise<void>;

  enabledGateways(accountId: string): Promise<number[]>;
  replaceGateways(accountId: string, listed: readonly Gateway[]): Promise<number>;

  close(): void;
}

export type Verdicts = ReadonlyMap<number, Verdict>;

export interface RunProgress {
  readonly runId: number;
  readonly counts: RunCounts;
}

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
