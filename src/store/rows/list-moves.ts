/** Whether the list of an account moves, by its latest complete runs. */
import { sql } from 'kysely';
import type { Sqlite } from '../sqlite/driver.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';

/** Of the latest complete runs that walked the list: how many saw it move, and how many those are. */
export interface ListMoves {
  readonly moved: number;
  readonly walked: number;
}

const latestRuns = 5;

export function listMoves(sqlite: Sqlite): (accountId: string) => ListMoves {
  const latest = statement<{ account_id: string }, ListMoves>(sqlite, (at) =>
    mirrorSql
      .selectFrom((from) =>
        from
          .selectFrom('runs')
          .select('list_moved')
          .where('account_id', '=', at('account_id'))
          .where('outcome', '=', 'complete')
          .where('list_moved', 'is not', null)
          .orderBy('id', 'desc')
          .limit(latestRuns)
          .as('latest'),
      )
      .select((row) => [sql<number>`coalesce(sum(list_moved), 0)`.as('moved'), row.fn.countAll<number>().as('walked')]),
  );
  return (accountId) => latest.get({ account_id: accountId }) ?? { moved: 0, walked: 0 };
}
