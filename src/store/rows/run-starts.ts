/** When runs began, where that is known: the clock may have been set back since. */
import { parseInstant } from '../../domain/clock.ts';
import type { Run } from '../records/run-record.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { ClockSetBackLog } from './reading-counter.ts';

export class RunStarts {
  readonly #setBacks: Pick<ClockSetBackLog, 'wasSince'>;
  readonly #before: Statement<{ account_id: string; read_seq: number }, { began: string; seq: number | null }>;

  constructor(sqlite: Sqlite, setBacks: Pick<ClockSetBackLog, 'wasSince'>) {
    this.#setBacks = setBacks;
    this.#before = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('accounts')
        .leftJoin('runs', (join) =>
          join.onRef('runs.account_id', '=', 'accounts.account_id').on('runs.began_seq', '<', at('read_seq')),
        )
        .select((row) => [row.fn.coalesce('runs.started_at', 'accounts.added_at').as('began'), 'runs.began_seq as seq'])
        .where('accounts.account_id', '=', at('account_id'))
        .orderBy('runs.id', 'desc')
        .limit(1),
    );
  }

  /**
   * When the last run before the reading of that number began, or the account was added where there is none; in milliseconds since 1970.
   * Undefined where the clock was set back since, by an unknown amount.
   */
  startBefore(account_id: string, read_seq: number, now: number): number | undefined {
    const found = this.#before.get({ account_id, read_seq });
    const moment = parseInstant(found?.began ?? '');
    // Which number was the last when the account was added is not recorded.
    if (moment === undefined || moment > now || this.#setBacks.wasSince(found?.seq ?? -1)) return undefined;
    return moment;
  }

  /** When a run began; undefined in the same case. */
  startOf({ startedAt, began }: Pick<Run, 'startedAt' | 'began'>): number | undefined {
    return this.#setBacks.wasSince(began.readSeq) ? undefined : startedAt;
  }
}
