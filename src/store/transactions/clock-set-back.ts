/**
 * Corrects moments in the file when the wall clock was set back. Marks and requested sweeps are moved by the known amount. The true amount
 * is unknown, because mirror time stands still while the machine sleeps; so the freshness of the last complete run is cleared, and nothing
 * relies on earlier runs.
 */
import { timestamp, type Clock } from '../../domain/clock.ts';
import type { ClockSetBackLog } from '../rows/reading-counter.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement, type None, type Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';

interface By {
  /** A modifier of SQLite's `strftime`. */
  by: string;
}

export class SqliteClockSetBackLog implements ClockSetBackLog {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #add: Statement<{ read_seq: number; noticed_at: string }>;
  readonly #since: Statement<{ read_seq: number }, { read_seq: number }>;
  readonly #moveMarks: Statement<By>;
  readonly #moveRequests: Statement<By>;
  readonly #dropClaims: Statement<None>;

  constructor(sqlite: Sqlite, clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.#add = statement(sqlite, (at) =>
      mirrorSql
        .insertInto('_clock_set_back')
        .values({ read_seq: at('read_seq'), noticed_at: at('noticed_at') })
        .onConflict((conflict) => conflict.doNothing()),
    );
    this.#since = statement(sqlite, (at) =>
      mirrorSql.selectFrom('_clock_set_back').select('read_seq').where('read_seq', '>', at('read_seq')).limit(1),
    );
    this.#moveMarks = plainStatement(
      sqlite,
      `UPDATE dirty_vendors SET marked_at = strftime('%Y-%m-%d %H:%M:%f', marked_at, :by),
        due_at = strftime('%Y-%m-%d %H:%M:%f', due_at, :by)`,
    );
    this.#moveRequests = plainStatement(
      sqlite,
      `UPDATE _sweep_requests SET asked_at = strftime('%Y-%m-%d %H:%M:%f', asked_at, :by) WHERE asked_at IS NOT NULL`,
    );
    this.#dropClaims = plainStatement(
      sqlite,
      `UPDATE runs SET safe_as_of = NULL, listed_as_of = NULL WHERE id IN (
        SELECT (SELECT max(c.id) FROM runs c
          WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind IN ('pull', 'reconcile'))
        FROM accounts a)`,
    );
  }

  record(readSeq: number, ms: number): void {
    this.#add.run({ read_seq: readSeq, noticed_at: timestamp(this.#clock.now()) });
    const by = `-${(ms / 1_000).toFixed(3)} seconds`;
    this.#moveMarks.run({ by });
    this.#moveRequests.run({ by });
    this.#dropClaims.run({});
  }

  wasSince(readSeq: number): boolean {
    return this.#since.get({ read_seq: readSeq }) !== undefined;
  }
}
