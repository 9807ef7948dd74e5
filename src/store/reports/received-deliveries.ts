/** Received deliveries of an account, and changes that none announced. In plain SQL, so that commands need not load the query builder. */
import { withoutBlobs } from '../sqlite/blobs.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement, type OfAccount } from '../sqlite/plain-statement.ts';

export interface ReceivedDeliveries {
  /** When the oldest open mark was made; null where the queue is empty. */
  readonly oldestMark: string | null;
  /** When the last signed delivery came; null if none ever did. */
  readonly lastDelivery: string | null;
  /** Changes that sweeps found since and no delivery announced; at most 1,000. */
  readonly missedSince: number;
}

/** A higher count adds no information, and counting would take long. */
const mostMissed = 1_000;

interface Moment {
  readonly at: string | null;
}

/** Prepares lookups by index. */
export function receivedDeliveriesOf(sqlite: Sqlite): (accountId: string) => ReceivedDeliveries {
  const oldest = plainStatement<OfAccount, Moment>(
    sqlite,
    'SELECT min(marked_at) AS at FROM dirty_vendors WHERE account_id = :accountId',
  );
  const last = plainStatement<OfAccount, Moment>(
    sqlite,
    'SELECT max(received_at) AS at FROM deliveries WHERE account_id = :accountId',
  );
  const missed = plainStatement<OfAccount & { after: string; most: number }, { count: number }>(
    sqlite,
    `
    SELECT count(*) AS count FROM (
      SELECT 1 FROM findings
      WHERE account_id = :accountId AND kind IN ('missed_create', 'missed_update', 'missed_delete', 'missed_restore')
        AND explained_at IS NULL AND found_at > :after
      LIMIT :most)`,
  );
  return (accountId) => {
    const lastDelivery = last.get({ accountId })?.at ?? null;
    const found = missed.get({ accountId, after: lastDelivery ?? '', most: mostMissed });
    const oldestMark = oldest.get({ accountId })?.at ?? null;
    return withoutBlobs({ oldestMark, lastDelivery, missedSince: found?.count ?? 0 });
  };
}
