/**
 * The one counter that orders readings, and mirror time. Mirror time is the machine's monotonic clock, shared by all
 * processes, carried on over restarts: when the machine's clock begins anew, the offset rises so that it never falls back.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Clock } from '../../domain/clock.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import type { Database } from '../sqlite/database.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { CounterTable } from '../tables/mirror-tables.ts';

/** What is done about a clock that was set back. */
export interface ClockSetBackLog {
  /** The clock was set back, by so many milliseconds at least: nobody knows how long the machine slept meanwhile. Runs inside a transaction. */
  record(readSeq: number, ms: number): void;
  /** Whether it was set back since that number was taken. */
  wasSince(readSeq: number): boolean;
}

type Row = Pick<CounterTable, 'read_seq' | 'offset_ms' | 'mirror_ms' | 'wall_ms'>;
const columns = ['read_seq', 'offset_ms', 'mirror_ms', 'wall_ms'] as const;

/** What two clocks may differ by that are rounded and read one after the other. */
const noticeable = 1_000;

export class Counter {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #setBacks: ClockSetBackLog;
  readonly #advance: Statement<{ now: number; wall: number; numbers: number }, Row>;
  readonly #look: Statement<object, Row>;

  constructor(database: Database, clock: Clock, setBacks: ClockSetBackLog) {
    this.#database = database;
    this.#clock = clock;
    this.#setBacks = setBacks;
    const { sqlite } = database;
    this.#advance = statement(sqlite, (at) =>
      mirrorSql
        .updateTable('reading_counter')
        .set({
          read_seq: sql`read_seq + ${at('numbers')}`,
          ...mirrorTime(at('now')),
          wall_ms: at('wall'),
        })
        .returning(columns),
    );
    this.#look = statement(sqlite, () => mirrorSql.selectFrom('reading_counter').select(columns));
  }

  /** Takes the number of a request that is about to leave, and the mirror time of that moment. */
  take(): Promise<ReadStamp> {
    // Whatever is known by this number is written after it.
    return this.#database.writeWithoutSync(() => this.advance().stamp);
  }

  /** As `take`, inside a transaction; and for how long the machine has run, where it was started anew since the file was made. */
  advance(): { readonly stamp: ReadStamp; readonly sinceRestart: number } {
    const { read_seq, mirror_ms, offset_ms } = this.#step(1);
    const stamp = { readSeq: read_seq, begun: mirror_ms };
    return { stamp, sinceRestart: offset_ms === 0 ? Infinity : mirror_ms - offset_ms };
  }

  /** Mirror time now, in milliseconds. */
  moment(): number {
    const { offset_ms, mirror_ms } = row(this.#look.get({}));
    return Math.max(mirror_ms, this.#now() + offset_ms);
  }

  /** The highest number taken so far, by whichever process. */
  lastTaken(): number {
    return row(this.#look.get({})).read_seq;
  }

  /** As `current`, and looks whether the clock was set back. Runs inside a transaction. */
  compareClocks(): number {
    return this.#step(0).read_seq;
  }

  #now(): number {
    return Math.floor(this.#clock.monotonic());
  }

  #step(numbers: 0 | 1): Row {
    const last = row(this.#look.get({}));
    const wall = this.#clock.now();
    const taken = row(this.#advance.get({ now: this.#now(), wall, numbers }));
    const behind = (last.wall_ms ?? -Infinity) + taken.mirror_ms - last.mirror_ms - wall;
    if (behind >= noticeable) this.#setBacks.record(taken.read_seq, behind);
    return taken;
  }
}

/** Mirror time at that moment of the machine's clock, which begins anew with the machine. */
export function mirrorTime(now: RawBuilder<number>): Record<'offset_ms' | 'mirror_ms', RawBuilder<number>> {
  return {
    offset_ms: sql`max(offset_ms, mirror_ms - ${now})`,
    mirror_ms: sql`max(mirror_ms, ${now} + offset_ms)`,
  };
}

function row<T>(found: T | undefined): T {
  if (!found) throw new Error('The reading counter has no row.');
  return found;
}
