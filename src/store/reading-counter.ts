/**
 * The counter that orders readings, and mirror time: the machine's monotonic clock, continued across restarts in the file. When the wall
 * clock is set back, the moments in the file are corrected by it.
 *
 * Several machines may share a mirror on a server, and their monotonic clocks have nothing in common. There each process begins with the clock of
 * the server and goes on by its own monotonic clock; whoever is behind what another one wrote goes on from there. So mirror time runs no faster
 * than the clocks do, however many take turns. That a wall clock was set back, a process sees by what it noted itself; of another machine's it
 * believes a difference only where that is too large for clocks that are kept right.
 *
 * Guards and delays are measured in mirror time, so setting the clock does not shorten them. A clock that was set back is noticed by the
 * next request, by the begin and the end of a run, and by a daemon within half a minute; open marks and requested sweeps move with it. The
 * true difference is unknown, because mirror time stands still while the machine sleeps. So `safe_as_of` is NULL until the next complete run,
 * and runs before `_clock_set_back` no longer count as proof. A change of less than a second, or of less than the time that the machine was off
 * or asleep, is not noticed.
 *
 * What this leaves of `safe_as_of`: it is the begin of a run, by the clock as it was then, less `sync.lag`. Setting the clock afterwards makes
 * no claim false: a clock that was right then named a moment that stays true, although it lies in the future of one that is behind now. False
 * is what a clock said that was ahead, until it is noticed that it was set right. The `Date` of the answers of the same run contradicts a clock
 * that is ahead by more than the larger of `sync.lag` and 5 s, and a second: then nothing is claimed at all (`domain/service-time.ts`). So only
 * beside a service that sends no `Date` can a claim lie further ahead than that, as long as its clock is wrong, and for half a minute after.
 */
import { sql, type RawBuilder } from 'kysely';
import { timestamp, type Clock } from '../domain/clock.ts';
import type { ReadStamp } from '../domain/reading.ts';
import { Operations, mirrorSql, statement, type Connection, type Statement } from './sql/statement.ts';
import type { CounterTable } from './sql/schema.ts';

const columns = ['read_seq', 'offset_ms', 'mirror_ms', 'wall_ms'] as const;
type Row = Pick<CounterTable, (typeof columns)[number]>;
type Current = Row & { readonly server_ms: number | null };

/** By the clock of a server that has the mirror. */
const serverTime = sql<number | null>`CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint)`;

/** How far the clock may drift from mirror time, in milliseconds: what differs by less is rounding, by more means that it was set. */
export const noticeable = 1_000;

/** The same between two machines: a clock that is further ahead contradicts the service, and claims nothing. */
const noticeableElsewhere = 6_000;

