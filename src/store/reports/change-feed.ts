/**
 * The change feed: every content change of every vendor, in the order in which it was learned.
 *
 * `vendor_versions` is the feed; its `seq` follows the order of commits, because writers take turns. The command, `/api/changes`, its
 * streams and outgoing webhooks share this reader, which looks at 500 versions and returns 50 in one turn of the event loop. `_feed_removed`
 * holds the largest `seq` that was removed, kept by a trigger whichever program removes it: later changes are all kept, so a reader beyond
 * it has missed nothing.
 */
import { sql } from 'kysely';
import { inOrder } from '../../domain/concurrency.ts';
import type { Clock } from '../../domain/clock.ts';
import { limits } from '../../domain/limits.ts';
import { isAbsent } from '../../domain/presence.ts';
import { mirrorSql, runQuery, statement, numbersIn, type Connection, type Query } from '../sql/statement.ts';
import { withoutBlobs } from '../sqlite/blobs.ts';
import type { VendorKey, VersionTable } from '../sql/schema.ts';
import {
  cursorOf,
  cursorParts,
  cursors,
  latestCursor,
  removedThrough,
  resolveCursor,
  type HistoryGone,
} from './feed-cursor.ts';

/** What happened, in one word. */
type ChangeKind = 'created' | 'updated' | 'deleted' | 'archived' | 'restored' | 'missing' | 'gone' | 'returned';

export interface Change {
  /** The number of the change; later changes have higher ones. */
  readonly seq: number;
  readonly account_id: string;
  readonly vendorid: number;
  /** When it was learned, UTC. */
  readonly at: string;
  readonly kind: ChangeKind;
  readonly changed_fields: readonly string[];
  readonly vis_state: VersionTable['vis_state'];
  readonly presence: VersionTable['presence'];
  readonly source: VersionTable['source'];
}

export interface ChangeFilter {
  readonly account?: string | undefined;
  readonly vendorid?: number | undefined;
  /** Only changes after this one. */
  readonly since: number;
  /** Only changes up to this one. */
  readonly until?: number | undefined;
  readonly limit: number;
}

type ChangeRow = Pick<VersionTable, 'account_id' | 'vendorid' | 'vis_state' | 'presence' | 'source'> & {
  seq: number;
  at: string;
  changed_fields: string;
  old_vis_state: VersionTable['vis_state'];
  old_presence: VersionTable['presence'] | null;
};

/** The changes that match the filter, oldest first. */
export async function readChanges(db: Connection, filter: ChangeFilter): Promise<Change[]> {
  const query = changesWithPredecessors()
    .where('v.seq', '>', filter.since)
    .$if(filter.until !== undefined, (q) => q.where('v.seq', '<=', filter.until ?? 0))
    .$if(filter.account !== undefined, (q) => q.where('v.account_id', '=', filter.account ?? ''))
    .$if(filter.vendorid !== undefined, (q) => q.where('v.vendorid', '=', filter.vendorid ?? 0))
    .orderBy('v.seq')
    .limit(filter.limit);
  return (await runQuery<ChangeRow>(db, query)).map(change);
}

/** A vendor's changes, the latest first. */
export interface Timeline {
  readonly timeline: readonly Change[];
  /** Continue with changes before this `seq`; null where there are none. */
  readonly older: number | null;
}

/** The changes of one vendor, at most `limit`, before `before` where given. */
export async function readTimeline(
  db: Connection,
  { account_id, vendorid }: VendorKey,
  { before, limit }: { readonly before: number | undefined; readonly limit: number },
): Promise<Timeline> {
  const query = changesWithPredecessors()
    .where('v.account_id', '=', account_id)
    .where('v.vendorid', '=', vendorid)
    .$if(before !== undefined, (q) => q.where('v.seq', '<', before ?? 0))
    .orderBy('v.seq', 'desc')
    .limit(limit + 1);
  const found = (await runQuery<ChangeRow>(db, query)).map(change);
  const timeline = found.slice(0, limit);
  return { timeline, older: found.length > limit ? (timeline.at(-1)?.seq ?? null) : null };
}

/** Each version `v` joined with its predecessor. */
function changesWithPredecessors() {
  return mirrorSql
    .selectFrom('_vendor_versions as v')
    .leftJoin('_vendor_versions as old', (join) =>
      join.on('old.seq', '=', (eb) =>
        eb
          .selectFrom('_vendor_versions as o')
          .whereRef('o.account_id', '=', 'v.account_id')
          .whereRef('o.vendorid', '=', 'v.vendorid')
          .whereRef('o.seq', '<', 'v.seq')
          .select(sql<number>`max(o.seq)`.as('seq')),
      ),
    )
    .select(['v.seq', 'v.account_id', 'v.vendorid', 'v.valid_from as at', 'v.changed_fields', 'v.source'])
    .select(['v.vis_state', 'v.presence', 'old.vis_state as old_vis_state', 'old.presence as old_presence']);
}

