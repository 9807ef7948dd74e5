/** What an account hears by webhooks, and what it does not: plain SQL, for the reason of reports.ts. */
import type { Sqlite } from './driver.ts';

export interface Hearing {
  /** When the oldest open mark was made; null where the queue is empty. */
  readonly oldestMark: string | null;
  /** When the last signed delivery came; null if none ever did. */
  readonly lastDelivery: string | null;
  /** Changes that sweeps have found since, and that nobody has announced. */
  readonly missedSince: number;
}

interface Moment {
  readonly at: string | null;
}

export function hearingOf(sqlite: Sqlite): (accountId: string) => Hearing {
  const oldest = sqlite.prepare<[string], Moment>(
    'SELECT min(marked_at) AS at FROM dirty_vendors WHERE account_id = ?',
  );
  const last = sqlite.prepare<[string], Moment>('SELECT max(received_at) AS at FROM deliveries WHERE account_id = ?');
  const missed = sqlite.prepare<[string, string], { count: number }>(`
    SELECT count(*) AS count FROM findings
    WHERE account_id = ? AND kind IN ('missed_create', 'missed_update', 'missed_delete', 'missed_restore')
      AND explained_at IS NULL AND found_at > ?`);
  return (account) => {
    const lastDelivery = last.get(account)?.at ?? null;
    return {
      oldestMark: oldest.get(account)?.at ?? null,
      lastDelivery,
      missedSince: missed.get(account, lastDelivery ?? '')?.count ?? 0,
    };
  };
}