export class ReadingCounter extends Operations {
  readonly #clock: Clock;
  readonly #setBacks: ClockSetBackLog;
  readonly #advance: Statement<{ now: number | null; wall: number }, Row>;
  readonly #takeRun = statement(this.db)<
    { newest: number },
    { run_id: number }
  >`UPDATE _reading_counter SET run_id = max(run_id, ${'newest'}) + 1 RETURNING run_id`;
  readonly #current: Statement<object, Current>;
  readonly #noteClock = statement<{ clock_ahead_ms: number | null }>(this.db, (at) =>
    mirrorSql.updateTable('_reading_counter').set({ clock_ahead_ms: at('clock_ahead_ms') }),
  );
  readonly #isRemote: boolean;
  /** On a server: by how much mirror time is ahead of this machine's monotonic clock, once that is known. */
  #ahead: number | undefined;
  /** On a server: both clocks of this process when it last took a number. */
  #last: Clocks | undefined;
  /** The same when it saw its clock set back, which is recorded unless that transaction failed. */
  #noticed: (Clocks & Pick<Row, 'read_seq'>) | undefined;

  constructor(db: Connection, clock: Clock, setBacks: ClockSetBackLog) {
    super(db);
    this.#clock = clock;
    this.#setBacks = setBacks;
    this.#isRemote = db.isRemote === true;
    this.#advance = statement(db, (at) =>
      mirrorSql
        .updateTable('_reading_counter')
        .set({
          read_seq: sql`read_seq + 1`,
          ...(this.#isRemote ? serversMirrorTime(at('now')) : mirrorTime(at('now') as RawBuilder<number>)),
          wall_ms: at('wall'),
        })
        .returning(columns),
    );
    const server_ms = this.#isRemote ? serverTime : sql<number | null>`NULL`;
    this.#current = statement(db, () =>
      mirrorSql.selectFrom('_reading_counter').select([...columns, server_ms.as('server_ms')]),
    );
  }

  /**
   * Takes the number of a request before it is sent, and the mirror time. Runs inside a transaction. Also returns how long the machine, or the
   * server, has run, in milliseconds, where it was restarted since the mirror was created; Infinity otherwise.
   */
  async advance(): Promise<Advanced> {
    return advancedBy(await this.#step());
  }

  /** As `advance`, so many times. */
  async advanceTimes(times: number): Promise<Advanced[]> {
    return (await this.#steps(times)).map(advancedBy);
  }

  /** Mirror time now, in milliseconds. */
  async moment(): Promise<number> {
    return this.#momentOf(row(await this.#current.get({})));
  }

  /** Records by how many milliseconds the wall clock is ahead of the service's; null where it is not known to be wrong. */
  noteClock(aheadBy: number | null): void {
    this.#noteClock.send({ clock_ahead_ms: aheadBy });
  }

  /**
   * Takes the number of a run, and one that orders its begin among readings: never one that was used before, even if the newest run was
   * removed, nor one up to `newest`, because somebody else may have written that row. Runs inside a transaction.
   */
  async beginRun(newest: number): Promise<{ readonly id: number; readonly began: ReadStamp }> {
    const { run_id } = row(await this.#takeRun.get({ newest }));
    return { id: run_id, began: stampOf(await this.#step()) };
  }

  /** Whether the clock was set back since a number was last taken. Runs inside a transaction. */
  async isSetBack(): Promise<boolean> {
    const last = row(await this.#current.get({}));
    return this.#isBehind(behind(this.#last ?? last, this.#momentOf(last), this.#clock.now()));
  }

  /** Records a clock that was set back since a number was last taken. Runs inside a transaction. */
  async notice(): Promise<void> {
    if (await this.isSetBack()) await this.#step();
  }

  /** Mirror time now, where the counter is as in this row. */
  #momentOf({ mirror_ms, offset_ms, server_ms }: Current): number {
    const now = Math.floor(this.#clock.monotonic());
    if (!this.#isRemote) return Math.max(mirror_ms, now + offset_ms);
    const moment = Math.max(mirror_ms, this.#ahead === undefined ? (server_ms ?? 0) : now + this.#ahead);
    this.#ahead = moment - now;
    return moment;
  }

  async #step(): Promise<Row> {
    return row((await this.#steps(1))[0]);
  }

  /** Takes so many numbers, in their order. */
  async #steps(times: number): Promise<Row[]> {
    // Once it is answered, nobody else writes: a clock that was read before would be behind by as long as the others took.
    const last = row(await this.#current.get({}));
    const [now, wall] = [this.#clock.monotonic(), this.#clock.now()].map(Math.floor) as [number, number];
    const mirrorNow = this.#ahead === undefined ? null : now + this.#ahead;
    const advance = async (): Promise<Row> =>
      row(await this.#advance.get({ now: this.#isRemote ? mirrorNow : now, wall }));
    const all = await Promise.all(Array.from({ length: times }, advance));
    const { mirror_ms, read_seq } = row(all.at(-1));
    await this.#settleNoticed();
    const ms = behind(this.#last ?? last, mirror_ms, wall);
    const isSetBack = this.#isBehind(ms);
    if (isSetBack) this.#setBacks.record(read_seq, ms);
    if (this.#isRemote) {
      this.#ahead = mirror_ms - now;
      const clocks = { mirror_ms, wall_ms: wall };
      if (isSetBack) this.#noticed = { ...clocks, read_seq };
      else this.#last = clocks;
    }
    return all;
  }

  /** Whether a wall clock that is behind by so much was set back. */
  #isBehind(ms: number): boolean {
    return ms >= (this.#isRemote && !this.#last ? noticeableElsewhere : noticeable);
  }

  /** A clock that was set back is noticed again where the transaction failed that recorded it. */
  async #settleNoticed(): Promise<void> {
    const noticed = this.#noticed;
    this.#noticed = undefined;
    if (noticed && (await this.#setBacks.wasSince(noticed.read_seq - 1))) this.#last = noticed;
  }
}

/** A number and the mirror time, and for how long the machine, or the server, has run, as far as that matters. */
export interface Advanced {
  readonly stamp: ReadStamp;
  readonly sinceRestart: number;
}

type Clocks = Pick<Row, 'mirror_ms' | 'wall_ms'>;

/** By how many milliseconds the wall clock shows less than it would had it run evenly since both were noted. */
function behind(last: Clocks, mirrorNow: number, wall: number): number {
  return (last.wall_ms ?? -Infinity) + mirrorNow - last.mirror_ms - wall;
}

/** Mirror time for a value of the machine's clock, which restarts with the machine. */
export function mirrorTime(now: RawBuilder<number>): Record<'offset_ms' | 'mirror_ms', RawBuilder<number>> {
  return {
    offset_ms: sql`max(offset_ms, mirror_ms - ${now})`,
    mirror_ms: sql`max(mirror_ms, ${now} + offset_ms)`,
  };
}

/** The same on a server, for the mirror time of a process, unless that has none yet. There the offset is when the server was started again. */
function serversMirrorTime(now: RawBuilder<number | null>): Record<'offset_ms' | 'mirror_ms', RawBuilder<number>> {
  const mirror_ms = sql<number>`greatest(mirror_ms, coalesce(${now}, ${serverTime}))`;
  return { mirror_ms, offset_ms: sql`CASE WHEN offset_ms < 0 THEN ${mirror_ms} ELSE offset_ms END` };
}

function advancedBy(taken: Row): Advanced {
  const { mirror_ms, offset_ms } = taken;
  return { stamp: stampOf(taken), sinceRestart: offset_ms === 0 ? Infinity : mirror_ms - offset_ms };
}

function stampOf({ read_seq, mirror_ms }: Row): ReadStamp {
  return { readSeq: read_seq, begun: mirror_ms };
}

function row<T>(found: T | undefined): T {
  if (!found) throw new Error('The reading counter has no row.');
  return found;
}

/** The argument of what corrects moments. */
export interface By {
  /** A modifier of SQLite's `strftime`. */
  by: string;
}

export class ClockSetBackLog extends Operations {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #add = statement<{ read_seq: number; noticed_at: string }>(this.db, (at) =>
    mirrorSql
      .insertInto('_clock_set_back')
      .values({ read_seq: at('read_seq'), noticed_at: at('noticed_at') })
      .onConflict((conflict) => conflict.doNothing()),
  );
  readonly #since = statement<{ read_seq: number }, { read_seq: number }>(this.db, (at) =>
    mirrorSql.selectFrom('_clock_set_back').select('read_seq').where('read_seq', '>', at('read_seq')).limit(1),
  );
  readonly #corrections: readonly Pick<Statement<By>, 'send'>[];

  /** `corrections`: what each table does about it. */
  constructor(db: Connection, clock: Pick<Clock, 'now'>, corrections: readonly Pick<Statement<By>, 'send'>[]) {
    super(db);
    this.#clock = clock;
    this.#corrections = corrections;
  }

  /**
   * Records a clock that was set back by at least `ms` milliseconds; by how much exactly is unknown, because the machine may have slept.
   * Runs inside a transaction.
   */
  record(readSeq: number, ms: number): void {
    this.#add.send({ read_seq: readSeq, noticed_at: timestamp(this.#clock.now()) });
    const by = `-${(ms / 1_000).toFixed(3)} seconds`;
    for (const correction of this.#corrections) correction.send({ by });
  }

  /** Whether the clock was set back since that number was taken. */
  async wasSince(readSeq: number): Promise<boolean> {
    return (await this.#since.get({ read_seq: readSeq })) !== undefined;
  }
}
