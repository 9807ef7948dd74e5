/** Applies readings, each in one transaction with everything that must be consistent with it. */
import type { Clock } from '../domain/clock.ts';
import { inOrder } from '../domain/concurrency.ts';
import type { AbsenceEvidence } from '../domain/presence.ts';
import type { ReadStamp, VendorPage, VendorReading, VendorRow } from '../domain/reading.ts';
import { isNews, rejectedVerdict, type Verdict } from './acceptance.ts';
import type { Deliveries } from './deliveries.ts';
import type { Findings } from './findings.ts';
import type { LaggingCopies } from './lagging-copies.ts';
import type { Marks } from './marks.ts';
import { contestedIds } from './page-confirmations.ts';
import type { OldMark, Queue } from './queue.ts';
import type { Evidence, ReadingContext, ReadingWriter, SweepContext, Verdicts } from './reading-writer.ts';
import type { RunCounts, Runs } from './runs.ts';
import type { Database } from './sql/database.ts';
import type { VendorKey } from './sql/schema.ts';
import { each, keyText, together } from './sql/statement.ts';
import { isRecordError } from './sqlite/sqlite-errors.ts';
import { countAbsences } from './vendors.ts';

/** A commit takes no further page after this many milliseconds, because deliveries wait for its end. */
const longEnough = 10;

/** How often the progress of a run is recorded while nothing changes, in milliseconds. */
const progressEvery = 1_000;

/** Absences that one transaction stores: few enough to go unnoticed. */
const absencesTogether = 100;

/** An absence, and the evidence that proves it. */
export interface ProvenAbsence {
  readonly vendorid: number;
  readonly evidence: AbsenceEvidence;
  /** Of the read by id, or from before the sweep. */
  readonly stamp: ReadStamp;
}

/** How many absences may be stored. */
export interface AbsenceAllowance {
  /** Together with those since `since` (mirror time) that no person approved. */
  readonly bound: number;
  readonly since: number;
  /** So many at once, because a person approved them. */
  readonly approved: number;
}

/** A record that is to be applied. */
interface ReadById {
  readonly reading: VendorReading;
  readonly context: ReadingContext | SweepContext;
}

const vendorOf = ({ reading, context }: ReadById): string =>
  keyText({ account_id: context.accountId, vendorid: reading.row.vendorid });

export interface ReadingParts {
  readonly copies: LaggingCopies;
  readonly writer: ReadingWriter;
  readonly runs: Pick<Runs, 'progress'>;
  readonly findings: Pick<Findings, 'add'>;
  readonly marks: Pick<Marks, 'isAnnounced'>;
  readonly deliveries: Pick<Deliveries, 'acceptedCount' | 'lastUnanswered'>;
  readonly queue: Pick<Queue, 'markedUntil' | 'answer'>;
}

export class Readings {
  readonly #database: Database;
  readonly #clock: Pick<Clock, 'monotonic' | 'yield'>;
  readonly #writer: ReadingWriter;
  readonly #copies: LaggingCopies;
  readonly #runs: ReadingParts['runs'];
  readonly #findings: ReadingParts['findings'];
  readonly #marks: ReadingParts['marks'];
  readonly #deliveries: ReadingParts['deliveries'];
  readonly #absences: ReturnType<typeof countAbsences>;
  readonly #queue: ReadingParts['queue'];
  readonly #applied: (read: ReadById) => Promise<Verdict>;
  /** When the progress of a run was last recorded, in monotonic time. */
  readonly #progress = new WeakMap<SweepContext['run'], number>();

  constructor(database: Database, clock: Pick<Clock, 'monotonic' | 'yield'>, parts: ReadingParts) {
    this.#database = database;
    this.#clock = clock;
    const { copies, writer, runs, findings, marks, deliveries, queue } = parts;
    this.#copies = copies;
    this.#writer = writer;
    this.#runs = runs;
    this.#findings = findings;
    this.#marks = marks;
    this.#deliveries = deliveries;
    this.#absences = countAbsences(database.connection);
    this.#queue = queue;
    this.#applied = together(database.connection, clock, (reads) => this.#applyReads(reads));
  }

