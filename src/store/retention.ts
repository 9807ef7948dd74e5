/** What has served its time goes, a little at a time, so that no reader and no delivery waits for it. */
import { sql } from 'kysely';
import { timestamp } from '../clock.ts';
import type { Database } from './database.ts';
import { mirrorSql, statement, type Description } from './statement.ts';

/** Moments in milliseconds since 1970; what is older goes. Undefined keeps everything. */
export interface Keep {
  readonly deliveriesSince: number | undefined;
  readonly versionsSince: number | undefined;
}

/** Rows of one transaction. */
const atOnce = 500;

/** Removes settled deliveries, old runs with their findings, and closed versions. @returns how many rows went. */
export async function prune(database: Database, { deliveriesSince, versionsSince }: Keep): Promise<number> {
  const { sqlite } = database;
  interface Since {
    since: string;
  }
  const sweepAway = async (build: (at: Since) => Description, since: number): Promise<number> => {
    const remove = statement<Since>(sqlite, build);
    let removed = 0;
    for (;;) {
      const some = await database.write(() => remove.run({ since: timestamp(since) }));
      removed += some;
      if (some < atOnce) return removed;
    }
  };
  let removed = 0;
  if (deliveriesSince !== undefined) {
    removed += await sweepAway(
      (at) =>
        mirrorSql
          .deleteFrom('deliveries')
          .where('id', 'in', (rows) =>
            rows
              .selectFrom('deliveries')
              .select('id')
              .where('received_at', '<', at.since)
              .where('outcome', 'not in', ['pending', 'parked'])
              .limit(atOnce),
          ),
      deliveriesSince,
    );
    removed += await sweepAway(
      (at) =>
        mirrorSql
          .deleteFrom('findings')
          .where('id', 'in', (rows) =>
            rows.selectFrom('findings').select('id').where('found_at', '<', at.since).limit(atOnce),
          ),
      deliveriesSince,
    );
    // The latest complete run of an account is what `freshness` stands on.
    removed += await sweepAway(
      (at) =>
        mirrorSql.deleteFrom('runs').where('id', 'in', (rows) =>
          rows
            .selectFrom('runs')
            .select('id')
            .where('started_at', '<', at.since)
            .where('outcome', '!=', 'running')
            .where(
              sql<boolean>`id NOT IN (SELECT max(id) FROM runs WHERE outcome = 'complete' AND kind <> 'verify' GROUP BY account_id)`,
            )
            .limit(atOnce),
        ),
      deliveriesSince,
    );
  }
  if (versionsSince !== undefined)
    removed += await sweepAway(
      (at) =>
        mirrorSql
          .deleteFrom('vendor_versions')
          .where('seq', 'in', (rows) =>
            rows.selectFrom('vendor_versions').select('seq').where('valid_to', '<', at.since).limit(atOnce),
          ),
      versionsSince,
    );
  return removed;
}
