/**
 * Usage of the rate limits by all processes of a mirror, also before a restart. A row is written before its request is sent, in the
 * transaction that numbers it, and counts until a whole period after its answer came. That end is written with the next request of
 * this process, or a second later; until then the row counts as if the request took the longest time that it may.
 */
import { sleptThrough, type Clock } from '../../domain/clock.ts';
import type { RateDemand, ReservationOrWait } from '../../domain/rate-reservation.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import type { ReadingCounter } from '../rows/reading-counter.ts';
import type { Database } from '../sqlite/database.ts';
import type { ProcessLock } from '../files/process-lock.ts';
import { shortLockWait } from '../sqlite/lock-wait.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { RequestTable } from '../tables/mirror-tables.ts';

type Scope = Pick<RequestTable, 'account_id' | 'family'>;

/** The longest wait before trying again, in milliseconds: another process may end its request early. */
const longestWait = 5_000;

/** The longest time until the end of a request is written, in milliseconds. */
const longestUnwritten = 1_000;

/** Ended requests are removed after this many new ones at the latest, so that removing them is quick. */
const mostUncounted = 500;

interface Usage {
  readonly used: number;
  readonly readSeq: number;
}

export class RateLedger {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #counter: ReadingCounter;
  readonly #process: Pick<ProcessLock, 'name' | 'isAlive'>;
  readonly #add: Statement<RequestTable>;
  readonly #removeOver: Statement<Scope & { now: number }>;
  readonly #usage: Statement<Scope & { now: number }, { used: number; next: number | null }>;
  readonly #overdue: Statement<Scope & { now: number }, Pick<RequestTable, 'read_seq' | 'process'>>;
  readonly #remove: Statement<Scope & { read_seq: number }>;
  readonly #end: Statement<Scope & Pick<RequestTable, 'read_seq' | 'counts_until_ms'>>;
  /** The last count, by account and family. */
  readonly #counted = new Map<string, Usage>();
  /** Ended requests of this process whose end is not written yet, by number. */
  readonly #ended = new Map<number, Scope & Pick<RequestTable, 'counts_until_ms'>>();
  readonly #closing = new AbortController();
  #willWrite = false;

  constructor(
    database: Database,
    {
      clock,
      counter,
      process,
    }: { clock: Clock; counter: ReadingCounter; process: Pick<ProcessLock, 'name' | 'isAlive'> },
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#counter = counter;
    this.#process = process;
    const { sqlite } = database;
    this.#add = statement(sqlite, (at) =>
      mirrorSql.insertInto('_requests').values({
        account_id: at('account_id'),
        family: at('family'),
        read_seq: at('read_seq'),
        counts_until_ms: at('counts_until_ms'),
        process: at('process'),
      }),
    );
    this.#removeOver = statement(sqlite, (at) =>
      mirrorSql
        .deleteFrom('_requests')
        .where('account_id', '=', at('account_id'))
        .where('family', '=', at('family'))
        .where('counts_until_ms', '<=', at('now'))
        .where('process', 'is', null),
    );
    this.#usage = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('_requests')
        .select((row) => [
          row.fn.countAll<number>().as('used'),
          row.fn.min('counts_until_ms').filterWhere('counts_until_ms', '>', at('now')).as('next'),
        ])
        .where('account_id', '=', at('account_id'))
        .where('family', '=', at('family')),
    );
    this.#overdue = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('_requests')
        .select(['read_seq', 'process'])
        .where('account_id', '=', at('account_id'))
        .where('family', '=', at('family'))
        .where('counts_until_ms', '<=', at('now')),
    );
    this.#remove = statement(sqlite, (at) =>
      mirrorSql
        .deleteFrom('_requests')
        .where('account_id', '=', at('account_id'))
        .where('family', '=', at('family'))
        .where('read_seq', '=', at('read_seq')),
    );
    this.#end = statement(sqlite, (at) =>
      mirrorSql
        .updateTable('_requests')
        .set({ counts_until_ms: at('counts_until_ms'), process: null })
        .where('account_id', '=', at('account_id'))
        .where('family', '=', at('family'))
        .where('read_seq', '=', at('read_seq')),
    );
  }

  /** Reserves a place for a request, or returns the milliseconds after which to try again. */
  async reserve(demand: RateDemand): Promise<ReservationOrWait> {
    const begun = this.#clock.monotonic();
    // Needs no sync: everything the request brings is written after it.
    const taken = await this.#writeWithEnds(() => this.#take(demand));
    if (!('stamp' in taken)) return taken;
    const { stamp } = taken;
    return {
      stamp,
      end: (late) => {
        const took = Math.ceil(this.#clock.monotonic() - begun);
        const counts_until_ms = stamp.begun + took + late + demand.per;
        this.#ended.set(stamp.readSeq, { account_id: demand.accountId, family: demand.family, counts_until_ms });
        void this.#writeSoon();
      },
    };
  }

  /** Writes the ends of requests that are not written yet; on failure they count for as long as they might have taken. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#ended.size > 0) await this.#writeWithEnds(() => undefined, shortLockWait).catch(() => undefined);
  }

  /** Unless the next request writes the ends before. On failure, as on a full disk, it does. */
  async #writeSoon(): Promise<void> {
    if (this.#willWrite) return;
    this.#willWrite = true;
    const isDue = await sleptThrough(this.#clock, longestUnwritten, this.#closing.signal);
    this.#willWrite = false;
    if (isDue && this.#ended.size > 0) await this.#writeWithEnds(() => undefined).catch(() => undefined);
  }

  async #writeWithEnds<T>(work: () => T, lockWait?: number): Promise<T> {
    const ended = [...this.#ended];
    const result = await this.#database.writeWithoutSync(() => {
      for (const [read_seq, end] of ended) this.#end.run({ ...end, read_seq });
      return work();
    }, lockWait);
    for (const [read_seq] of ended) this.#ended.delete(read_seq);
    return result;
  }

  #take({ accountId, family, requests, per, longest }: RateDemand): { stamp: ReadStamp } | { wait: number } {
    const scope = { account_id: accountId, family };
    const { stamp, sinceRestart } = this.#counter.advance();
    const now = stamp.begun;
    // The last writes before a power cut may be lost, so nothing is sent for one period after a restart.
    if (sinceRestart < per) return { wait: per - sinceRestart };
    const key = `${accountId} ${family}`;
    if (isToCount(this.#counted.get(key), stamp.readSeq, requests)) {
      this.#removeOver.run({ ...scope, now });
      this.#removeOfDead(scope, now);
      const { used, next } = this.#usage.get({ ...scope, now }) ?? { used: 0, next: null };
      this.#counted.set(key, { used, readSeq: stamp.readSeq });
      if (used >= requests) return { wait: Math.min(longestWait, (next ?? Infinity) - now) };
    }
    const counts_until_ms = now + longest + per;
    this.#add.run({ ...scope, read_seq: stamp.readSeq, counts_until_ms, process: this.#process.name });
    return { stamp };
  }

  /** Overdue requests still count while their process lives: it may be suspended. */
  #removeOfDead(scope: Scope, now: number): void {
    for (const { read_seq, process } of this.#overdue.all({ ...scope, now }))
      if (process !== null && !this.#process.isAlive(process)) this.#remove.run({ ...scope, read_seq });
  }
}

/**
 * Whether the limit may have been reached since the last count. Every request of every process takes a number, so there are at most as many
 * new requests as new numbers.
 */
function isToCount(last: Usage | undefined, readSeq: number, requests: number): boolean {
  if (last === undefined) return true;
  const atMost = readSeq - last.readSeq;
  return atMost >= mostUncounted || last.used + atMost >= requests;
}
