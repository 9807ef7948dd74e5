/** The latest days of the view `webhook_health`. */
import { timestamp } from '../../domain/clock.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';
import type { WebhookHealthView } from '../tables/mirror-tables.ts';

/** Rows of the view, oldest first. */
export type WebhookDays = readonly WebhookHealthView[];

const day = 86_400_000;
const latest = 14;

/** Prepares the days with any activity in the two weeks before `now` (milliseconds since 1970), by account. */
export function webhookDays(sqlite: Sqlite): (accountId: string, now: number) => WebhookDays {
  const days = plainStatement<{ accountId: string; after: string }, WebhookHealthView>(
    sqlite,
    'SELECT * FROM webhook_health WHERE account_id = :accountId AND day > :after ORDER BY day',
  );
  return (accountId, now) => days.all({ accountId, after: timestamp(now - latest * day).slice(0, 10) });
}
