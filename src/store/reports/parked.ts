/** Why vendors are parked. In plain SQL, so that commands need not load the query builder. */
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';

export interface ParkedReason {
  /** The error of the last attempt; null where there is none. */
  readonly error: string | null;
  readonly vendors: number;
}

/** Prepares the reasons of an account's parked vendors, the most frequent first. */
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
