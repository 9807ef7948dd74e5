/**
 * What becomes of moments in the file when the clock was set back: by today's clock they were earlier than they say. Marks and sweeps that
 * are asked for move with it, by what is known of. By how much it was set back in truth nobody knows: mirror time stands still while the
 * machine sleeps. So the last complete run claims nothing any more, and neither does what rests on an earlier run.
 */
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
  const add = statement<{ read_seq: number; noticed_at: string }>(sqlite, (at) =>
    mirrorSql
      .insertInto('_clock_set_back')
      .values({ read_seq: at('read_seq'), noticed_at: at('noticed_at') })
      .onConflict((conflict) => conflict.doNothing()),
  );
  const since = statement<{ read_seq: number }, { read_seq: number }>(sqlite, (at) =>
    mirrorSql.selectFrom('_clock_set_back').select('read_seq').where('read_seq', '>', at('read_seq')).limit(1),
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
  const dropClaims = plainStatement<None>(
    sqlite,
    `UPDATE runs SET safe_as_of = NULL, listed_as_of = NULL WHERE id IN (
      SELECT (SELECT max(c.id) FROM runs c
        WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind IN ('pull', 'reconcile'))
      FROM accounts a)`,
  );
  return {
    note(readSeq, ms) {
      add.run({ read_seq: readSeq, noticed_at: timestamp(clock.now()) });
      const by = `-${(ms / 1_000).toFixed(3)} seconds`;
      moveMarks.run({ by });
      moveRequests.run({ by });
      dropClaims.run({});
    },
    wasSince: (readSeq) => since.get({ read_seq: readSeq }) !== undefined,
  };
}
