/** The state of the targets of outgoing webhooks, and of parked vendors. */
import { inOrder } from '../../domain/concurrency.ts';
import { parseInstant } from '../../domain/clock.ts';
import { limits } from '../../domain/limits.ts';
import { statement, type Connection, type None } from '../sql/statement.ts';
import { cursorParts, lastSeq } from './feed-cursor.ts';

export interface TargetReport {
  readonly target: string;
  readonly began_at: string;
  /** When its receiver last accepted a message; null before the first. */
  readonly delivered_at: string | null;
  /** When the first delivery since then failed; null where none did. */
  readonly failing_since: string | null;
  readonly last_error: string | null;
  /** When its receiver answered 410; null while it accepts messages. */
  readonly disabled_at: string | null;
  /** Vendors with changes that it has not received, without those that were given up; of a target that is far behind, at least so many. */
  readonly waiting: number;
  readonly parked: number;
  /** Why the latest of those that were given up was not accepted; null where none was given up. */
  readonly parked_error: string | null;
  readonly behind: number;
  /** When the oldest waiting change was learned; null where none waits. Parked vendors do not count. */
  readonly oldest_waiting: string | null;
}

export interface ParkedVendor {
  readonly target: string;
  readonly account_id: string;
  readonly vendorid: number;
  /** When the first undelivered change was learned. */
  readonly since: string;
  readonly attempts: number;
  readonly last_error: string | null;
}

/** All targets that the mirror knows, even if the settings no longer name them. */
export async function targetReports(db: Connection): Promise<TargetReport[]> {
  const all = statement(db)<None, Omit<TargetReport, 'behind'> & { place: string }>`
    SELECT t.target, t.place, t.began_at, t.delivered_at, t.failing_since, t.last_error, t.disabled_at,
      (SELECT count(*) FROM _notify_queue q WHERE q.target = t.target AND q.due_ms IS NOT NULL) AS waiting,
      (SELECT count(*) FROM _notify_queue q WHERE q.target = t.target AND q.due_ms IS NULL) AS parked,
      (SELECT q.last_error FROM _notify_queue q WHERE q.target = t.target AND q.due_ms IS NULL
        ORDER BY q.since DESC, q.vendorid DESC LIMIT 1) AS parked_error,
      (SELECT min(q.since) FROM _notify_queue q WHERE q.target = t.target AND q.due_ms IS NOT NULL) AS oldest_waiting
    FROM _notify_targets t ORDER BY t.target`;
  const after = statement(db)<{ seq: number }, { at: string }>`
    SELECT valid_from AS at FROM _vendor_versions WHERE seq > ${'seq'} ORDER BY seq LIMIT 1`;
  // Nothing is put into the queue of a target that answered 410, or has a thousand vendors in it.
  const notQueued = statement(db)<{ target: string; seq: number }, { vendors: number }>`
    SELECT count(*) AS vendors FROM (
      SELECT DISTINCT account_id, vendorid
      FROM (SELECT account_id, vendorid FROM _vendor_versions WHERE seq > ${'seq'} ORDER BY seq LIMIT ${limits.rowsSearched}) AS next
    ) v WHERE NOT EXISTS (
      SELECT 1 FROM _notify_queue q
      WHERE q.target = ${'target'} AND q.account_id = v.account_id AND q.vendorid = v.vendorid)`;
  const last = await lastSeq(db);
  return inOrder(await all.all({}), async ({ place, ...report }) => {
    const seq = cursorParts(place)?.seq ?? 0;
    return {
      ...report,
      waiting: report.waiting + ((await notQueued.get({ target: report.target, seq }))?.vendors ?? 0),
      behind: Math.max(0, last - seq),
      oldest_waiting: report.oldest_waiting ?? (await after.get({ seq }))?.at ?? null,
    };
  });
}

/** How long the oldest change has waited, in milliseconds; 0 where none waits. */
export function lagOf({ oldest_waiting: oldest }: Pick<TargetReport, 'oldest_waiting'>, now: number): number {
  return oldest === null ? 0 : Math.max(0, now - (parseInstant(oldest) ?? now));
}

/** Parked vendors, the oldest first. */
export function parkedVendors(db: Connection, limit: number): Promise<ParkedVendor[]> {
  return statement(db)<{ limit: number }, ParkedVendor>`
    SELECT target, account_id, vendorid, since, attempts, last_error FROM _notify_queue
    WHERE due_ms IS NULL ORDER BY since, target, account_id, vendorid LIMIT +${'limit'}`.all({ limit });
}
