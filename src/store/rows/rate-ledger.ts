/**
 * Who has used how much of the rate limits, in all processes of a mirror and their lives before. A row is written before its request
 * leaves, in the transaction that numbers it, and counts until a whole period after the answer came.
 */
import type { RateDemand, ReserveRequest } from '../../domain/rate-reservation.ts';
import type { Counter } from './reading-counter.ts';
import type { Database } from '../sqlite/database.ts';
import type { ProcessLock } from '../files/process-lock.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { RequestTable } from '../tables/mirror-tables.ts';

type Scope = Pick<RequestTable, 'account_id' | 'family'>;

/** A place may be free sooner than it seems, where another process ends its request early; in milliseconds. */
const longestWait = 5_000;

export function rateLedger(
  database: Database,
  counter: Counter,
  process: Pick<ProcessLock, 'name' | 'isAlive'>,
): ReserveRequest {
  const { sqlite } = database;
  const add = statement<RequestTable>(sqlite, (at) =>
    mirrorSql.insertInto('_requests').values({
      account_id: at('account_id'),
      family: at('family'),
      read_seq: at('read_seq'),
      counts_until_ms: at('counts_until_ms'),
      process: at('process'),
    }),
  );
  const removeOver = statement<Scope & { now: number }>(sqlite, (at) =>
    mirrorSql
      .deleteFrom('_requests')
      .where('account_id', '=', at('account_id'))
      .where('family', '=', at('family'))
      .where('counts_until_ms', '<=', at('now'))
      .where('process', 'is', null),
  );
  const usage = statement<Scope & { now: number }, { used: number; next: number | null }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('_requests')
      .select((row) => [
        row.fn.countAll<number>().as('used'),
        row.fn.min('counts_until_ms').filterWhere('counts_until_ms', '>', at('now')).as('next'),
      ])
      .where('account_id', '=', at('account_id'))
      .where('family', '=', at('family')),
  );
  const overdue = statement<Scope & { now: number }, Pick<RequestTable, 'read_seq' | 'process'>>(sqlite, (at) =>
    mirrorSql
      .selectFrom('_requests')
      .select(['read_seq', 'process'])
      .where('account_id', '=', at('account_id'))
      .where('family', '=', at('family'))
      .where('counts_until_ms', '<=', at('now')),
  );
  const remove = statement<Scope & { read_seq: number }>(sqlite, (at) =>
    mirrorSql
      .deleteFrom('_requests')
      .where('account_id', '=', at('account_id'))
      .where('family', '=', at('family'))
      .where('read_seq', '=', at('read_seq')),
  );
  const rest = statement<Scope & Pick<RequestTable, 'read_seq' | 'counts_until_ms'>>(sqlite, (at) =>
    mirrorSql
      .updateTable('_requests')
      .set({ counts_until_ms: at('counts_until_ms'), process: null })
      .where('account_id', '=', at('account_id'))
      .where('family', '=', at('family'))
      .where('read_seq', '=', at('read_seq')),
  );

  /** Requests that ought to have ended count on while their process lives: it may have been stopped, and go on. */
  const removeOfDead = (scope: Scope, now: number): void => {
    for (const { read_seq, process: name } of overdue.all({ ...scope, now }))
      if (name !== null && !process.isAlive(name)) remove.run({ ...scope, read_seq });
  };

  const take = ({ accountId, family, requests, per, longest }: RateDemand) => {
    const scope = { account_id: accountId, family };
    const { stamp, sinceRestart } = counter.advance();
    const now = stamp.begun;
    // What was written last before a power cut may be lost.
    if (sinceRestart < per) return { wait: per - sinceRestart };
    removeOver.run({ ...scope, now });
    removeOfDead(scope, now);
    const { used, next } = usage.get({ ...scope, now }) ?? { used: 0, next: null };
    if (used >= requests) return { wait: Math.min(longestWait, (next ?? Infinity) - now) };
    const counts_until_ms = now + longest + per;
    add.run({ ...scope, read_seq: stamp.readSeq, counts_until_ms, process: process.name });
    return { stamp };
  };

  /** Requests of this process that ended while their rows could not be written, as on a full disk. */
  const unrecorded = new Map<number, Scope & { readonly late: number }>();

  return async (asked) => {
    const ended = [...unrecorded];
    // In order is enough: whatever the request brings is written after it.
    const taken = await database.writeInOrder(() => {
      for (const [read_seq, { late, ...scope }] of ended)
        rest.run({ ...scope, read_seq, counts_until_ms: counter.moment() + late + asked.per });
      return take(asked);
    });
    for (const [read_seq] of ended) unrecorded.delete(read_seq);
    if (!('stamp' in taken)) return taken;
    const { stamp } = taken;
    const scope = { account_id: asked.accountId, family: asked.family };
    const read_seq = stamp.readSeq;
    return {
      stamp,
      end: (late) =>
        database
          .writeInOrder(
            () => void rest.run({ ...scope, read_seq, counts_until_ms: counter.moment() + late + asked.per }),
          )
          // It then counts for longer than it must: until a period after the next turn.
          .catch(() => void unrecorded.set(read_seq, { ...scope, late })),
    };
  };
}
