/**
 * Usage of the rate limits by all processes of a mirror, also before a restart. A row is written before its request is sent, in the
 * transaction that numbers it, and counts until a whole period after its answer came. That end is written with the account's next request,
 * or a second later where several wait; until then the row counts as if the request took the longest time that it may.
 *
 * Each request takes its number and its place in the rate in a transaction of its own. Several in one were tried for long pulls: an
 * unchanged one took a twentieth less processor time, one with changes a fifteenth more, because fewer pages shared a commit. An answer
 * without a record, such as a 404, has the number of its own request.
 */
import { sql, type RawBuilder } from 'kysely';
import { sleptThrough, type Clock } from '../domain/clock.ts';
import type { RateDemand, ReadStamp, Reservation, ReservationOrWait } from '../domain/reading.ts';
import type { ProcessLock } from './files/locks.ts';
import type { ReadingCounter } from './reading-counter.ts';
import { shortLockWait, type Database } from './sqlite/database.ts';
import type { Sqlite } from './sqlite/driver.ts';
import type { RequestTable } from './sqlite/schema.ts';
import { columns, mirrorSql, statement, type At, type Statement } from './sqlite/statement.ts';

/** The longest wait before trying again, in milliseconds: another process may end its request early. */
const maxWait = 5_000;

/** The longest time until the ends of several requests are written, in milliseconds. */
const maxUnwritten = 1_000;

/** The part of a rate that requests may take up with ends that are not written yet. */
const heldShare = 0.1;

/** Ended requests are removed after this many new ones at the latest, so that removing them is quick. */
const maxUncounted = 500;

interface Usage {
  readonly used: number;
  readonly readSeq: number;
}

export class RateLedger {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #counter: ReadingCounter;
  readonly #process: Pick<ProcessLock, 'name' | 'isAlive'>;
  readonly #rows: RequestRows;
  /** The last count, by account and family. */
  readonly #counted = new Map<string, Usage>();
  readonly #ends = new RequestEnds();
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
    this.#rows = new RequestRows(database.sqlite);
  }

  /** Reserves a place for a request, or returns the milliseconds after which to try again. */
  async reserve(demand: RateDemand): Promise<ReservationOrWait> {
    const takenAt = this.#clock.monotonic();
    // Needs no sync: everything the request brings is written after it.
    const taken = await this.#writeWithEnds(this.#ends.of(scopeOf(demand)), () => this.#take(demand));
    return 'stamp' in taken ? this.#reservation(demand, taken.stamp, takenAt) : taken;
  }

  /** Takes a number without a request, and the mirror time. Everything that uses it is written after it. */
  takeStamp(): Promise<ReadStamp> {
    return this.#database.writeWithoutSync(() => this.#counter.advance().stamp);
  }

  /** Writes the ends of requests that are not written yet; on failure they count for as long as they might have taken. */
  async close(): Promise<void> {
    this.#closing.abort();
    const ends = this.#ends.all();
    if (ends.length === 0) return;
    await this.#writeWithEnds(ends, () => undefined, shortLockWait).catch(() => undefined);
  }

  #reservation(demand: RateDemand, stamp: ReadStamp, takenAt: number): Reservation {
    return {
      stamp,
      end: (late) => {
        const took = Math.ceil(this.#clock.monotonic() - takenAt);
        const counts_until_ms = stamp.begun + took + late + demand.per;
        const unwritten = this.#ends.add({ ...scopeOf(demand), read_seq: stamp.readSeq, counts_until_ms });
        if (unwritten > demand.requests * heldShare) void this.#writeSoon();
      },
    };
  }

  /** Unless the next request writes the ends before. On failure, as on a full disk, it does. */
  async #writeSoon(): Promise<void> {
    if (this.#willWrite) return;
    this.#willWrite = true;
    const isDue = await sleptThrough(this.#clock, maxUnwritten, this.#closing.signal);
    this.#willWrite = false;
    const ends = this.#ends.all();
    if (isDue && ends.length > 0) await this.#writeWithEnds(ends, () => undefined).catch(() => undefined);
  }

  async #writeWithEnds<T>(ends: readonly RequestEnd[], work: () => T, lockWait?: number): Promise<T> {
    const result = await this.#database.writeWithoutSync(() => {
      for (const end of ends) this.#rows.end(end);
      return work();
    }, lockWait);
    this.#ends.written(ends);
    return result;
  }

  #take(demand: RateDemand): { stamp: ReadStamp } | { wait: number } {
    const { requests, per, longest } = demand;
    const scope = scopeOf(demand);
    const { stamp, sinceRestart } = this.#counter.advance();
    const now = stamp.begun;
    // The last writes before a power cut may be lost, so nothing is sent for one period after a restart.
    if (sinceRestart < per) return { wait: per - sinceRestart };
    const key = scopeKey(scope);
    if (isToCount(this.#counted.get(key), stamp.readSeq, requests)) {
      this.#rows.removeOver(scope, now);
      this.#removeOfDead(scope, now);
      const { used, next } = this.#rows.usage(scope, now);
      this.#counted.set(key, { used, readSeq: stamp.readSeq });
      if (used >= requests) return { wait: Math.min(maxWait, (next ?? Infinity) - now) };
    }
    const counts_until_ms = now + longest + per;
    this.#rows.add({ ...scope, read_seq: stamp.readSeq, counts_until_ms, process: this.#process.name });
    return { stamp };
  }

  /** Overdue requests still count while their process lives: it may be suspended. */
  #removeOfDead(scope: RequestScope, now: number): void {
    for (const { read_seq, process } of this.#rows.overdue(scope, now))
      if (process !== null && !this.#process.isAlive(process)) this.#rows.remove({ ...scope, read_seq });
  }
}

