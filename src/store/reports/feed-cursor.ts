/**
 * Cursors of the change feed, `epoch:seq`: as text, against the history of this file, and which connection wrote which part of it.
 *
 * Two copies of a mirror that diverge use the same numbers and the same identity for different changes. So each connection begins a random
 * epoch with the first change that it writes (`_feed_epochs`). A cursor beyond the end of its epoch, or of an epoch that the file does not
 * know, belongs to another history and is refused. Cursors of the part that both copies share stay valid.
 */
import { ofConnection, statement, type Connection, type None, type Statement } from '../sql/statement.ts';

/**
 * Cursors of the change feed: `epoch:seq`. A cursor is invalid if it is from another file, from a history that was lost when a copy was
 * restored, or from before removed changes: its holder may have missed changes, or seen some that do not exist here. Whoever began with all
 * changes that are kept has missed none of those that were removed before: until he is past them, his cursor is `epoch:seq~removed`.
 */

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
    : 'This cursor belongs to another history: the mirror was rebuilt, restored from a copy, or moved to PostgreSQL.';
}

/** The `seq` after which a cursor continues; or, where it is invalid, why. */
export async function resolveCursor(db: Connection, place: string): Promise<number | HistoryGone> {
  // What is no cursor is of no history: the epoch of no text is none.
  const { epoch, seq, known } = cursorParts(place) ?? { epoch: '', seq: 0, known: 0 };
  const end = await endOfEpoch(db).get({ epoch });
  const removed = await removedThrough(db);
  const nowhere = !end || seq > end.seq ? 'other_history' : known < removed ? 'removed' : undefined;
  if (nowhere === undefined) return seq;
  return { reason: nowhere, oldest: await cursorOf(db, removed), latest: await latestCursor(db) };
}

/** The last change of an epoch: the last before the next epoch, or the last of all. */
function endOfEpoch(db: Connection): Statement<{ epoch: string }, Seq> {
  return statement(db)`
    SELECT coalesce(
      (SELECT n.after_seq FROM _feed_epochs n WHERE n.position > e.position ORDER BY n.position LIMIT 1),
      (SELECT seq FROM _last_version), 0) AS seq
    FROM _feed_epochs e WHERE e.epoch = ${'epoch'}`;
}

/** The epoch of a change, or the first known one for older changes. */
const epochOf = ofConnection(
  (db) =>
    statement(db)<Seq, { epoch: string | null }>`
      SELECT coalesce(
        (SELECT epoch FROM _feed_epochs WHERE after_seq < ${'seq'} ORDER BY after_seq DESC, position DESC LIMIT 1),
        (SELECT epoch FROM _feed_epochs ORDER BY position LIMIT 1)) AS epoch`,
);

/** The cursors that continue after a change. @param known up to which removed changes their holder has missed none */
export function cursors(db: Connection, known = 0): (seq: number) => Promise<string> {
  const find = epochOf(db);
  return async (seq) => `${(await find.get({ seq }))?.epoch ?? ''}:${seq}${seq < known ? `~${known}` : ''}`;
}

export function cursorOf(db: Connection, seq: number, known = 0): Promise<string> {
  return cursors(db, known)(seq);
}

export async function latestCursor(db: Connection): Promise<string> {
  return cursorOf(db, await lastSeq(db));
}

interface Seq {
  readonly seq: number;
}

const lastChange = ofConnection((db) => statement(db)<None, Seq>`SELECT seq FROM _last_version`);

/** The `seq` of the last change that was ever written; 0 before the first. */
export async function lastSeq(db: Connection): Promise<number> {
  return (await lastChange(db).get({}))?.seq ?? 0;
}

const lastRemoved = ofConnection((db) => statement(db)<None, Seq>`SELECT seq FROM _feed_removed`);

/** The `seq` of the last removed change; 0 where none was removed. */
export async function removedThrough(db: Connection): Promise<number> {
  return (await lastRemoved(db).get({}))?.seq ?? 0;
}

const cursor = /^([0-9a-f]{16}):(\d{1,15})(?:~(\d{1,15}))?$/;

interface CursorParts {
  readonly epoch: string;
  readonly seq: number;
  /** Up to which removed changes its holder has missed none. */
  readonly known: number;
}

/** The parts of a cursor; undefined for other text. */
export function cursorParts(text: string): CursorParts | undefined {
  const [, epoch, seq, removed = 0] = cursor.exec(text) ?? [];
  return epoch === undefined ? undefined : { epoch, seq: Number(seq), known: Math.max(Number(seq), Number(removed)) };
}

/** What a cursor is, for messages about what is none. */
export const cursorForm =
  'the `cursor` of a change or an answer, such as 9f86d081884c7d65:1043. A number alone does not say of which history it is';

/** Whether a text is a cursor. The `seq` of a change alone is none: after a restoration, other changes have the same numbers. */
export function isCursor(text: string): boolean {
  return cursorParts(text) !== undefined;
}

/** Older epochs are removed; cursors of those are invalid. */
const maxEpochs = 10_000;

/**
 * Returns a function to call before each version that this connection writes, inside its transaction. The first call begins an epoch of the
 * connection, and of each session of a server: one that took over may have lost the last changes, and gives their numbers out again. The
 * table is checked each time, because a failed transaction removes the epoch again.
 */
export function feedEpochs(db: Connection): () => Promise<void> {
  let drawn: Promise<string> | undefined;
  let { session } = db;
  const draw = statement(db)<None, { epoch: string }>`SELECT lower(hex(randomblob(8))) AS epoch`;
  const begin = statement(db)<{ epoch: string }>`
     INSERT INTO _feed_epochs (epoch, after_seq)
    SELECT ${'epoch'}, coalesce((SELECT seq FROM _last_version), 0)
    WHERE NOT EXISTS (SELECT 1 FROM _feed_epochs WHERE epoch = ${'epoch'})`;
  const forget = statement(db)<{ kept: number }>`
    DELETE FROM _feed_epochs WHERE position <= (SELECT max(position) FROM _feed_epochs) - ${'kept'}`;
  return async () => {
    if (session !== db.session) [session, drawn] = [db.session, undefined];
    const isNew = drawn === undefined;
    // One for all that are written at once.
    drawn ??= draw.get({}).then((row) => row?.epoch ?? '');
    const epoch = await drawn.catch((error: unknown) => {
      drawn = undefined;
      throw error;
    });
    begin.send({ epoch });
    if (isNew) forget.send({ kept: maxEpochs });
  };
}
