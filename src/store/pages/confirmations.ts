/**
 * Pages that showed vendors unchanged write no vendor row. What they saw stands here for a while, so that an older reading,
 * still under way while such a page was applied, cannot pass it.
 */
import { sql } from 'kysely';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Key } from '../rows/stored-vendor.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';

/** More readings than can be under way at once; what is older can have nothing left to pass. */
const kept = 10_000;

export class Confirmations {
  readonly #insert: Statement<{ read_seq: number; account_id: string; vendorids: string }>;
  readonly #prune: Statement<{ read_seq: number }>;
  readonly #later: Statement<Key & { read_seq: number }, { read_seq: number }>;

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

  /** Writes down all that the page of that number showed as we hold it; said again, it takes the place of what was said before. */
  add(accountId: string, readSeq: number, vendorids: Iterable<number>): void {
    this.#prune.run({ read_seq: readSeq - kept });
    this.#insert.run({ read_seq: readSeq, account_id: accountId, vendorids: JSON.stringify([...vendorids]) });
  }

  /** Whether a page with a higher number than `readSeq` showed the vendor as we hold it. */
  hasLater(key: Key, readSeq: number): boolean {
    return this.#later.get({ ...key, read_seq: readSeq }) !== undefined;
  }
}
