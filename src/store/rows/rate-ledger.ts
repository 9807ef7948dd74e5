/**
 * Usage of the rate limits by all processes of a mirror, also before a restart. A row is written before its request is sent, in the
 * transaction that numbers it, and counts until a whole period after its answer came.
 */
import type { RateDemand, ReservationOrWait } from '../../domain/rate-reservation.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import type { ReadingCounter } from './reading-counter.ts';
import type { Database } from '../sqlite/database.ts';
import type { ProcessLock } from '../files/process-lock.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { RequestTable } from '../tables/mirror-tables.ts';

type Scope = Pick<RequestTable, 'account_id' | 'family'>;

/** The longest wait before trying again, in milliseconds: another process may end its request early. */
const longestWait = 5_000;

/** Ended requests are removed after this many new ones at the latest, so that removing them is quick. */
const mostUncounted = 500;

interface Usage {
  readonly used: number;
  readonly readSeq: number;
}

export class RateLedger {
  readonly #database: Database;
  readonly #counter: ReadingCounter;
  readonly #process: Pick<ProcessLock, 'name' | 'isAlive'>;
  readonly #add: Statement<RequestTable>;
  readonly #removeOver: Statement<Scope & { now: number }>;
  readonly #usage: Statement<Scope & { now: number }, { used: number; next: number | null }>;
  readonly #overdue: Statement<Scope & { now: number }, Pick<RequestTable, 'read_seq' | 'process'>>;
  readonly #remove: Statement<Scope & { read_seq: number }>;
  readonly #rest: Statement<Scope & Pick<RequestTable, 'read_seq' | 'counts_until_ms'>>;
  /** The last count, by account and family. */
  readonly #counted = new Map<string, Usage>();
  /** Requests of this process whose end could not be written, as on a full disk. */
  readonly #unrecorded = new Map<number, Scope & { readonly late: number }>();

  constructor(database: Database, counter: ReadingCounter, process: Pick<ProcessLock, 'name' | 'isAlive'>) {
    this.#database = database;
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
    this.#rest = statement(sqlite, (at) =>
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
    const ended = [...this.#unrecorded];
    // Needs no sync: everything the request brings is written after it.
    const taken = await this.#database.writeWithoutSync(() => {
      for (const [read_seq, { late, ...scope }] of ended) this.#end({ ...scope, read_seq }, late + demand.per);
      return this.#take(demand);
    });
    for (const [read_seq] of ended) this.#unrecorded.delete(read_seq);
    if (!('stamp' in taken)) return taken;
    const { stamp } = taken;
    const scope = { account_id: demand.accountId, family: demand.family };
    const read_seq = stamp.readSeq;
    return {
      stamp,
      end: (late) =>
        this.#database
          .writeWithoutSync(() => this.#end({ ...scope, read_seq }, late + demand.per))
          // The request then counts for longer: until a period after the next reservation.
          .catch(() => void this.#unrecorded.set(read_seq, { ...scope, late })),
    };
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

  /** Sets how many more milliseconds the request counts. */
  #end(request: Scope & { readonly read_seq: number }, remaining: number): void {
    this.#rest.run({ ...request, counts_until_ms: this.#counter.moment() + remaining });
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
