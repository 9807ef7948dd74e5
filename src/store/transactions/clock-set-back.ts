/**
 * What becomes of moments in the file when the clock was set back: by today's clock they were earlier than they say. Those on which
 * `freshness` rests are moved with the clock; for all others, by how much is written down. Nobody can tell how long a machine was off: a
 * clock that was set back meanwhile by less than that is not noticed.
 */
import { sql } from 'kysely';
import { timestamp, type Clock } from '../../domain/clock.ts';
import type { SetBacks } from '../rows/reading-counter.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement, type None } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';

interface By {
  /** A modifier of SQLite's `strftime`. */
  by: string;
}

export function clockSetBacks(sqlite: Sqlite, clock: Pick<Clock, 'now'>): SetBacks {
  const add = statement<{ read_seq: number; noticed_at: string; ms: number | null }>(sqlite, (at) =>
    mirrorSql
      .insertInto('_clock_set_back')
      .values({ read_seq: at('read_seq'), noticed_at: at('noticed_at'), ms: at('ms') })
      .onConflict((conflict) => conflict.column('read_seq').doUpdateSet({ ms: sql`ms + excluded.ms` })),
  );
  const since = statement<{ read_seq: number }, { ms: number; unknown: number }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('_clock_set_back')
      .select([sql<number>`coalesce(sum(ms), 0)`.as('ms'), sql<number>`count(*) - count(ms)`.as('unknown')])
      .where('read_seq', '>', at('read_seq')),
  );
  const moveMarks = plainStatement<By>(
    sqlite,
    `UPDATE dirty_vendors SET marked_at = strftime('%Y-%m-%d %H:%M:%f', marked_at, :by),
      due_at = strftime('%Y-%m-%d %H:%M:%f', due_at, :by)`,
  );
  const moveRequests = plainStatement<By>(
    sqlite,
    `UPDATE _sweep_requests SET asked_at = strftime('%Y-%m-%d %H:%M:%f', asked_at, :by) WHERE asked_at IS NOT NULL`,
  );
  const lastComplete = `id IN (
    SELECT (SELECT max(c.id) FROM runs c
      WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind IN ('pull', 'reconcile'))
    FROM accounts a)`;
  const moved = `UPDATE runs SET safe_as_of = strftime('%Y-%m-%d %H:%M:%f', safe_as_of, :by),
      listed_as_of = strftime('%Y-%m-%d %H:%M:%f', listed_as_of, :by) WHERE ${lastComplete}`;
  const moveClaims = plainStatement<By>(sqlite, moved);
  const dropped = `UPDATE runs SET safe_as_of = NULL, listed_as_of = NULL WHERE ${lastComplete}`;
  const dropClaims = plainStatement<None>(sqlite, dropped);
  return {
    note(readSeq, ms, isKnown) {
      add.run({ read_seq: readSeq, noticed_at: timestamp(clock.now()), ms: isKnown ? ms : null });
      const by = `-${(ms / 1_000).toFixed(3)} seconds`;
      moveMarks.run({ by });
      moveRequests.run({ by });
      if (isKnown) moveClaims.run({ by });
      else dropClaims.run({});
    },
    since(readSeq) {
      const { ms = 0, unknown = 0 } = since.get({ read_seq: readSeq }) ?? {};
      return unknown > 0 ? undefined : ms;
    },
  };
}
