/** Readings applied, each in one transaction with everything that must stand or fall with it. */
import type { Clock } from '../../domain/clock.ts';
import type { ReadStamp, VendorPage, VendorReading, VendorRow } from '../../domain/reading.ts';
import type { Database } from '../sqlite/database.ts';
import type { Deliveries } from '../rows/deliveries.ts';
import type { Findings } from '../rows/findings.ts';
import type { Key } from '../rows/stored-vendor.ts';
import type { Marks } from '../rows/marks.ts';
import { odditiesOf } from '../decide/oddities.ts';
import type { Readings } from './readings.ts';
import type { Absence, Verdict } from '../decide/verdict.ts';
import type { Runs } from '../rows/runs.ts';
import { isOfRecord } from '../sqlite/sqlite-errors.ts';
import type { RunCounts } from '../records/run-record.ts';
import type { ReadingContext, Evidence, SweepContext, Verdicts } from '../records/reading-record.ts';

export interface ReadingTransactions {
  /**
   * Applies each page whole, several in one commit; with it goes how far the run has come: `counts`, given what became of the rows of
   * all pages that are applied by then.
   */
  applyPages(
    pages: readonly VendorPage[],
    context: SweepContext,
    counts: (applied: readonly Verdicts[]) => RunCounts,
  ): Promise<Verdicts[]>;
  /** What the rows would change, were every one believed. Writes nothing. */
  compareRows(rows: readonly VendorRow[], accountId: string): Promise<Verdicts>;
  applyReading(reading: VendorReading, context: ReadingContext | SweepContext): Promise<Verdict>;
  applyAbsence(vendorid: number, absence: Absence, stamp: ReadStamp, context: SweepContext): Promise<Verdict>;
}

/** No commit takes on a further page after so many milliseconds: deliveries wait for its end. */
const longEnough = 10;

export function readingTransactions(
  database: Database,
  clock: Pick<Clock, 'monotonic' | 'yield'>,
  parts: { readings: Readings; runs: Runs; findings: Findings; marks: Marks; deliveries: Deliveries },
): ReadingTransactions {
  const { readings, runs, findings, marks, deliveries } = parts;

  const account = (vendorid: number, verdict: Verdict, context: ReadingContext | SweepContext): Verdict => {
    if (!('run' in context) || (verdict.kind !== 'created' && verdict.kind !== 'updated')) return verdict;
    const oddities = verdict.kind === 'created' ? odditiesOf(verdict.vendor) : verdict.oddities;
    if (oddities)
      findings.add(context.run.id, context.accountId, { kind: 'field_drift', vendorid, fields: { ...oddities } });
    if (!context.accountant) return verdict;
    const key: Key = { account_id: context.accountId, vendorid };
    const evidence: Evidence = { marked: marks.isAnnounced(key), unanswered: deliveries.lastUnanswered(key) };
    const finding = context.accountant(vendorid, verdict, evidence);
    if (finding) findings.add(context.run.id, context.accountId, finding);
    return verdict;
  };

  const applyPage = ({ rows, stamp }: VendorPage, context: SweepContext, apart: boolean): Verdicts => {
    const verdicts = readings.page(rows, stamp, context, apart);
    for (const [vendorid, verdict] of verdicts) account(vendorid, verdict, context);
    return verdicts;
  };

  return {
    async applyPages(pages, context, counts) {
      const applied = await database.writeInOrder(() => {
        const confirmed = new Map<VendorPage, Verdicts>();
        for (const page of pages) {
          const verdicts = readings.confirm(page.rows, page.stamp, context);
          if (verdicts) confirmed.set(page, verdicts);
        }
        if (confirmed.size > 0) runs.progress(context.run.id, counts([...confirmed.values()]));
        return confirmed;
      });
      while (applied.size < pages.length) {
        const write = (apart: boolean): Promise<Map<VendorPage, Verdicts>> =>
          database.write(() => {
            const end = clock.monotonic() + longEnough;
            const together = new Map<VendorPage, Verdicts>();
            for (const page of pages) {
              if (applied.has(page)) continue;
              if (together.size > 0 && clock.monotonic() >= end) break;
              together.set(page, applyPage(page, context, apart));
            }
            runs.progress(context.run.id, counts([...applied.values(), ...together.values()]));
            return together;
          });
        // One record that cannot be used must not keep its neighbours out.
        const news = await write(false).catch((error: unknown) => {
          if (!isOfRecord(error)) throw error;
          return write(true);
        });
        for (const [page, verdicts] of news) applied.set(page, verdicts);
        await clock.yield();
      }
      return pages.flatMap((page) => applied.get(page) ?? []);
    },
    compareRows: (rows, accountId) => database.read(() => readings.compare(rows, accountId)),
    applyReading: ({ row, stamp }, context) =>
      database.write(() => account(row.vendorid, readings.record(row, stamp, context), context)),
    applyAbsence: (vendorid, absence, stamp, context) =>
      database.write(() => account(vendorid, readings.absence(vendorid, absence, stamp, context), context)),
  };
}