function change(row: ChangeRow): Change {
  const changed_fields = JSON.parse(row.changed_fields) as string[];
  const { seq, account_id, vendorid, at, vis_state, presence, source } = row;
  return {
    seq,
    account_id,
    vendorid,
    at,
    kind: kindOf(row, changed_fields),
    changed_fields,
    vis_state,
    presence,
    source,
  };
}

/** The first version of a vendor names no changed fields; where a first one does, earlier versions were pruned. */
function kindOf(row: ChangeRow, changedFields: readonly string[]): ChangeKind {
  if (row.old_presence === null) return changedFields.length === 0 ? 'created' : 'updated';
  if (row.presence !== row.old_presence) {
    if (isAbsent(row.presence)) return row.presence;
    if (isAbsent(row.old_presence)) return 'returned';
  }
  if (row.vis_state === row.old_vis_state) return 'updated';
  if (row.vis_state === 1) return 'deleted';
  if (row.vis_state === 2) return 'archived';
  return row.old_vis_state === null ? 'updated' : 'restored';
}

/** Pages of the change feed, with changed values and a cursor. Reads a few rows in each turn of the event loop. */

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
  for (let read = 0; read < limits.rowsSearched; read += readAtOnce) {
    signal?.throwIfAborted();
    const since = cursor;
    const limit = Math.min(returnedAtOnce, filter.limit - changes.length);
    const found = await query((db) => slice(db, { ...filter, since, limit }));
    if ('reason' in found) return found;
    changes.push(...found.changes);
    cursor = found.cursor;
    if (!found.more || changes.length >= filter.limit) return { ...found, changes };
    await clock.yield();
  }
  return { changes, cursor: cursor ?? '', more: true };
}

export function currentCursor(query: Query): Promise<string> {
  return query(latestCursor);
}

/** The part of a page that one turn reads. */
async function slice(db: Connection, filter: ChangePageFilter): Promise<ChangePage | HistoryGone> {
  const { since, account, vendorid, limit } = filter;
  const place = since === undefined ? 0 : await resolveCursor(db, since);
  if (typeof place !== 'number') return place;
  const known = since === undefined ? await removedThrough(db) : (cursorParts(since)?.known ?? 0);
  const ahead = await statement(db)<{ place: number; most: number }, { seqs: number; last: number | null }>`
     SELECT count(*) AS seqs, max(seq) AS last
    FROM (SELECT seq FROM _vendor_versions WHERE seq > ${'place'} ORDER BY seq LIMIT +${'most'}) AS next`.get({
    place,
    most: readAtOnce,
  });
  const end = ahead?.last ?? place;
  const found = await readChanges(db, { account, vendorid, since: place, until: end, limit });
  const isFull = found.length === limit;
  const last = isFull ? (found.at(-1)?.seq ?? end) : end;
  return {
    changes: await withValues(db, found, known),
    cursor: await cursorOf(db, last, known),
    more: last < end || ahead?.seqs === readAtOnce,
  };
}

interface ValueRow extends ChangedValue {
  readonly seq: number;
  readonly field: string;
}

/** Changes with the values that changed. @param known as of `cursors` */
export async function withValues(db: Connection, changes: readonly Change[], known = 0): Promise<FeedChange[]> {
  const rows = await statement<{ seqs: string }, ValueRow>(
    db,
    (at) => sql`
      SELECT seq, field, "old", "new" FROM vendor_changes WHERE seq IN ${numbersIn(at('seqs'))}`,
  ).all({ seqs: JSON.stringify(changes.map(({ seq }) => seq)) });
  const cursorAfter = cursors(db, known);
  return inOrder(changes, async (change) => ({
    ...change,
    cursor: await cursorAfter(change.seq),
    values: Object.fromEntries(
      rows.filter(({ seq }) => seq === change.seq).map(({ field, old, new: now }) => [field, { old, new: now }]),
    ),
  }));
}

/** How a change was learned, as text after "learned by". */
export const learnedBy = {
  pull: 'a pull',
  delivery: 'a webhook',
  reconcile: 'a reconciliation',
  write: 'a command of ours',
} as const;

/** Changed values by field: rows of the view `vendor_changes`. */
export interface FieldChange {
  readonly seq: number;
  readonly field: string;
  readonly old: string | null;
  readonly new: string | null;
}

/** The changed values of one vendor from one version to another, both included. */
export async function fieldChanges(
  db: Connection,
  which: { readonly account_id: string; readonly vendorid: number; readonly from: number; readonly to: number },
): Promise<FieldChange[]> {
  const changes = statement(db)<typeof which, FieldChange>`
    SELECT seq, field, "old", "new" FROM vendor_changes
    WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'} AND seq BETWEEN ${'from'} AND ${'to'}`;
  return (await changes.all(which)).map(withoutBlobs);
}
