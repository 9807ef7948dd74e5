/**
 * Usage of the rate limits by all processes of a mirror, also before a restart. A row is written before its request is sent, in the
 * transaction that numbers it, and counts until a whole period after its answer came, in each window that its request counts against. That end is written
 * with the connection's next request, or a second later where several wait; until then the row counts as if the request took the longest time that it may.
 *
 * A process that finds no place for a prompt request has a row in `_rate_waits` until it has one, and all others leave a tenth of the rate to
 * each process that waited before them: so none is starved, whoever tries first. A process that has ended loses its turn a few seconds after
 * it should have tried.
 *
 * In a file, each request takes its number and its place in the rate in a transaction of its own. Several in one were tried for long pulls: an
 * unchanged one took a twentieth less processor time, one with changes a fifteenth more, because fewer pages shared a commit. On a server, those
 * that wait for a place at the same time, of all accounts, take them in one transaction: each journey to it takes longer than all else. An answer
 * without a record, such as a 404, has the number of its own request.
 */
import { sql, type RawBuilder } from 'kysely';
import { sleptThrough, type Clock } from '../domain/clock.ts';
import { inOrder } from '../domain/concurrency.ts';
import type {
  RateBound,
  RateDemand,
  ReadStamp,
  Reservation,
  ReservationOrWait,
  RateWindow,
} from '../domain/reading.ts';
import type { ProcessLock } from '../domain/processes.ts';
import type { Advanced, ReadingCounter } from './reading-counter.ts';
import { shortLockWait, type Database } from './sql/database.ts';
import { columns, mirrorSql, statement, together, type Connection, type At } from './sql/statement.ts';
import type { RateWaitTable, RequestTable } from './sql/schema.ts';

/** The longest wait before trying again, in milliseconds: another process may end its request early. */
const maxWait = 5_000;

/** The part of a rate that is left to a process that waits. */
const waitShare = 0.1;

/** How much later than it was told a process may try again and keep its turn, in milliseconds. */
const waitGrace = 5_000;

/** The longest time until the ends of several requests are written, in milliseconds. */
const maxUnwritten = 1_000;

/** The part of a rate that requests may take up with ends that are not written yet. */
const heldShare = 0.1;

/** Ended requests are removed after this many new ones at the latest, so that removing them is quick. */
const maxUncounted = 500;

type Taken = { readonly stamp: ReadStamp } | { readonly wait: number; readonly window: RateWindow };

interface Usage {
  readonly used: number;
  readonly readSeq: number;
}

