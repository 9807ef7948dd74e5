/** Why marked vendors were given up: plain SQL, so that nobody waits for the query builder to load. */
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';

export interface ParkedReason {
  /** What the last attempt met; null where it left no word. */
  readonly error: string | null;
  readonly vendors: number;
}

/** The reasons of an account's parked vendors, the most frequent first. */
export function parkedReasons(sqlite: Sqlite): (accountId: string) => ParkedReason[] {
  const reasons = plainStatement<{ accountId: string }, ParkedReason>(
    sqlite,
    `
    SELECT last_error AS error, count(*) AS vendors FROM dirty_vendors
    WHERE account_id = :accountId AND due_at IS NULL
    GROUP BY last_error
    ORDER BY vendors DESC, last_error`,
  );
  return (accountId) => reasons.all({ accountId });
}
