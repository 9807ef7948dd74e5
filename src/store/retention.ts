/** What expires: rows are removed in batches, and the caller decides how much time deliveries get between two. */
import { sql, type RawBuilder } from 'kysely';
import { timestamp } from '../domain/clock.ts';
import type { Database } from './sqlite/database.ts';
import { mirrorSql, statement, type At, type Description } from './sqlite/statement.ts';

/**
 * Removes expired rows in batches; the caller decides how much time deliveries get between two batches. A batch never reads more rows than
 * it may remove.
 */

/** Rows that one transaction reads: few enough to go unnoticed. */
const batchSize = 250;

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

interface Expiring {
  /** The next rows after a place, oldest first. The last ones may not be old enough. */
  readonly next: (at: At<Place>) => Description<OldRow>;
  readonly remove: (at: At<Ids>) => Description;
}

const never = sql<0 | 1>`0`;
const among = (at: At<Ids>): RawBuilder<number> => sql`(SELECT value FROM json_each(${at('ids')}))`;

const deliveries: Expiring = {
  next: (at) =>
    mirrorSql
      .selectFrom('deliveries')
      .select(['id', 'received_at as at', sql<0 | 1>`outcome IN ('pending', 'parked')`.as('stays')])
      .where(sql<boolean>`received_at < ${at('since')} AND (received_at, id) > (${at('at')}, ${at('id')})`)
      .orderBy('received_at')
      .orderBy('id')
      .limit(batchSize),
  remove: (at) => mirrorSql.deleteFrom('deliveries').where('id', 'in', among(at)),
};

const findings: Expiring = {
  next: (at) =>
    mirrorSql
      .selectFrom('findings')
      .select(['id', 'found_at as at', never.as('stays')])
      .where(sql<boolean>`found_at < ${at('since')} AND (found_at, id) > (${at('at')}, ${at('id')})`)
      .orderBy('found_at')
      .orderBy('id')
      .limit(batchSize),
  remove: (at) => mirrorSql.deleteFrom('findings').where('id', 'in', among(at)),
};

/** The latest complete sweep of each account is kept, because `freshness` depends on it. */
const isLatestSweep = sql`outcome = 'complete' AND kind <> 'verify' AND NOT EXISTS (
  SELECT 1 FROM runs later WHERE later.account_id = runs.account_id AND later.outcome = 'complete'
    AND later.kind <> 'verify' AND later.id > runs.id)`;

const runs: Expiring = {
  next: (at) =>
    mirrorSql
      .selectFrom('runs')
      .select(['id', 'started_at as at', sql<0 | 1>`outcome = 'running' OR (${isLatestSweep})`.as('stays')])
      .where('id', '>', at('id'))
      .orderBy('id')
      .limit(batchSize),
  remove: (at) => mirrorSql.deleteFrom('runs').where('id', 'in', among(at)),
};

const versions: Expiring = {
  next: (at) =>
    mirrorSql
      .selectFrom('_vendor_versions')
      .select(['seq as id', sql<string>`valid_to`.as('at'), never.as('stays')])
      .where(sql<boolean>`valid_to < ${at('since')} AND (valid_to, seq) > (${at('at')}, ${at('id')})`)
      .orderBy('valid_to')
      .orderBy('seq')
      .limit(batchSize),
  remove: (at) => mirrorSql.deleteFrom('_vendor_versions').where('seq', 'in', among(at)),
};

/**
 * Removes expired settled deliveries, runs with their findings, and closed versions, one batch at each step.
 * @returns the number of removed rows of each batch.
 */
export async function* prune(
  database: Database,
  { deliveriesSince, versionsSince }: RetentionLimits,
): AsyncGenerator<number, void, void> {
  if (deliveriesSince !== undefined)
    for (const expiring of [deliveries, findings, runs]) yield* batches(database, expiring, deliveriesSince);
  if (versionsSince !== undefined) yield* batches(database, versions, versionsSince);
}

async function* batches(
  database: Database,
  { next, remove }: Expiring,
  before: number,
): AsyncGenerator<number, void, void> {
  const { sqlite } = database;
  const select = statement<Place, OldRow>(sqlite, next);
  const drop = statement<Ids>(sqlite, remove);
  let place: Place | undefined = { at: '', id: 0, since: timestamp(before) };
  while (place) {
    const from: Place = place;
    // What a power cut restores is removed by the next round.
    const { last, removed } = await database.writeWithoutSync(() => {
      const found = select.all(from);
      const rows = found.filter(({ at }) => at < from.since);
      const ids = rows.filter(({ stays }) => stays === 0).map(({ id }) => id);
      const removed = ids.length === 0 ? 0 : drop.run({ ids: JSON.stringify(ids) });
      return { last: rows.length < batchSize ? undefined : rows.at(-1), removed };
    });
    place = last && { ...from, at: last.at, id: last.id };
    if (removed > 0 || place) yield removed;
  }
}

/** What is kept: moments in milliseconds since 1970; older rows are removed. Undefined keeps everything. */
export interface RetentionLimits {
  readonly deliveriesSince: number | undefined;
  readonly versionsSince: number | undefined;
}