export class RateLedger {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #counter: ReadingCounter;
  readonly #process: Pick<ProcessLock, 'name' | 'isAlive'>;
  readonly #rows: ReturnType<typeof requestRows>;
  readonly #waits: ReturnType<typeof waitRows>;
  /** Where this process waits, by connection and window. */
  readonly #waiting = new Map<string, RequestScope>();
  /** The last count, by connection and window: the requests, and the other processes that wait. */
  readonly #counted = new Map<string, Usage>();
  /** By connection, those that are not written yet. */
  readonly #ends = new Map<string, Set<RequestEnd>>();
  readonly #closing = new AbortController();
  readonly #taken: (demand: RateDemand) => Promise<Taken>;
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
    this.#rows = requestRows(database.connection);
    this.#waits = waitRows(database.connection);
    this.#taken = together(database.connection, clock, (demands) => this.#takeAll(demands));
  }

  /** Reserves a place for a request, or returns the milliseconds after which to try again. */
  async reserve(demand: RateDemand): Promise<ReservationOrWait> {
    const takenAt = this.#clock.monotonic();
    const taken = await this.#taken(demand);
    const { connection, bounds, isPrompt } = demand;
    if (!('stamp' in taken)) {
      const scope = { connection, window: taken.window };
      if (isPrompt) this.#waiting.set(scopeKey(scope), scope);
      return taken;
    }
    for (const { window } of bounds) this.#waiting.delete(scopeKey({ connection, window }));
    return this.#reservation(demand, taken.stamp, takenAt);
  }

  /** Takes a number without a request, and the mirror time. Everything that uses it is written after it. */
  takeStamp(): Promise<ReadStamp> {
    return this.#database.writeWithoutSync(async () => (await this.#counter.advance()).stamp);
  }

  /**
   * Writes the ends of requests that are not written yet; on failure they count for as long as they might have taken. Gives up the turns of this
   * process.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    const ends = this.#allEnds();
    const waiting = [...this.#waiting.values()];
    if (ends.length + waiting.length === 0) return;
    const giveUp = (): void => {
      for (const scope of waiting) this.#waits.remove.send({ ...scope, process: this.#process.name });
    };
    await this.#writeWithEnds(ends, giveUp, shortLockWait).catch(() => undefined);
  }

  #reservation(demand: RateDemand, stamp: ReadStamp, takenAt: number): Reservation {
    return {
      stamp,
      end: (late) => {
        const took = Math.ceil(this.#clock.monotonic() - takenAt);
        const { connection } = demand;
        for (const { window, requests, per } of demand.bounds) {
          const counts_until_ms = stamp.begun + took + late + per;
          const ends = this.#endsOf(connection);
          ends.add({ connection, window, read_seq: stamp.readSeq, counts_until_ms });
          const unwritten = [...ends].filter((end) => end.window === window);
          if (unwritten.length > requests * heldShare) void this.#writeSoon();
        }
      },
    };
  }

  #endsOf(connection: string): Set<RequestEnd> {
    const known = this.#ends.get(connection) ?? new Set();
    this.#ends.set(connection, known);
    return known;
  }

  #allEnds(): RequestEnd[] {
    return [...this.#ends.values()].flatMap((ends) => [...ends]);
  }

  /** Unless the next request writes the ends before. On failure, as on a full disk, it does. */
  async #writeSoon(): Promise<void> {
    if (this.#willWrite) return;
    this.#willWrite = true;
    const isDue = await sleptThrough(this.#clock, maxUnwritten, this.#closing.signal);
    this.#willWrite = false;
    const ends = this.#allEnds();
    if (isDue && ends.length > 0) await this.#writeWithEnds(ends, () => undefined).catch(() => undefined);
  }

  async #writeWithEnds<T>(ends: readonly RequestEnd[], work: () => T | Promise<T>, lockWait?: number): Promise<T> {
    const result = await this.#database.writeWithoutSync(() => {
      for (const end of ends) this.#rows.end.send(end);
      return work();
    }, lockWait);
    for (const end of ends) this.#ends.get(end.connection)?.delete(end);
    return result;
  }

  /** Needs no sync: everything that the requests bring is written after it. */
  #takeAll(demands: readonly RateDemand[]): Promise<Taken[]> {
    const connections = new Set(demands.map(({ connection }) => connection));
    const ends = [...connections].flatMap((connection) => [...this.#endsOf(connection)]);
    return this.#writeWithEnds(ends, async () => {
      const numbers = await this.#counter.advanceTimes(demands.length);
      const numbered = demands.flatMap((demand, nth) => {
        const number = numbers[nth];
        return number ? [{ demand, number }] : [];
      });
      return inOrder(numbered, ({ demand, number }) => this.#take(demand, number));
    });
  }

  async #take(
    { connection, bounds, longest, isPrompt = false }: RateDemand,
    { stamp, sinceRestart }: Advanced,
  ): Promise<Taken> {
    for (const bound of bounds) {
      const { window, per } = bound;
      // The last writes before a power cut may be lost, so nothing is sent for one period after a restart.
      if (sinceRestart < per) return { wait: per - sinceRestart, window };
      const wait = await this.#waitFor(connection, bound, stamp);
      if (wait === undefined) continue;
      if (isPrompt) this.#joinWaiting({ connection, window }, stamp, wait);
      return { wait, window };
    }
    const process = this.#process.name;
    for (const { window, per } of bounds) {
      if (this.#waiting.has(scopeKey({ connection, window }))) this.#waits.remove.send({ connection, window, process });
      const counts_until_ms = stamp.begun + longest + per;
      this.#rows.add.send({ connection, window, read_seq: stamp.readSeq, counts_until_ms, process });
    }
    return { stamp };
  }

  /** Milliseconds after which a place may be free; undefined where one is. */
  async #waitFor(connection: string, { window, requests }: RateBound, stamp: ReadStamp): Promise<number | undefined> {
    const scope = { connection, window };
    const key = scopeKey(scope);
    const now = stamp.begun;
    if (!isToCount(this.#counted.get(key), stamp.readSeq, requests)) return undefined;
    this.#rows.removeOver.send({ ...scope, now });
    await this.#removeOfDead(scope, now);
    const { used, next } = (await this.#rows.usage.get({ ...scope, now })) ?? { used: 0, next: null };
    const others = await this.#waits.others.get({ ...scope, now, process: this.#process.name });
    const { waiting, before } = others ?? { waiting: 0, before: 0 };
    const share = Math.max(1, Math.floor(requests * waitShare));
    this.#counted.set(key, { used: used + waiting * share, readSeq: stamp.readSeq });
    return used + before * share < requests ? undefined : Math.min(maxWait, (next ?? Infinity) - now);
  }

  /** Whoever waited before keeps its turn. */
  #joinWaiting(scope: RequestScope, { readSeq, begun }: ReadStamp, wait: number): void {
    this.#waits.removeOver.send({ ...scope, now: begun });
    const waits_until_ms = Math.ceil(begun + wait + waitGrace);
    this.#waits.join.send({ ...scope, process: this.#process.name, since_seq: readSeq, waits_until_ms });
  }

  /** Overdue requests still count while their process lives: it may be suspended. */
  async #removeOfDead(scope: RequestScope, now: number): Promise<void> {
    for (const { read_seq, process } of await this.#rows.overdue.all({ ...scope, now }))
      if (process !== null && !(await this.#process.isAlive(process))) this.#rows.remove.send({ ...scope, read_seq });
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
type RequestScope = Pick<RequestTable, 'connection' | 'window'>;

type RequestKey = RequestScope & Pick<RequestTable, 'read_seq'>;

type RequestEnd = RequestKey & Pick<RequestTable, 'counts_until_ms'>;

interface RateUsage {
  readonly used: number;
  /** Mirror time when the next place becomes free; null for none. */
  readonly next: number | null;
}

/** The rows of `_requests`: requests that still count for their rate limit. Everything runs inside a transaction. */
function requestRows(db: Connection) {
  type ScopeNow = RequestScope & { now: number };
  return {
    add: statement<RequestTable>(db, (at) =>
      mirrorSql
        .insertInto('_requests')
        .values(columns(at, ['connection', 'window', 'read_seq', 'counts_until_ms', 'process'])),
    ),
    /** Those that ended and no longer count. */
    removeOver: statement<ScopeNow>(
      db,
      (at) => sql`DELETE FROM _requests WHERE ${isOf(at)} AND counts_until_ms <= ${at('now')} AND process IS NULL`,
    ),
    usage: statement<ScopeNow, RateUsage>(
      db,
      (at) => sql`
        SELECT count(*) AS used, min(counts_until_ms) FILTER (WHERE counts_until_ms > ${at('now')}) AS next
        FROM _requests WHERE ${isOf(at)}`,
    ),
    /** Those that should have ended by now. */
    overdue: statement<ScopeNow, Pick<RequestTable, 'read_seq' | 'process'>>(
      db,
      (at) => sql`SELECT read_seq, process FROM _requests WHERE ${isOf(at)} AND counts_until_ms <= ${at('now')}`,
    ),
    remove: statement<RequestKey>(
      db,
      (at) => sql`DELETE FROM _requests WHERE ${isOf(at)} AND read_seq = ${at('read_seq')}`,
    ),
    /** The request counts until then and is no longer under way. */
    end: statement<RequestEnd>(
      db,
      (at) => sql`
        UPDATE _requests SET counts_until_ms = ${at('counts_until_ms')}, process = NULL
        WHERE ${isOf(at)} AND read_seq = ${at('read_seq')}`,
    ),
  };
}

/** The rows of `_rate_waits`: processes that wait for a place. Everything runs inside a transaction. */
function waitRows(db: Connection) {
  type OfProcess = RequestScope & Pick<RateWaitTable, 'process'>;
  return {
    /** How many other processes wait, and how many of them waited before this one. */
    others: statement<OfProcess & { now: number }, { readonly waiting: number; readonly before: number }>(
      db,
      (at) => sql`
        SELECT count(*) AS waiting, count(*) FILTER (WHERE since_seq < coalesce((
          SELECT since_seq FROM _rate_waits
          WHERE ${isOf(at)} AND process = ${at('process')} AND waits_until_ms > ${at('now')}
        ), ${Number.MAX_SAFE_INTEGER})) AS before
        FROM _rate_waits WHERE ${isOf(at)} AND process <> ${at('process')} AND waits_until_ms > ${at('now')}`,
    ),
    join: statement(db)<RateWaitTable>`
      INSERT INTO _rate_waits (connection, "window", process, since_seq, waits_until_ms)
      VALUES (${'connection'}, ${'window'}, ${'process'}, ${'since_seq'}, ${'waits_until_ms'})
      ON CONFLICT (connection, "window", process) DO UPDATE SET waits_until_ms = excluded.waits_until_ms`,
    remove: statement<OfProcess>(
      db,
      (at) => sql`DELETE FROM _rate_waits WHERE ${isOf(at)} AND process = ${at('process')}`,
    ),
    removeOver: statement<RequestScope & { now: number }>(
      db,
      (at) => sql`DELETE FROM _rate_waits WHERE ${isOf(at)} AND waits_until_ms <= ${at('now')}`,
    ),
  };
}

function isOf(at: At<RequestScope>): RawBuilder<unknown> {
  return sql`connection = ${at('connection')} AND "window" = ${at('window')}`;
}

function scopeKey({ connection, window }: RequestScope): string {
  return `${connection} ${window}`;
}
