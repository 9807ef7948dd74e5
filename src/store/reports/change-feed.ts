/** The change feed: every content change of every vendor, in the order in which it was learned. */
import { sql } from 'kysely';
import type { Sqlite } from '../sqlite/driver.ts';
import { runQuery, mirrorSql } from '../sqlite/statement.ts';
import type { VendorKey, VersionTable } from '../tables/vendor-tables.ts';

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
export function readChanges(sqlite: Sqlite, filter: ChangeFilter): Change[] {
  const query = changesWithPredecessors()
    .where('v.seq', '>', filter.since)
    .$if(filter.until !== undefined, (q) => q.where('v.seq', '<=', filter.until ?? 0))
    .$if(filter.account !== undefined, (q) => q.where('v.account_id', '=', filter.account ?? ''))
    .$if(filter.vendorid !== undefined, (q) => q.where('v.vendorid', '=', filter.vendorid ?? 0))
    .orderBy('v.seq')
    .limit(filter.limit);
  return runQuery<ChangeRow>(sqlite, query).map(change);
}

/** A vendor's changes, the latest first. */
export interface Timeline {
  readonly timeline: readonly Change[];
  /** Continue with changes before this `seq`; null where there are none. */
  readonly older: number | null;
}

/** The changes of one vendor, at most `limit`, before `before` where given. */
export function readTimeline(
  sqlite: Sqlite,
  { account_id, vendorid }: VendorKey,
  { before, limit }: { readonly before: number | undefined; readonly limit: number },
): Timeline {
  const query = changesWithPredecessors()
    .where('v.account_id', '=', account_id)
    .where('v.vendorid', '=', vendorid)
    .$if(before !== undefined, (q) => q.where('v.seq', '<', before ?? 0))
    .orderBy('v.seq', 'desc')
    .limit(limit + 1);
  const found = runQuery<ChangeRow>(sqlite, query).map(change);
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

const isAbsent = (presence: ChangeRow['old_presence']): boolean => presence === 'missing' || presence === 'gone';

/** The first version of a vendor names no changed fields; where a first one does, earlier versions were pruned. */
function kindOf(row: ChangeRow, changedFields: readonly string[]): ChangeKind {
  if (row.old_presence === null) return changedFields.length === 0 ? 'created' : 'updated';
  if (row.presence !== row.old_presence) {
    if (row.presence === 'missing' || row.presence === 'gone') return row.presence;
    if (isAbsent(row.old_presence)) return 'returned';
  }
  if (row.vis_state === row.old_vis_state) return 'updated';
  if (row.vis_state === 1) return 'deleted';
  if (row.vis_state === 2) return 'archived';
  return row.old_vis_state === null ? 'updated' : 'restored';
}
