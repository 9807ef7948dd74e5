/**
 * What expires is removed in batches, and the caller decides how much time deliveries get between two. A batch never reads more rows than it
 * may remove. The file of each table says which of its rows expire.
 */
import { sql, type RawBuilder } from 'kysely';
import { timestamp } from '../domain/clock.ts';
import type { Database } from './sql/database.ts';
import { statement, type At, numbersIn } from './sql/statement.ts';

/** Before every moment that is stored. */
export const firstMoment = '0001-01-01';

/** Rows that one transaction reads: few enough to go unnoticed. */
export const batchSize = 250;

/** What is kept: moments in milliseconds since 1970; older rows are removed. Undefined keeps everything. */
export interface RetentionLimits {
  readonly deliveriesSince: number | undefined;
  readonly runsSince: number | undefined;
  readonly versionsSince: number | undefined;
}

/** The position of the last row that was read, oldest first, and the end of the expired range. */
interface Place {
  at: string;
  id: number;
  since: string;
}

interface OldRow {
  readonly id: number;
  readonly at: string;
  /** Whether it must be kept regardless of age. */
  readonly stays: 0 | 1;
}

interface Ids {
  /** A JSON array. */
  ids: string;
}

export interface Expiring {
  /** The next rows after a place, oldest first. The last ones may not be old enough. */
  readonly next: (at: At<Place>) => RawBuilder<OldRow>;
  readonly remove: (at: At<Ids>) => RawBuilder<unknown>;
}

export const among = (at: At<Ids>): RawBuilder<unknown> => numbersIn(at('ids'));

/** Rows of a table that expire by a time of theirs, but for those that stay. */
export function expiringBy(
  table: RawBuilder<unknown>,
  id: RawBuilder<unknown>,
  time: RawBuilder<unknown>,
  stays = sql`0`,
): Expiring {
  return {
    next: (at) => sql`
      SELECT ${id} AS id, ${time} AS at, ${stays} AS stays FROM ${table}
      WHERE ${time} < ${at('since')} AND (${time}, ${id}) > (${at('at')}, ${at('id')}) ORDER BY ${time}, ${id} LIMIT ${batchSize}`,
    remove: (at) => sql`DELETE FROM ${table} WHERE ${id} IN ${among(at)}`,
  };
}

/** Removes rows from before that moment. @returns the number of removed rows of each batch. */
export async function* removeExpired(
  database: Database,
  { next, remove }: Expiring,
  before: number,
): AsyncGenerator<number, void, void> {
  const { connection: db } = database;
  const select = statement<Place, OldRow>(db, next);
  const drop = statement<Ids>(db, remove);
  let place: Place | undefined = { at: firstMoment, id: 0, since: timestamp(before) };
  while (place) {
    const from: Place = place;
    // What a power cut restores is removed by the next round.
    const { last, removed } = await database.writeWithoutSync(async () => {
      const found = await select.all(from);
      const rows = found.filter(({ at }) => at < from.since);
      const ids = rows.filter(({ stays }) => stays === 0).map(({ id }) => id);
      const removed = ids.length === 0 ? 0 : await drop.run({ ids: JSON.stringify(ids) });
      return { last: rows.length < batchSize ? undefined : rows.at(-1), removed };
    });
    place = last && { ...from, at: last.at, id: last.id };
    if (removed > 0 || place) yield removed;
  }
}
