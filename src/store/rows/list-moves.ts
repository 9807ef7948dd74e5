/** Whether the list of an account changed during its latest complete runs. */
import { sql } from 'kysely';
import type { Sqlite } from '../sqlite/driver.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { ListMoves } from '../records/run-record.ts';

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
