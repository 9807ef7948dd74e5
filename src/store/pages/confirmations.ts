/**
 * Pages that showed vendors unchanged write no vendor rows. They are recorded here for a while, so that an older reading that is applied
 * later cannot replace what they confirmed.
 */
import { sql } from 'kysely';
import type { Sqlite } from '../sqlite/driver.ts';
import type { VendorKey } from '../tables/vendor-tables.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';

/** More readings than can be under way at once; older ones can no longer arrive. */
const kept = 10_000;
/** Older ones are removed after this many new readings: where they stand, other pages of the file are written. */
const untilPruned = 1_000;

export class Confirmations {
  readonly #insert: Statement<{ read_seq: number; account_id: string; vendorids: string }>;
  readonly #prune: Statement<{ read_seq: number }>;
  readonly #later: Statement<VendorKey & { read_seq: number }, { read_seq: number }>;

  /** The number of the reading at which they were last removed. */
  #prunedAt = -Infinity;

  constructor(sqlite: Sqlite) {
    this.#insert = statement(sqlite, (at) =>
      mirrorSql
        .insertInto('page_confirmations')
        .values({ read_seq: at('read_seq'), account_id: at('account_id'), vendorids: at('vendorids') })
        .onConflict((conflict) => conflict.column('read_seq').doUpdateSet({ vendorids: at('vendorids') })),
    );
    this.#prune = statement(sqlite, (at) =>
      mirrorSql.deleteFrom('page_confirmations').where('read_seq', '<', at('read_seq')),
    );
    this.#later = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('page_confirmations')
        .select('read_seq')
        .where('account_id', '=', at('account_id'))
        .where('read_seq', '>', at('read_seq'))
        .where(sql<boolean>`${at('vendorid')} IN (SELECT value FROM json_each(vendorids))`)
        .limit(1),
    );
  }

  /** Records the vendors that the page of that number confirmed; a repetition replaces the previous record. */
  add(accountId: string, readSeq: number, vendorids: Iterable<number>): void {
    if (readSeq - this.#prunedAt >= untilPruned) {
      this.#prune.run({ read_seq: readSeq - kept });
      this.#prunedAt = readSeq;
    }
    this.#insert.run({ read_seq: readSeq, account_id: accountId, vendorids: JSON.stringify([...vendorids]) });
  }

  /** Whether a page with a number above `readSeq` confirmed the vendor. */
  hasLater(key: VendorKey, readSeq: number): boolean {
    return this.#later.get({ ...key, read_seq: readSeq }) !== undefined;
  }
}
