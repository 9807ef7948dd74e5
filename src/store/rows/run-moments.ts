/** When runs began, by the clock of today, although that may have been set back since. */
import { parseInstant } from '../../domain/clock.ts';
import type { Run } from '../records/run-record.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { SetBacks } from './reading-counter.ts';

export class RunMoments {
  readonly #setBacks: Pick<SetBacks, 'since'>;
  readonly #before: Statement<{ account_id: string; read_seq: number }, { began: string; seq: number | null }>;

  constructor(sqlite: Sqlite, setBacks: Pick<SetBacks, 'since'>) {
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
   * When the last run of an account began that was before the reading of that number; before all runs, when the account was added: in
   * milliseconds since 1970.
   * Undefined where that is not known, or where it is later than `now`: the clock was set back by nobody knows how much.
   */
  before(account_id: string, read_seq: number, now: number): number | undefined {
    const found = this.#before.get({ account_id, read_seq });
    const moment = parseInstant(found?.began ?? '');
    // Nobody knows which number was the last when the account was added.
    const setBack = this.#setBacks.since(found?.seq ?? -1);
    if (moment === undefined || setBack === undefined) return undefined;
    return moment - setBack <= now ? moment - setBack : undefined;
  }

  /** When a run began, in the same way. */
  began({ startedAt, beganSeq }: Pick<Run, 'startedAt' | 'beganSeq'>): number | undefined {
    const setBack = this.#setBacks.since(beganSeq);
    return setBack === undefined ? undefined : startedAt - setBack;
  }
}
