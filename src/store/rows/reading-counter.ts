/**
 * The one counter that orders readings, and mirror time. Mirror time is the machine's monotonic clock, shared by all
 * processes, carried on over restarts: when the machine's clock begins anew, the offset rises so that it never falls back.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Clock } from '../../domain/clock.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import type { Database } from '../sqlite/database.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { CounterTable } from '../tables/mirror-tables.ts';

export interface Counter {
  /** Takes the number of a request that is about to leave, and the mirror time of that moment. */
  take(): Promise<ReadStamp>;
  /** As `take`, inside a transaction; and for how long the machine has run, where it was started anew since the file was made. */
  advance(): { readonly stamp: ReadStamp; readonly sinceRestart: number };
  /** Mirror time now, in milliseconds. */
  moment(): number;
  /** The highest number taken so far, by whichever process. */
  current(): number;
  /** As `current`, and looks whether the clock was set back. Runs inside a transaction. */
  compareClocks(): number;
}

/** What is done about a clock that was set back. */
export interface SetBacks {
  /** The clock was set back, by so many milliseconds at least; by no more, if that is known. Runs inside a transaction. */
  note(readSeq: number, ms: number, isKnown: boolean): void;
  /** By how much it was set back since that number was taken; undefined where nobody knows. */
  since(readSeq: number): number | undefined;
}

type Row = Pick<CounterTable, 'read_seq' | 'offset_ms' | 'mirror_ms' | 'wall_ms'>;
const columns = ['read_seq', 'offset_ms', 'mirror_ms', 'wall_ms'] as const;

/** What two clocks may differ by that are rounded and read one after the other. */
const noticeable = 1_000;

export function readingCounter(database: Database, clock: Clock, setBacks: SetBacks): Counter {
  const { sqlite } = database;
  const now = (): number => Math.floor(clock.monotonic());
  const advance = statement<{ now: number; wall: number; numbers: number }, Row>(sqlite, (at) =>
    mirrorSql
      .updateTable('reading_counter')
      .set({
        read_seq: sql`read_seq + ${at('numbers')}`,
        ...mirrorTime(at('now')),
        wall_ms: at('wall'),
      })
      .returning(columns),
  );
  const look = statement<object, Row>(sqlite, () => mirrorSql.selectFrom('reading_counter').select(columns));
  const row = <T>(found: T | undefined): T => {
    if (!found) throw new Error('The reading counter has no row.');
    return found;
  };
  const step = (numbers: 0 | 1): Row => {
    const last = row(look.get({}));
    const wall = clock.now();
    const taken = row(advance.get({ now: now(), wall, numbers }));
    const behind = (last.wall_ms ?? -Infinity) + taken.mirror_ms - last.mirror_ms - wall;
    if (behind >= noticeable) setBacks.note(taken.read_seq, behind, taken.offset_ms === last.offset_ms);
    return taken;
  };
  const next: Counter['advance'] = () => {
    const { read_seq, mirror_ms, offset_ms } = step(1);
    const stamp = { readSeq: read_seq, begun: mirror_ms };
    return { stamp, sinceRestart: offset_ms === 0 ? Infinity : mirror_ms - offset_ms };
  };
  return {
    // Whatever is known by this number is written after it.
    take: () => database.writeInOrder(() => next().stamp),
    advance: next,
    moment() {
      const { offset_ms, mirror_ms } = row(look.get({}));
      return Math.max(mirror_ms, now() + offset_ms);
    },
    current: () => row(look.get({})).read_seq,
    compareClocks: () => step(0).read_seq,
  };
}

/** Mirror time at that moment of the machine's clock, which begins anew with the machine. */
export function mirrorTime(now: RawBuilder<number>): Record<'offset_ms' | 'mirror_ms', RawBuilder<number>> {
  return {
    offset_ms: sql`max(offset_ms, mirror_ms - ${now})`,
    mirror_ms: sql`max(mirror_ms, ${now} + offset_ms)`,
  };
}
