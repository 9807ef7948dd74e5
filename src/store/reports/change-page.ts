/** The change feed, page by page: read a few rows in each turn of the event loop, with the values that changed and a cursor to go on from. */
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
  /** Goes on after this change. */
  readonly cursor: string;
  /** By the name of the field; none for a vendor that is new. */
  readonly values: Readonly<Record<string, ChangedValue>>;
}

export interface ChangePageFilter {
  readonly account?: string | undefined;
  readonly vendorid?: number | undefined;
  /** A cursor, or the plain `seq` of a change, which nothing is held against; undefined for all that is kept. */
  readonly since?: string | undefined;
  readonly limit: number;
}

export interface ChangePage {
  readonly changes: readonly FeedChange[];
  /** Goes on after this page, also where it is empty. */
  readonly cursor: string;
  /** Whether there may be more already. */
  readonly more: boolean;
}

/** Versions that are looked at in one turn of the event loop, and changes that are told of with their values. */
const lookedAtOnce = 500;
const toldAtOnce = 50;

/** Versions that are looked at for one page; one that is not full by then says where to go on. */
const mostLooked = 50_000;

/**
 * The first changes after a cursor that pass the filter, oldest first; or why the cursor leads nowhere.
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
  for (let looked = 0; looked < mostLooked; looked += lookedAtOnce) {
    signal?.throwIfAborted();
    const since = cursor;
    const limit = Math.min(toldAtOnce, filter.limit - changes.length);
    const found = await query((sqlite) => slice(sqlite, { ...filter, since, limit }));
    if ('reason' in found) return found;
    changes.push(...found.changes);
    cursor = found.cursor;
    if (!found.more || changes.length >= filter.limit) return { ...found, changes };
    await clock.yield();
  }
  return { changes, cursor: cursor ?? '', more: true };
}

/** The cursor that goes on after all that there is. */
export function currentCursor(query: Query): Promise<string> {
  return query(latestCursor);
}

/** What one turn has time for. */
function slice(sqlite: Sqlite, filter: ChangePageFilter): ChangePage | HistoryGone {
  const { since = '0', account, vendorid, limit } = filter;
  const place = resolveCursor(sqlite, since);
  if (typeof place !== 'number') return place;
  const ahead = plainStatement<{ place: number; looked: number }, { seqs: number; last: number | null }>(
    sqlite,
    `SELECT count(*) AS seqs, max(seq) AS last
     FROM (SELECT seq FROM _vendor_versions WHERE seq > :place ORDER BY seq LIMIT :looked)`,
  ).get({ place, looked: lookedAtOnce });
  const end = ahead?.last ?? place;
  const found = readChanges(sqlite, { account, vendorid, since: place, until: end, limit });
  const isFull = found.length === limit;
  const last = isFull ? (found.at(-1)?.seq ?? end) : end;
  return {
    changes: withValues(sqlite, found),
    cursor: cursorOf(sqlite, last),
    more: last < end || ahead?.seqs === lookedAtOnce,
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
