/** What an account hears by webhooks, and what it does not: plain SQL, for the reason of reports.ts. */
import type { Sqlite } from '../sqlite/driver.ts';

export interface DeliveryMoments {
  /** When the oldest open mark was made; null where the queue is empty. */
  readonly oldestMark: string | null;
  /** When the last signed delivery came; null if none ever did. */
  readonly lastDelivery: string | null;
}

export interface ReceivedDeliveries extends DeliveryMoments {
  /** Changes that sweeps have found since, and that nobody has announced; counted up to 10,000. */
  readonly missedSince: number;
}

/** Beyond this the number says nothing more, and counting would take long. */
const mostMissed = 10_000;

interface Moment {
  readonly at: string | null;
}

/** Each found by an index. */
export function deliveryMoments(sqlite: Sqlite): (accountId: string) => DeliveryMoments {
  const oldest = sqlite.prepare<[string], Moment>(
    'SELECT min(marked_at) AS at FROM dirty_vendors WHERE account_id = ?',
  );
  const last = sqlite.prepare<[string], Moment>('SELECT max(received_at) AS at FROM deliveries WHERE account_id = ?');
  return (account) => ({
    oldestMark: oldest.get(account)?.at ?? null,
    lastDelivery: last.get(account)?.at ?? null,
  });
}

export function receivedDeliveriesOf(sqlite: Sqlite): (accountId: string) => ReceivedDeliveries {
  const moments = deliveryMoments(sqlite);
  const missed = sqlite.prepare<[string, string, number], { count: number }>(`
    SELECT count(*) AS count FROM (
      SELECT 1 FROM findings
      WHERE account_id = ? AND kind IN ('missed_create', 'missed_update', 'missed_delete', 'missed_restore')
        AND explained_at IS NULL AND found_at > ?
      LIMIT ?)`);
  return (account) => {
    const known = moments(account);
    return { ...known, missedSince: missed.get(account, known.lastDelivery ?? '', mostMissed)?.count ?? 0 };
  };
}
