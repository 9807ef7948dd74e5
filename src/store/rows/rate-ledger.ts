/**
 * Who has used how much of the rate limits, in all processes of a mirror and their lives before. A row is written before its request
 * leaves, in the transaction that numbers it, and counts until a whole period after the answer came.
 */
import type { RateDemand, ReservationOrWait } from '../../domain/rate-reservation.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import type { Counter } from './reading-counter.ts';
import type { Database } from '../sqlite/database.ts';
import type { ProcessLock } from '../files/process-lock.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { RequestTable } from '../tables/mirror-tables.ts';

type Scope = Pick<RequestTable, 'account_id' | 'family'>;

/** A place may be free sooner than it seems, where another process ends its request early; in milliseconds. */
const longestWait = 5_000;

/** Requests after which those that are over are removed, at the latest: few enough to be removed in a moment. */
const mostUncounted = 500;

interface Usage {
  readonly used: number;
  readonly readSeq: number;
}

export class RateLedger {
  readonly #database: Database;
  readonly #counter: Counter;
  readonly #process: Pick<ProcessLock, 'name' | 'isAlive'>;
  readonly #add: Statement<RequestTable>;
  readonly #removeOver: Statement<Scope & { now: number }>;
  readonly #usage: Statement<Scope & { now: number }, { used: number; next: number | null }>;
  readonly #overdue: Statement<Scope & { now: number }, Pick<RequestTable, 'read_seq' | 'process'>>;
  readonly #remove: Statement<Scope & { read_seq: number }>;
  readonly #rest: Statement<Scope & Pick<RequestTable, 'read_seq' | 'counts_until_ms'>>;
  /** What was counted last, by account and family. */
  readonly #counted = new Map<string, Usage>();
  /** Requests of this process that ended while their rows could not be written, as on a full disk. */
  readonly #unrecorded = new Map<number, Scope & { readonly late: number }>();

  constructor(database: Database, counter: Counter, process: Pick<ProcessLock, 'name' | 'isAlive'>) {
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

  /** A turn for a request that is about to leave, or in how many milliseconds to ask again. */
  async reserve(demand: RateDemand): Promise<ReservationOrWait> {
    const ended = [...this.#unrecorded];
    // In order is enough: whatever the request brings is written after it.
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
          // It then counts for longer than it must: until a period after the next turn.
          .catch(() => void this.#unrecorded.set(read_seq, { ...scope, late })),
    };
  }

  #take({ accountId, family, requests, per, longest }: RateDemand): { stamp: ReadStamp } | { wait: number } {
    const scope = { account_id: accountId, family };
    const { stamp, sinceRestart } = this.#counter.advance();
    const now = stamp.begun;
    // What was written last before a power cut may be lost.
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

  /** Requests that ought to have ended count on while their process lives: it may have been stopped, and go on. */
  #removeOfDead(scope: Scope, now: number): void {
    for (const { read_seq, process } of this.#overdue.all({ ...scope, now }))
      if (process !== null && !this.#process.isAlive(process)) this.#remove.run({ ...scope, read_seq });
  }

  /** The request counts for so many more milliseconds. */
  #end(request: Scope & { readonly read_seq: number }, remaining: number): void {
    this.#rest.run({ ...request, counts_until_ms: this.#counter.moment() + remaining });
  }
}

/**
 * Whether so many requests may have been reached since they were counted last. Every request of every process takes a number, so there
 * are no more new ones than new numbers.
 */
function isToCount(last: Usage | undefined, readSeq: number, requests: number): boolean {
  if (last === undefined) return true;
  const atMost = readSeq - last.readSeq;
  return atMost >= mostUncounted || last.used + atMost >= requests;
}
