/**
 * The one counter that orders readings, and mirror time. Mirror time is the machine's monotonic clock, shared by all
 * processes, carried on over restarts: when the machine's clock begins anew, the offset rises so that it never falls back.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Clock } from '../../domain/clock.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import type { Database } from '../sqlite/database.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';

export interface Counter {
  /** Takes the number of a request that is about to leave, and the mirror time of that moment. */
  take(): Promise<ReadStamp>;
  /** As `take`, inside a transaction; and for how long the machine has run, where it was started anew since the file was made. */
  advance(): { readonly stamp: ReadStamp; readonly sinceRestart: number };
  /** Mirror time now, in milliseconds. */
  moment(): number;
  /** The highest number taken so far, by whichever process. */
  current(): number;
}

export function readingCounter(database: Database, clock: Clock): Counter {
  const { sqlite } = database;
  const now = (): number => Math.floor(clock.monotonic());
  const advance = statement<{ now: number }, { read_seq: number; offset_ms: number; mirror_ms: number }>(sqlite, (at) =>
    mirrorSql
      .updateTable('reading_counter')
      .set({
        read_seq: sql`read_seq + 1`,
        ...mirrorTime(at('now')),
      })
      .returning(['read_seq', 'offset_ms', 'mirror_ms']),
  );
  const look = statement<object, { read_seq: number; offset_ms: number; mirror_ms: number }>(sqlite, () =>
    mirrorSql.selectFrom('reading_counter').select(['read_seq', 'offset_ms', 'mirror_ms']),
  );
  const row = <T>(found: T | undefined): T => {
    if (!found) throw new Error('The reading counter has no row.');
    return found;
  };
  const next: Counter['advance'] = () => {
    const { read_seq, mirror_ms, offset_ms } = row(advance.get({ now: now() }));
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
  };
}

/** Mirror time at that moment of the machine's clock, which begins anew with the machine. */
export function mirrorTime(now: RawBuilder<number>): Record<'offset_ms' | 'mirror_ms', RawBuilder<number>> {
  return {
    offset_ms: sql`max(offset_ms, mirror_ms - ${now})`,
    mirror_ms: sql`max(mirror_ms, ${now} + offset_ms)`,
  };
}
