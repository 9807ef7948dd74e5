/** Why marked vendors were given up. */
import type { Sqlite } from './driver.ts';
import { mirrorSql, statement } from './statement.ts';

export interface ParkedReason {
  /** What the last attempt met; null where it left no word. */
  readonly error: string | null;
  readonly vendors: number;
}

/** The reasons of an account's parked vendors, the most frequent first. */
export function parkedReasons(sqlite: Sqlite): (accountId: string) => ParkedReason[] {
  const reasons = statement<{ account: string }, ParkedReason>(sqlite, (at) =>
    mirrorSql
      .selectFrom('dirty_vendors')
      .select((row) => ['last_error as error', row.fn.countAll<number>().as('vendors')])
      .where('account_id', '=', at.account)
      .where('due_at', 'is', null)
      .groupBy('last_error')
      .orderBy('vendors', 'desc')
      .orderBy('last_error'),
  );
  return (account) => reasons.all({ account });
}
