/**
 * What pages confirm: vendors shown as they are stored write no row, and are recorded so that an older reading cannot replace what they
 * showed.
 *
 * A vendor that one page shows twice, and not alike, is confirmed by neither.
 *
 * They are kept for the next 10,000 readings.
 */
import type { VendorPage, VendorRow } from '../domain/reading.ts';
import { forgottenVerdict, unchangedVerdict, type Verdict } from './acceptance.ts';
import { Operations, asking, columns, mirrorSql, statement, type Connection } from './sql/statement.ts';
import type { VendorKey } from './sql/schema.ts';
import type { ForgottenVendors, VendorRows } from './vendors.ts';

interface Confirmed {
  readonly verdicts: ReadonlyMap<number, Verdict>;
  /** Whether these are the verdicts on all rows of the page. */
  readonly isWhole: boolean;
}

/** More readings than can be under way at once; older ones can no longer arrive. */
const kept = 10_000;
/** Older ones are removed after this many new readings: where they stand, other pages of the file are written. */
const untilPruned = 1_000;

export class PageConfirmations extends Operations {
  readonly #rows: VendorRows;
  readonly #forgotten: ForgottenVendors;
  readonly #insert = statement<{ read_seq: number; account_id: string; vendorids: string }>(this.db, (at) =>
    mirrorSql
      .insertInto('_page_confirmations')
      .values(columns(at, ['read_seq', 'account_id', 'vendorids']))
      .onConflict((conflict) => conflict.column('read_seq').doUpdateSet({ vendorids: at('vendorids') })),
  );
  readonly #prune = statement(this.db)<{
    read_seq: number;
  }>`DELETE FROM _page_confirmations WHERE read_seq < ${'read_seq'}`;
  readonly #later = statement(this.db)<VendorKey & { read_seq: number }, { read_seq: number }>`
      SELECT read_seq FROM _page_confirmations
      WHERE account_id = ${'account_id'} AND read_seq > ${'read_seq'}
        AND ${'vendorid'} IN (SELECT value FROM json_each(vendorids)) LIMIT 1`;

  /** The number of the reading at which they were last removed. */
  #prunedAt = -Infinity;

  constructor(db: Connection, rows: VendorRows, forgotten: ForgottenVendors) {
    super(db);
    this.#rows = rows;
    this.#forgotten = forgotten;
  }

  /**
   * Records which rows of a page show their vendors as they are stored. Runs inside a transaction. Stops at the first unknown vendor: the
   * remaining rows are looked up where they are written.
   * @returns the verdicts on the recorded rows.
   */
  async confirm({ rows, stamp }: VendorPage, accountId: string): Promise<Confirmed> {
    const verdicts = new Map<number, Verdict>();
    const different = new Set<number>();
    let isWhole = true;
    const contested = contestedIds(rows);
    const lookUp = asking(this.db, rows, (row) => this.#rows.lookUp(accountId, row));
    for (const row of rows) {
      const { vendorid } = row;
      if (contested.has(vendorid)) {
        isWhole = false;
        continue;
      }
      // Of two rows of one vendor the first counts.
      if (verdicts.has(vendorid) || different.has(vendorid)) continue;
      const stored = await lookUp(row);
      if (stored?.same) verdicts.set(vendorid, unchangedVerdict(stored));
      else if (!stored && (await this.#forgotten.has({ account_id: accountId, vendorid }))) {
        verdicts.set(vendorid, forgottenVerdict);
        continue;
      } else isWhole = false;
      if (!stored) break;
      if (!stored.same) different.add(vendorid);
    }
    // No older reading may replace these, even before the other rows are applied.
    if (verdicts.size > 0) this.add(accountId, stamp.readSeq, verdicts.keys());
    return { verdicts, isWhole };
  }

  /** Records the vendors that the page of that number confirmed; a repetition replaces the previous record. Runs inside a transaction. */
  add(accountId: string, readSeq: number, vendorids: Iterable<number>): void {
    if (readSeq - this.#prunedAt >= untilPruned) {
      this.#prune.send({ read_seq: readSeq - kept });
      this.#prunedAt = readSeq;
    }
    this.#insert.send({ read_seq: readSeq, account_id: accountId, vendorids: JSON.stringify([...vendorids]) });
  }

  /** Whether a page with a number above `readSeq` confirmed the vendor. */
  async hasLater(key: VendorKey, readSeq: number): Promise<boolean> {
    return (await this.#later.get({ ...key, read_seq: readSeq })) !== undefined;
  }
}

/** The vendors that a page shows twice, and not alike. */
export function contestedIds(rows: readonly VendorRow[]): ReadonlySet<number> {
  const first = new Map<number, VendorRow>();
  const contested = new Set<number>();
  for (const row of rows) {
    const before = first.get(row.vendorid);
    if (!before) first.set(row.vendorid, row);
    else if (before.raw !== row.raw) contested.add(row.vendorid);
  }
  return contested;
}