  /**
   * Applies pages, each atomically, several in one commit, together with the progress of the run.
   * @param counts the counts of the run, given the verdicts of all pages that are applied by then
   * @returns the verdicts of each page, in the order of `pages`
   */
  async applyPages(
    pages: readonly VendorPage[],
    context: SweepContext,
    counts: (applied: readonly Verdicts[]) => RunCounts,
  ): Promise<Verdicts[]> {
    const known = new Map<VendorPage, Verdicts>();
    const applied = await this.#database.writeWithoutSync(async () => {
      const confirmed = new Map<VendorPage, Verdicts>();
      for (const page of pages) {
        const [{ verdicts, isWhole }] = await Promise.all([
          this.#writer.pages.confirm(page, context.accountId),
          this.#writer.showed(page, context.accountId),
        ]);
        if (isWhole) {
          confirmed.set(page, verdicts);
          await this.#answerByPage(page, await this.#markedBefore(page, context), verdicts, context);
        } else known.set(page, verdicts);
      }
      if (confirmed.size > 0 && this.#isProgressDue(context))
        this.#runs.progress(context.run.id, counts([...confirmed.values()]));
      return confirmed;
    });
    while (applied.size < pages.length) {
      const { acceptedCount } = this.#deliveries;
      await this.#letDeliveriesPass();
      // While deliveries arrive, a commit has only one page.
      const longest = this.#deliveries.acceptedCount === acceptedCount ? longEnough : 0;
      const write = (apart: boolean): Promise<Map<VendorPage, Verdicts>> =>
        this.#database.write(async () => {
          const end = this.#clock.monotonic() + longest;
          const together = new Map<VendorPage, Verdicts>();
          for (const page of pages) {
            if (applied.has(page)) continue;
            if (together.size > 0 && this.#clock.monotonic() >= end) break;
            together.set(page, await this.#applyPage(page, context, known.get(page) ?? new Map(), apart));
          }
          this.#runs.progress(context.run.id, counts([...applied.values(), ...together.values()]));
          return together;
        });
      // One unusable record must not prevent the others: its page is applied row by row.
      const news = await write(false).catch((error: unknown) => {
        if (!isRecordError(error)) throw error;
        return write(true);
      });
      for (const [page, verdicts] of news) applied.set(page, verdicts);
    }
    return pages.flatMap((page) => applied.get(page) ?? []);
  }

  /** The progress of pages that show nothing new is recorded only once a second. */
  #isProgressDue({ run }: SweepContext): boolean {
    const now = this.#clock.monotonic();
    const since = this.#progress.get(run) ?? now;
    const isDue = now - since >= progressEvery;
    if (isDue || since === now) this.#progress.set(run, now);
    return isDue;
  }

  /**
   * Lets waiting deliveries be written first: what arrived during the last commit is handled in the next turn of the event loop and written
   * at its end, so two turns pass.
   */
  async #letDeliveriesPass(): Promise<void> {
    await this.#clock.yield();
    await this.#clock.yield();
  }

  /** A sweep showed all vendors of the account but these as they are, or as no version before. */
  async settleCopies(accountId: string, lagging: readonly number[]): Promise<void> {
    if (!(await this.#database.read(() => this.#copies.areOpen(accountId)))) return;
    await this.#database.writeWithoutSync(() => this.#copies.settleOthers(accountId, lagging));
  }

  /** How old copies of the account's list are, in milliseconds; 0 where none was seen for a day. */
  copiesBehind(accountId: string): Promise<number> {
    return this.#database.read(() => this.#copies.behind(accountId));
  }

  /** Whether one of the rows shows a stored vendor: by its name, or by when it was created. */
  showsStored(rows: readonly VendorRow[], accountId: string): Promise<boolean> {
    return this.#database.read(() => this.#writer.showsStored(rows, accountId));
  }

  /** Whether most of the rows that have the number of a stored vendor show another one. */
  showsOthers(rows: readonly VendorRow[], accountId: string): Promise<boolean> {
    return this.#database.read(() => this.#writer.showsOthers(rows, accountId));
  }

  /** What the rows, of a list or of reads by id, would change if all were accepted. Writes nothing. */
  compareRows(rows: readonly VendorRow[], accountId: string, from: 'list' | 'ids'): Promise<Verdicts> {
    return this.#database.read(() => this.#writer.compare(rows, accountId, from === 'list'));
  }

  /**
   * Applies one record; an unusable one is rejected. One of another vendor (`isOther`) needs `isAccountAccepted`. On a server, those that come
   * at the same time, of all accounts, share a transaction.
   */
  applyReading(reading: VendorReading, context: ReadingContext | SweepContext): Promise<Verdict> {
    return this.#applied({ reading, context });
  }

  async #applyReads(reads: readonly ReadById[]): Promise<Verdict[]> {
    try {
      return await this.#database.write(async () => {
        const verdicts = new Map<ReadById, Verdict>();
        // Of one vendor, the second is judged by what the first left.
        for (let left = reads; left.length > 0; left = left.filter((read) => !verdicts.has(read))) {
          const firsts = [...new Map([...left].reverse().map((read) => [vendorOf(read), read])).values()].reverse();
          await each(this.#database.connection, firsts, async (read) =>
            verdicts.set(read, await this.#applyRead(read)),
          );
        }
        return reads.flatMap((read) => verdicts.get(read) ?? []);
      });
    } catch (error) {
      if (!isRecordError(error)) throw error;
      const [read, ...others] = reads;
      if (read && others.length === 0) return [rejectedVerdict(read.reading.row.vendorid, error)];
      // One unusable record must not prevent the others.
      return (await inOrder(reads, (one) => this.#applyReads([one]))).flat();
    }
  }

  async #applyRead({ reading: { row, stamp }, context }: ReadById): Promise<Verdict> {
    const { vendorid } = row;
    const verdict = await this.#account(vendorid, await this.#writer.record(row, stamp, context), context);
    await this.#answer(vendorid, verdict, stamp, context);
    return verdict;
  }

  /**
   * Applies second proofs of absence. What a person did not approve is counted and stored in one transaction, so that two processes together
   * stay within the bound.
   * @returns the verdicts, in the order of `absences`; undefined where there are more than are allowed: then none was applied
   */
  async applyAbsences(
    absences: readonly ProvenAbsence[],
    { bound, since, approved }: AbsenceAllowance,
    context: SweepContext,
  ): Promise<Verdict[] | undefined> {
    const isApproved = absences.length <= approved;
    const apply = async ({ vendorid, evidence, stamp }: ProvenAbsence): Promise<Verdict> =>
      this.#account(vendorid, await this.#writer.absence(vendorid, evidence, stamp, context, isApproved), context);
    if (!isApproved)
      return this.#database.write(async () => {
        const before = (await this.#absences.get({ account_id: context.accountId, since }))?.absences ?? 0;
        return before + absences.length > bound ? undefined : await inOrder(absences, apply);
      });
    const verdicts: Verdict[] = [];
    for (let from = 0; from < absences.length; from += absencesTogether)
      verdicts.push(
        ...(await this.#database.write(() => inOrder(absences.slice(from, from + absencesTogether), apply))),
      );
    return verdicts;
  }

  async #account(vendorid: number, verdict: Verdict, context: ReadingContext | SweepContext): Promise<Verdict> {
    if (!('run' in context) || (verdict.kind !== 'created' && verdict.kind !== 'updated')) return verdict;
    const { repeated } = verdict.kind === 'created' ? verdict.vendor : verdict;
    if (repeated)
      this.#findings.add(context.run.id, context.accountId, { kind: 'field_drift', vendorid, fields: { repeated } });
    if (!context.changeClassifier) return verdict;
    const key: VendorKey = { account_id: context.accountId, vendorid };
    const [marked, unanswered] = await Promise.all([
      this.#marks.isAnnounced(key),
      this.#deliveries.lastUnanswered(key),
    ]);
    const evidence: Evidence = { marked, unanswered };
    const finding = context.changeClassifier(vendorid, verdict, evidence);
    if (finding) this.#findings.add(context.run.id, context.accountId, finding);
    return verdict;
  }

  async #applyPage(page: VendorPage, context: SweepContext, known: Verdicts, apart: boolean): Promise<Verdicts> {
    const verdicts = await this.#writer.page(page, context, known, apart);
    const [marked] = await Promise.all([
      this.#markedBefore(page, context),
      each(this.#database.connection, [...verdicts], ([vendorid, verdict]) =>
        this.#account(vendorid, verdict, context),
      ),
    ]);
    for (const vendorid of contestedIds(page.rows))
      this.#findings.add(context.run.id, context.accountId, {
        kind: 'field_drift',
        vendorid,
        fields: { repeated: ['vendorid'] },
      });
    await this.#answerByPage(page, marked, verdicts, context);
    return verdicts;
  }

  /** The marks that a page of a list may answer. */
  async #markedBefore({ stamp }: VendorPage, { accountId, rest }: SweepContext): Promise<readonly OldMark[]> {
    return rest === undefined ? [] : await this.#queue.markedUntil(accountId, stamp.begun - rest);
  }

  /**
   * Settles the marks that a page of a list answered. Each of its records is a reading as good as one by id, unless lists leave fields out or
   * show them otherwise, or may, as where a read by id contradicted a list: then only a read by id answers, or, where one failed, the page does,
   * and what it leaves out stays to be read.
   */
  async #answerByPage(
    { stamp }: VendorPage,
    marked: readonly OldMark[],
    verdicts: Verdicts,
    context: SweepContext,
  ): Promise<void> {
    const { accountId } = context;
    if (marked.length === 0) return;
    const { lacksDetails, isOfFew } = await this.#writer.lacking(accountId);
    const mayLack = lacksDetails || (context.readsById && context.mayLackDetails === true);
    for (const { vendorid, hasFailed, isGuarded } of marked) {
      const verdict = verdicts.get(vendorid);
      const isLeftToReads = mayLack || (context.readsById && (isGuarded || isOfFew(vendorid)));
      if (!verdict || (isLeftToReads && !hasFailed)) continue;
      const isAnswered = await this.#answer(vendorid, verdict, stamp, context);
      if (lacksDetails && isAnswered) this.#writer.doubtDetails({ account_id: accountId, vendorid });
    }
  }

  /**
   * Settles the marks that a reading answered: those that are older than it by the rest. What was not accepted answers nothing.
   * @returns whether it could answer any
   */
  async #answer(
    vendorid: number,
    verdict: Verdict,
    { begun }: ReadStamp,
    { accountId, rest }: ReadingContext,
  ): Promise<boolean> {
    const { kind } = verdict;
    if (rest === undefined || kind === 'stale' || kind === 'guarded' || kind === 'rejected') return false;
    await this.#queue.answer(
      { account_id: accountId, vendorid },
      begun - rest,
      isNews(verdict) ? 'applied' : 'unchanged',
    );
    return true;
  }
}
