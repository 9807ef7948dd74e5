/**
 * Cursors of the change feed: `epoch:seq`. A cursor is invalid if it is from another file, from a history that was lost when a copy was
 * restored, or from before removed changes: its holder may have missed changes, or seen some that do not exist here.
 */
import { cursorParts } from './cursor-text.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement, type None } from '../sqlite/plain-statement.ts';

/** Why a cursor is invalid, and where to begin instead. */
export interface HistoryGone {
  readonly reason: 'other_history' | 'removed';
  /** After this, no change is missing. */
  readonly oldest: string;
  /** The end of the feed: everything before it is in the stored vendors. */
  readonly latest: string;
}

/** The reason as a sentence. */
export function whyGone({ reason }: Pick<HistoryGone, 'reason'>): string {
  return reason === 'removed'
    ? 'Changes after this cursor were removed.'
    : 'This cursor belongs to another history: the mirror was rebuilt, or restored from a copy.';
}

/** The last change of an epoch: the last before the next epoch, or the last of all. */
const endOfEpoch = `
  SELECT coalesce(
    (SELECT n.after_seq FROM _feed_epochs n WHERE n.position > e.position ORDER BY n.position LIMIT 1),
    (SELECT seq FROM sqlite_sequence WHERE name = '_vendor_versions'), 0) AS seq
  FROM _feed_epochs e WHERE e.epoch = :epoch`;

/** The `seq` after which a cursor continues; or, where it is invalid, why. */
export function resolveCursor(sqlite: Sqlite, place: string): number | HistoryGone {
  const cursor = cursorParts(place);
  if (!cursor) return Number(place);
  const { epoch, seq } = cursor;
  const end = plainStatement<{ epoch: string }, Seq>(sqlite, endOfEpoch).get({ epoch });
  const removed = removedThrough(sqlite);
  const nowhere = !end || seq > end.seq ? 'other_history' : seq < removed ? 'removed' : undefined;
  if (nowhere === undefined) return seq;
  return { reason: nowhere, oldest: cursorOf(sqlite, removed), latest: latestCursor(sqlite) };
}

/** The epoch of a change (`:seq`, or a column); the first known one for older changes. */
const epochOf = (seq: string): string => `coalesce(
  (SELECT epoch FROM _feed_epochs WHERE after_seq < ${seq} ORDER BY after_seq DESC, position DESC LIMIT 1),
  (SELECT epoch FROM _feed_epochs ORDER BY position LIMIT 1))`;

/** The cursor that continues after a change. */
export function cursorOf(sqlite: Sqlite, seq: number): string {
  const found = plainStatement<Seq, { epoch: string }>(sqlite, `SELECT ${epochOf(':seq')} AS epoch`).get({ seq });
  return `${found?.epoch ?? ''}:${seq}`;
}

/** The cursor at the end of the feed. */
export function latestCursor(sqlite: Sqlite): string {
  return cursorOf(sqlite, lastSeq(sqlite));
}

interface Seq {
  readonly seq: number;
}

/** The `seq` of the last change that was ever written; 0 before the first. */
export function lastSeq(sqlite: Sqlite): number {
  const last = plainStatement<None, Seq>(sqlite, "SELECT seq FROM sqlite_sequence WHERE name = '_vendor_versions'");
  return last.get({})?.seq ?? 0;
}

/** The `seq` of the last removed change; 0 where none was removed. */
function removedThrough(sqlite: Sqlite): number {
  return plainStatement<None, Seq>(sqlite, 'SELECT seq FROM _feed_removed').get({})?.seq ?? 0;
}
