/**
 * Digests of what pages showed: one row for each page of each list. That a page is known says nothing about its vendors: whether they are still
 * stored as it showed them is checked when the page is applied.
 */
import type { KnownPage, PageDigests, PagePlace, Stretch } from '../../domain/reading.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { PageDigestTable } from '../tables/mirror-tables.ts';

type Place = Pick<PageDigestTable, 'account_id' | 'list' | 'page'>;

export class PageDigestRows {
  readonly #find: Statement<Place, Pick<PageDigestTable, 'read_seq' | 'stretches'>>;
  readonly #put: Statement<PageDigestTable>;
  readonly #dropAfter: Statement<Place>;

  constructor(sqlite: Sqlite) {
    this.#find = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('_page_digests')
        .select(['read_seq', 'stretches'])
        .where('account_id', '=', at('account_id'))
        .where('list', '=', at('list'))
        .where('page', '=', at('page')),
    );
    this.#put = statement(sqlite, (at) =>
      mirrorSql
        .insertInto('_page_digests')
        .values({
          account_id: at('account_id'),
          list: at('list'),
          page: at('page'),
          read_seq: at('read_seq'),
          stretches: at('stretches'),
        })
        .onConflict((conflict) =>
          conflict
            .columns(['account_id', 'list', 'page'])
            .doUpdateSet({ read_seq: at('read_seq'), stretches: at('stretches') }),
        ),
    );
    this.#dropAfter = statement(sqlite, (at) =>
      mirrorSql
        .deleteFrom('_page_digests')
        .where('account_id', '=', at('account_id'))
        .where('list', '=', at('list'))
        .where('page', '>', at('page')),
    );
  }

  find(accountId: string, place: PagePlace): KnownPage {
    const row = this.#find.get(rowOf(accountId, place));
    return row
      ? { place, readSeq: row.read_seq, stretches: stretchesIn(row.stretches) }
      : { place, readSeq: 0, stretches: [] };
  }

  /**
   * Records what a page showed, and how many pages its list has. Runs inside the transaction that stores its vendors as shown.
   */
  put(accountId: string, { place, stretches }: PageDigests, readSeq: number, pages: number): void {
    const row = rowOf(accountId, place);
    this.#put.run({ ...row, read_seq: readSeq, stretches: textOf(stretches) });
    this.#dropAfter.run({ ...row, page: Math.max(place.page, pages) });
  }
}

/** Makes the next sweep compare all pages of an account row by row, because vendors were changed without a reading. Runs inside a transaction. */
export function dropPageDigests(sqlite: Sqlite, account_id: string): void {
  statement<{ account_id: string }>(sqlite, (at) =>
    mirrorSql.deleteFrom('_page_digests').where('account_id', '=', at('account_id')),
  ).run({ account_id });
}

function rowOf(account_id: string, { visState, page }: PagePlace): Place {
  return { account_id, list: visState ?? -1, page };
}

function textOf(stretches: readonly Stretch[]): string {
  return JSON.stringify(stretches.map(({ length, digest, vendorids }) => [length, digest, vendorids]));
}

function stretchesIn(text: string): Stretch[] {
  const rows = JSON.parse(text) as [length: number, digest: string, vendorids: number[]][];
  return rows.map(([length, digest, vendorids]) => ({ length, digest, vendorids }));
}
