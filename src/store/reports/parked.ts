/** Why marked vendors were given up: plain SQL, for the reason of reports.ts. */
import type { Sqlite } from '../sqlite/driver.ts';

export interface ParkedReason {
  /** What the last attempt met; null where it left no word. */
  readonly error: string | null;
  readonly vendors: number;
}

/** The reasons of an account's parked vendors, the most frequent first. */
export function parkedReasons(sqlite: Sqlite): (accountId: string) => ParkedReason[] {
  const reasons = sqlite.prepare<[string], ParkedReason>(`
    SELECT last_error AS error, count(*) AS vendors FROM dirty_vendors
    WHERE account_id = ? AND due_at IS NULL
    GROUP BY last_error
    ORDER BY vendors DESC, last_error`);
  return (account) => reasons.all(account);
}