/**
 * Whether the limit may have been reached since the last count. Every request of every process takes a number, so there are at most as many
 * new requests as new numbers.
 */
function isToCount(last: Usage | undefined, readSeq: number, requests: number): boolean {
  if (last === undefined) return true;
  const atMost = readSeq - last.readSeq;
  return atMost >= maxUncounted || last.used + atMost >= requests;
}

/** What a rate limit is for. */
type RequestScope = Pick<RequestTable, 'account_id' | 'family'>;

type RequestKey = RequestScope & Pick<RequestTable, 'read_seq'>;

type RequestEnd = RequestKey & Pick<RequestTable, 'counts_until_ms'>;

export interface RateUsage {
  readonly used: number;
  /** Mirror time when the next place becomes free; null for none. */
  readonly next: number | null;
}

/** The rows of `_requests`: requests that still count for their rate limit. Everything runs inside a transaction. */
class RequestRows {
  readonly #add: Statement<RequestTable>;
  readonly #removeOver: Statement<RequestScope & { now: number }>;
  readonly #usage: Statement<RequestScope & { now: number }, RateUsage>;
  readonly #overdue: Statement<RequestScope & { now: number }, Pick<RequestTable, 'read_seq' | 'process'>>;
  readonly #remove: Statement<RequestKey>;
  readonly #end: Statement<RequestEnd>;

  constructor(sqlite: Sqlite) {
    this.#add = statement(sqlite, (at) =>
      mirrorSql
        .insertInto('_requests')
        .values(columns(at, ['account_id', 'family', 'read_seq', 'counts_until_ms', 'process'])),
    );
    const isOf = (at: At<RequestScope>): RawBuilder<unknown> =>
      sql`account_id = ${at('account_id')} AND family = ${at('family')}`;
    this.#removeOver = statement(
      sqlite,
      (at) => sql`DELETE FROM _requests WHERE ${isOf(at)} AND counts_until_ms <= ${at('now')} AND process IS NULL`,
    );
    this.#usage = statement(
      sqlite,
      (at) => sql`
        SELECT count(*) AS used, min(counts_until_ms) FILTER (WHERE counts_until_ms > ${at('now')}) AS next
        FROM _requests WHERE ${isOf(at)}`,
    );
    this.#overdue = statement(
      sqlite,
      (at) => sql`SELECT read_seq, process FROM _requests WHERE ${isOf(at)} AND counts_until_ms <= ${at('now')}`,
    );
    this.#remove = statement(
      sqlite,
      (at) => sql`DELETE FROM _requests WHERE ${isOf(at)} AND read_seq = ${at('read_seq')}`,
    );
    this.#end = statement(
      sqlite,
      (at) => sql`
        UPDATE _requests SET counts_until_ms = ${at('counts_until_ms')}, process = NULL
        WHERE ${isOf(at)} AND read_seq = ${at('read_seq')}`,
    );
  }

  add(request: RequestTable): void {
    this.#add.run(request);
  }

  /** The request counts until then and is no longer under way. */
  end(end: RequestEnd): void {
    this.#end.run(end);
  }

  remove(key: RequestKey): void {
    this.#remove.run(key);
  }

  /** Removes ended requests that no longer count. */
  removeOver(scope: RequestScope, now: number): void {
    this.#removeOver.run({ ...scope, now });
  }

  /** Requests that should have ended by now. */
  overdue(scope: RequestScope, now: number): Pick<RequestTable, 'read_seq' | 'process'>[] {
    return this.#overdue.all({ ...scope, now });
  }

  usage(scope: RequestScope, now: number): RateUsage {
    return this.#usage.get({ ...scope, now }) ?? { used: 0, next: null };
  }
}

function scopeOf({ accountId, family }: Pick<RateDemand, 'accountId' | 'family'>): RequestScope {
  return { account_id: accountId, family };
}

function scopeKey({ account_id, family }: RequestScope): string {
  return `${account_id} ${family}`;
}

/** Ends of requests that are not in the file yet, by account and family. */
class RequestEnds {
  readonly #byScope = new Map<string, Set<RequestEnd>>();

  /** @returns how many of its account and family there are now. */
  add(end: RequestEnd): number {
    const key = scopeKey(end);
    const ends = this.#byScope.get(key) ?? new Set();
    this.#byScope.set(key, ends.add(end));
    return ends.size;
  }

  of(scope: RequestScope): readonly RequestEnd[] {
    return [...(this.#byScope.get(scopeKey(scope)) ?? [])];
  }

  all(): readonly RequestEnd[] {
    return [...this.#byScope.values()].flatMap((ends) => [...ends]);
  }

  /** These are in the file now. */
  written(ends: readonly RequestEnd[]): void {
    for (const end of ends) this.#byScope.get(scopeKey(end))?.delete(end);
  }
}
