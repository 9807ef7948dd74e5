/** What an account hears by webhooks, and what it does not. */
import { sql } from 'kysely';
import type { Sqlite } from './driver.ts';
import { mirrorSql, statement } from './statement.ts';
import type { WebhookHealthView } from './tables.ts';

export interface Hearing {
  /** When the oldest open mark was made; null where the queue is empty. */
  readonly oldestMark: string | null;
  /** When the last signed delivery came; null if none ever did. */
  readonly lastDelivery: string | null;
  /** Changes that sweeps have found since, and that nobody has announced. */
  readonly missedSince: number;
  /** Rows of `webhook_health`, oldest first. */
  readonly days: readonly WebhookHealthView[];
}

/** Days of `webhook_health` that are told. */
const latestDays = 14;

export function hearingOf(sqlite: Sqlite): (accountId: string) => Hearing {
  interface Of {
    account: string;
  }
  const oldest = statement<Of, { at: string | null }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('dirty_vendors')
      .select((row) => row.fn.min('marked_at').as('at'))
      .where('account_id', '=', at.account),
  );
  const last = statement<Of, { at: string | null }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('deliveries')
      .select((row) => row.fn.max('received_at').as('at'))
      .where('account_id', '=', at.account),
  );
  const missed = statement<Of & { since: string }, { count: number }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('findings')
      .select((row) => row.fn.countAll<number>().as('count'))
      .where('account_id', '=', at.account)
      .where('kind', 'in', ['missed_create', 'missed_update', 'missed_delete', 'missed_restore'])
      .where('explained_at', 'is', null)
      .where('found_at', '>', at.since),
  );
  const days = statement<Of, WebhookHealthView>(sqlite, (at) =>
    mirrorSql
      .selectFrom('webhook_health')
      .selectAll()
      .where('account_id', '=', at.account)
      .orderBy(sql`day DESC`)
      .limit(latestDays),
  );
  return (account) => {
    const lastDelivery = last.get({ account })?.at ?? null;
    return {
      oldestMark: oldest.get({ account })?.at ?? null,
      lastDelivery,
      missedSince: missed.get({ account, since: lastDelivery ?? '' })?.count ?? 0,
      days: days.all({ account }).reverse(),
    };
  };
}
