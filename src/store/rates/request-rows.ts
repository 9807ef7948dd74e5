/** The rows of `_requests`: requests that still count for their rate limit. Everything runs inside a transaction. */
import type { RateDemand } from '../../domain/rate-reservation.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { RequestTable } from '../tables/mirror-tables.ts';

/** What a rate limit is for. */
export type RequestScope = Pick<RequestTable, 'account_id' | 'family'>;

type RequestKey = RequestScope & Pick<RequestTable, 'read_seq'>;

export type RequestEnd = RequestKey & Pick<RequestTable, 'counts_until_ms'>;

export interface RateUsage {
  readonly used: number;
  /** Mirror time when the next place becomes free; null for none. */
  readonly next: number | null;
}

export class RequestRows {
  readonly #add: Statement<RequestTable>;
  readonly #removeOver: Statement<RequestScope & { now: number }>;
  readonly #usage: Statement<RequestScope & { now: number }, RateUsage>;
  readonly #overdue: Statement<RequestScope & { now: number }, Pick<RequestTable, 'read_seq' | 'process'>>;
  readonly #remove: Statement<RequestKey>;
  readonly #end: Statement<RequestEnd>;

  constructor(sqlite: Sqlite) {
    this.#add = statement(sqlite, (at) =>
      mirrorSql.insertInto('_requests').values({
        account_id: at('account_id'),
        family: at('family'),
        read_seq: at('read_seq'),
        counts_until_ms: at('counts_until_ms'),
        process: at('process'),
      }),
    );
    this.#removeOver = statement(sqlite, (at) =>
      mirrorSql
        .deleteFrom('_requests')
        .where('account_id', '=', at('account_id'))
        .where('family', '=', at('family'))
        .where('counts_until_ms', '<=', at('now'))
        .where('process', 'is', null),
    );
    this.#usage = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('_requests')
        .select((row) => [
          row.fn.countAll<number>().as('used'),
          row.fn.min('counts_until_ms').filterWhere('counts_until_ms', '>', at('now')).as('next'),
        ])
        .where('account_id', '=', at('account_id'))
        .where('family', '=', at('family')),
    );
    this.#overdue = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('_requests')
        .select(['read_seq', 'process'])
        .where('account_id', '=', at('account_id'))
        .where('family', '=', at('family'))
        .where('counts_until_ms', '<=', at('now')),
    );
    this.#remove = statement(sqlite, (at) =>
      mirrorSql
        .deleteFrom('_requests')
        .where('account_id', '=', at('account_id'))
        .where('family', '=', at('family'))
        .where('read_seq', '=', at('read_seq')),
    );
    this.#end = statement(sqlite, (at) =>
      mirrorSql
        .updateTable('_requests')
        .set({ counts_until_ms: at('counts_until_ms'), process: null })
        .where('account_id', '=', at('account_id'))
        .where('family', '=', at('family'))
        .where('read_seq', '=', at('read_seq')),
    );
  }

  add(request: RequestTable): void {
    this.#add.run(request);
  }

  /** The request counts until then and is no longer under way. */
  end(end: RequestEnd): void {
    this.#end.run(end);
  }

  remove(key: RequestKey): void {
    this.#remove.run(key);
  }

  /** Removes ended requests that no longer count. */
  removeOver(scope: RequestScope, now: number): void {
    this.#removeOver.run({ ...scope, now });
  }

  /** Requests that should have ended by now. */
  overdue(scope: RequestScope, now: number): Pick<RequestTable, 'read_seq' | 'process'>[] {
    return this.#overdue.all({ ...scope, now });
  }

  usage(scope: RequestScope, now: number): RateUsage {
    return this.#usage.get({ ...scope, now }) ?? { used: 0, next: null };
  }
}

export function scopeOf({ accountId, family }: Pick<RateDemand, 'accountId' | 'family'>): RequestScope {
  return { account_id: accountId, family };
}

export function scopeKey({ account_id, family }: RequestScope): string {
  return `${account_id} ${family}`;
}
