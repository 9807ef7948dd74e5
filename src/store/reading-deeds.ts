/** Readings applied, each in one transaction with everything that must stand or fall with it. */
import type { ReadStamp, VendorPage, VendorReading, VendorRow } from '../reading.ts';
import type { Database } from './database.ts';
import type { Deliveries } from './deliveries.ts';
import type { Finding, Findings } from './findings.ts';
import type { Key } from './held.ts';
import type { Marks } from './marks.ts';
import type { Absence, ReadingContext, Readings, Verdict } from './readings.ts';
import type { Run, RunCounts, Runs } from './runs.ts';

/** What speaks for a change having been announced. */
export interface Evidence {
  /** A delivery about the vendor waits to be answered by a reading. */
  readonly marked: boolean;
  /** When the newest delivery about the vendor came for which no reading has shown anything new. */
  readonly unanswered: string | null;
}

/** Says whether a change that a sweep met is a finding. Pure: it is asked inside a transaction. */
export type Accountant = (vendorid: number, verdict: Verdict, evidence: Evidence) => Finding | undefined;

/** A sweep's context: its run, and who accounts for the differences it meets. */
export interface SweepContext extends ReadingContext {
  readonly run: Pick<Run, 'id'>;
  readonly accountant: Accountant | undefined;
}

export type Verdicts = ReadonlyMap<number, Verdict>;

export interface ReadingDeeds {
  /** Applies a page whole; with it goes how far the run has come: `counts`, given what became of the rows. */
  applyPage(page: VendorPage, context: SweepContext, counts: (verdicts: Verdicts) => RunCounts): Promise<Verdicts>;
  /** What the rows would change, were every one believed. Writes nothing. */
  compareRows(rows: readonly VendorRow[], accountId: string): Promise<Verdicts>;
  applyReading(reading: VendorReading, context: ReadingContext | SweepContext): Promise<Verdict>;
  applyAbsence(vendorid: number, absence: Absence, stamp: ReadStamp, context: SweepContext): Promise<Verdict>;
}

export function readingDeeds(
  database: Database,
  parts: { readings: Readings; runs: Runs; findings: Findings; marks: Marks; deliveries: Deliveries },
): ReadingDeeds {
  const { readings, runs, findings, marks, deliveries } = parts;

  const account = (vendorid: number, verdict: Verdict, context: ReadingContext | SweepContext): Verdict => {
    if (!('run' in context) || !context.accountant || (verdict.kind !== 'created' && verdict.kind !== 'updated'))
      return verdict;
    const key: Key = { account_id: context.accountId, vendorid };
    const evidence: Evidence = { marked: marks.isAnnounced(key), unanswered: deliveries.lastUnanswered(key) };
    const finding = context.accountant(vendorid, verdict, evidence);
    if (finding) findings.add(context.run.id, context.accountId, finding);
    return verdict;
  };

  return {
    async applyPage(page, context, counts) {
      const confirmed = await database.writeInOrder(() => {
        const verdicts = readings.confirm(page.rows, page.stamp, context);
        if (verdicts) runs.progress(context.run.id, counts(verdicts));
        return verdicts;
      });
      if (confirmed) return confirmed;
      return database.write(() => {
        const verdicts = readings.page(page.rows, page.stamp, context);
        for (const [vendorid, verdict] of verdicts) account(vendorid, verdict, context);
        runs.progress(context.run.id, counts(verdicts));
        return verdicts;
      });
    },
    compareRows: (rows, accountId) => database.read(() => readings.compare(rows, accountId)),
    applyReading: ({ row, stamp }, context) =>
      database.write(() => account(row.vendorid, readings.record(row, stamp, context), context)),
    applyAbsence: (vendorid, absence, stamp, context) =>
      database.write(() => account(vendorid, readings.absence(vendorid, absence, stamp, context), context)),
  };
}
