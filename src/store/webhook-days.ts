/** The latest days of the view `webhook_health`. It counts through the whole journal: it is asked once, for all accounts. */
import { timestamp } from '../clock.ts';
import type { Sqlite } from './driver.ts';
import type { WebhookHealthView } from './tables.ts';

/** Rows of the view by account, oldest first. */
export type WebhookDays = ReadonlyMap<string, readonly WebhookHealthView[]>;

const day = 86_400_000;
const told = 14;

/** The days of the two weeks before `now`, milliseconds since 1970, on which anything happened. */
export function webhookDays(sqlite: Sqlite, now: number): WebhookDays {
  const rows = sqlite
    .prepare<[string], WebhookHealthView>('SELECT * FROM webhook_health WHERE day > ? ORDER BY day')
    .all(timestamp(now - told * day).slice(0, 10));
  const days = new Map<string, WebhookHealthView[]>();
  for (const row of rows) days.set(row.account_id, [...(days.get(row.account_id) ?? []), row]);
  return days;
}
