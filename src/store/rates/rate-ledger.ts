/**
 * Usage of the rate limits by all processes of a mirror, also before a restart. A row is written before its request is sent, in the
 * transaction that numbers it, and counts until a whole period after its answer came. That end is written with the account's next request,
 * or a second later where several wait; until then the row counts as if the request took the longest time that it may.
 */
import { sleptThrough, type Clock } from '../../domain/clock.ts';
import type { RateDemand, Reservation, ReservationOrWait } from '../../domain/rate-reservation.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import {
  heldShare,
  isOrdered,
  longestAhead,
  PlacesAhead,
  type ExpectedRequests,
  type TakenAhead,
} from './places-ahead.ts';
import type { ReadingCounter } from '../rows/reading-counter.ts';
import { RequestEnds } from './request-ends.ts';
import { RequestRows, scopeKey, scopeOf, type RequestEnd, type RequestScope } from './request-rows.ts';
import type { Database } from '../sqlite/database.ts';
import type { ProcessLock } from '../files/process-lock.ts';
import { shortLockWait } from '../sqlite/lock-wait.ts';
import { plainStatement, type None, type Statement } from '../sqlite/plain-statement.ts';

/** The longest wait before trying again, in milliseconds: another process may end its request early. */
const longestWait = 5_000;

/** The longest time until the ends of several requests are written, in milliseconds. */
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
  readonly #rows: RequestRows;
  readonly #version: Statement<None, { data_version: number }>;
  /** The last count, by account and family. */
  readonly #counted = new Map<string, Usage>();
  readonly #ends = new RequestEnds();
  readonly #ahead = new PlacesAhead();
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
    this.#version = plainStatement(database.sqlite, 'PRAGMA data_version');
  }

  /** Reserves a place for a request, or returns the milliseconds after which to try again. */
  async reserve(demand: RateDemand): Promise<ReservationOrWait> {
    this.#ahead.note(demand);
    const takenAt = this.#clock.monotonic();
    const ahead = await this.#takenAhead(demand, takenAt);
    if (ahead) return ahead;
    const scope = scopeOf(demand);
    // Needs no sync: everything the request brings is written after it.
    const taken = await this.#writeWithEnds(this.#ends.of(scope), () => {
      const result = this.#take(demand, demand.longest);
      if ('stamp' in result) this.#ahead.tookOther(demand, result.stamp);
      return result;
    });
    return 'stamp' in taken ? this.#reservation(demand, taken.stamp, takenAt) : taken;
  }

  /**
   * A run begins: takes the places of the requests that are expected to follow, if they are few. Runs inside a transaction.
   * @returns what to call once that is committed.
   */
  takeAhead(accountId: string, began: ReadStamp): () => void {
    this.#ahead.began(accountId, began);
    const expected = this.#ahead.expected(accountId);
    const unused = this.#ahead.unused(accountId);
    for (const place of unused) this.#rows.remove(place);
    const ends = expected.flatMap(({ demand }) => this.#ends.of(scopeOf(demand)));
    this.#writeEnds(ends);
    const taken = expected.map((requests) => this.#takeSeveral(requests));
    return () => {
      this.#ends.written(ends);
      this.#ahead.replace(accountId, taken);
    };
  }

  /** Takes a number without a request, and the mirror time. Everything that uses it is written after it. */
  takeStamp(): Promise<ReadStamp> {
    return this.#database.writeWithoutSync(() => {
      const { stamp } = this.#counter.advance();
      this.#ahead.tookStamp(stamp);
      return stamp;
    });
  }

  /** Writes the ends of requests that are not written yet; on failure they count for as long as they might have taken. */
  async close(): Promise<void> {
    this.#closing.abort();
    const ends = this.#ends.all();
    const unused = this.#ahead.allUnused();
    if (ends.length === 0 && unused.length === 0) return;
    const giveBack = (): void => unused.forEach((place) => this.#rows.remove(place));
    await this.#writeWithEnds(ends, giveBack, shortLockWait).catch(() => undefined);
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

  /** A place that the run of this request took with its begin, if there is one. */
  async #takenAhead(demand: RateDemand, now: number): Promise<Reservation | undefined> {
    const ahead = this.#ahead.usable(demand, now);
    if (!ahead) return undefined;
    const stamp = await this.#database.read(() =>
      !isOrdered(demand) || this.#dataVersion() === ahead.dataVersion ? this.#ahead.use(demand) : undefined,
    );
    return stamp && this.#reservation(demand, stamp, ahead.takenAt);
  }

  /** Unless the next request writes the ends before. On failure, as on a full disk, it does. */
  async #writeSoon(): Promise<void> {
    if (this.#willWrite) return;
    this.#willWrite = true;
    const isDue = await sleptThrough(this.#clock, longestUnwritten, this.#closing.signal);
    this.#willWrite = false;
    const ends = this.#ends.all();
    if (isDue && ends.length > 0) await this.#writeWithEnds(ends, () => undefined).catch(() => undefined);
  }

  async #writeWithEnds<T>(ends: readonly RequestEnd[], work: () => T, lockWait?: number): Promise<T> {
    const result = await this.#database.writeWithoutSync(() => {
      this.#writeEnds(ends);
      return work();
    }, lockWait);
    this.#ends.written(ends);
    return result;
  }

  #writeEnds(ends: readonly RequestEnd[]): void {
    for (const end of ends) this.#rows.end(end);
  }

  /** Changes when another process has written to the file. Runs inside a transaction. */
  #dataVersion(): number {
    return this.#version.get({})?.data_version ?? 0;
  }

  /** Takes as many places as are expected to be needed, or as there are. */
  #takeSeveral({ demand, requests }: ExpectedRequests): TakenAhead {
    const takenAt = this.#clock.monotonic();
    const stamps: ReadStamp[] = [];
    while (stamps.length < requests) {
      const taken = this.#take(demand, longestAhead + demand.longest);
      if (!('stamp' in taken)) break;
      stamps.push(taken.stamp);
    }
    return { demand, stamps, takenAt, dataVersion: this.#dataVersion() };
  }

  /** `longest`: the longest time until its end, in milliseconds. */
  #take(demand: RateDemand, longest: number): { stamp: ReadStamp } | { wait: number } {
    const { requests, per } = demand;
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
      if (used >= requests) return { wait: Math.min(longestWait, (next ?? Infinity) - now) };
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
  return atMost >= mostUncounted || last.used + atMost >= requests;
}
