/** Pages of the change feed, with changed values and a cursor. Reads a few rows in each turn of the event loop. */
import type { Clock } from '../../domain/clock.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';
import type { Query } from '../sqlite/query.ts';
import { readChanges, type Change } from './change-feed.ts';
import { resolveCursor, cursorOf, latestCursor, type HistoryGone } from '../feed/feed-cursor.ts';

/** A field's value before and after, as in the view `vendor_changes`. */
export interface ChangedValue {
  readonly old: string | null;
  readonly new: string | null;
}

export interface FeedChange extends Change {
  /** The cursor that continues after this change. */
  readonly cursor: string;
  /** By field name; empty for a new vendor. */
  readonly values: Readonly<Record<string, ChangedValue>>;
}

export interface ChangePageFilter {
  readonly account?: string | undefined;
  readonly vendorid?: number | undefined;
  /** A cursor, or the plain `seq` of a change, which is not checked; undefined for everything that is kept. */
  readonly since?: string | undefined;
  readonly limit: number;
}

export interface ChangePage {
  readonly changes: readonly FeedChange[];
  /** The cursor that continues after this page, also for an empty one. */
  readonly cursor: string;
  /** Whether there may be more changes already. */
  readonly more: boolean;
}

/** Versions that are read in one turn of the event loop, and changes that are returned with their values. */
const readAtOnce = 500;
const returnedAtOnce = 50;

/** Versions that are read for one page; a page that is not full by then ends with a cursor to continue. */
const mostRead = 50_000;

/**
 * The first changes after a cursor that match the filter, oldest first; or why the cursor is invalid.
 * @throws the signal's reason as soon as it is aborted.
 */
export async function changePage(
  query: Query,
  clock: Pick<Clock, 'yield'>,
  filter: ChangePageFilter,
  signal?: AbortSignal,
): Promise<ChangePage | HistoryGone> {
  const changes: FeedChange[] = [];
  let cursor = filter.since;
  for (let read = 0; read < mostRead; read += readAtOnce) {
    signal?.throwIfAborted();
    const since = cursor;
    const limit = Math.min(returnedAtOnce, filter.limit - changes.length);
    const found = await query((sqlite) => slice(sqlite, { ...filter, since, limit }));
    if ('reason' in found) return found;
    changes.push(...found.changes);
    cursor = found.cursor;
    if (!found.more || changes.length >= filter.limit) return { ...found, changes };
    await clock.yield();
  }
  return { changes, cursor: cursor ?? '', more: true };
}

/** The cursor at the end of the feed. */
export function currentCursor(query: Query): Promise<string> {
  return query(latestCursor);
}

/** The part of a page that one turn reads. */
function slice(sqlite: Sqlite, filter: ChangePageFilter): ChangePage | HistoryGone {
  const { since = '0', account, vendorid, limit } = filter;
  const place = resolveCursor(sqlite, since);
  if (typeof place !== 'number') return place;
  const ahead = plainStatement<{ place: number; most: number }, { seqs: number; last: number | null }>(
    sqlite,
    `SELECT count(*) AS seqs, max(seq) AS last
     FROM (SELECT seq FROM _vendor_versions WHERE seq > :place ORDER BY seq LIMIT :most)`,
  ).get({ place, most: readAtOnce });
  const end = ahead?.last ?? place;
  const found = readChanges(sqlite, { account, vendorid, since: place, until: end, limit });
  const isFull = found.length === limit;
  const last = isFull ? (found.at(-1)?.seq ?? end) : end;
  return {
    changes: withValues(sqlite, found),
    cursor: cursorOf(sqlite, last),
    more: last < end || ahead?.seqs === readAtOnce,
  };
}

interface ValueRow extends ChangedValue {
  readonly seq: number;
  readonly field: string;
}

/** Changes with the values that changed. */
export function withValues(sqlite: Sqlite, changes: readonly Change[]): FeedChange[] {
  const rows = plainStatement<{ seqs: string }, ValueRow>(
    sqlite,
    'SELECT seq, field, "old", "new" FROM vendor_changes WHERE seq IN (SELECT value FROM json_each(:seqs))',
  ).all({ seqs: JSON.stringify(changes.map(({ seq }) => seq)) });
  return changes.map((change) => ({
    ...change,
    cursor: cursorOf(sqlite, change.seq),
    values: Object.fromEntries(
      rows.filter(({ seq }) => seq === change.seq).map(({ field, old, new: now }) => [field, { old, new: now }]),
    ),
  }));
}
