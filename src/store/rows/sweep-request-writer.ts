/**
 * Requests for a sweep by deliveries whose vendor cannot be marked. Each raises the generation of its account's single row, in the
 * transaction that journals the delivery.
 */
import { sql } from 'kysely';
import { timestamp } from '../../domain/clock.ts';
import type { ReadingCounter } from './reading-counter.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';

export class SweepRequestWriter {
  readonly #counter: ReadingCounter;
  readonly #callbacks: Statement<{ account_id: string }, { callbackid: number }>;
  readonly #ask: Statement<{ account_id: string; asked_at: string; now: number; callback_ids: number }>;

  constructor(sqlite: Sqlite, counter: ReadingCounter) {
    this.#counter = counter;
    this.#callbacks = statement(sqlite, (at) =>
      mirrorSql.selectFrom('callbacks').select('callbackid').where('account_id', '=', at('account_id')),
    );
    this.#ask = statement(sqlite, (at) =>
      mirrorSql
        .insertInto('_sweep_requests')
        .values({
          account_id: at('account_id'),
          generation: 1,
          asked_at: at('asked_at'),
          asked_ms: at('now'),
          last_ms: at('now'),
          callback_ids: at('callback_ids'),
          callback_id_at: sql`iif(${at('callback_ids')} > 0, ${at('asked_at')}, NULL)`,
        })
        .onConflict((conflict) =>
          conflict.column('account_id').doUpdateSet({
            generation: sql`generation + 1`,
            asked_at: sql`coalesce(asked_at, excluded.asked_at)`,
            asked_ms: sql`coalesce(asked_ms, excluded.asked_ms)`,
            last_ms: at('now'),
            callback_ids: sql`callback_ids + excluded.callback_ids`,
            callback_id_at: sql`coalesce(excluded.callback_id_at, callback_id_at)`,
          }),
        ),
    );
  }

  /** Starts a check of whether an id is that of a callback of ours. Valid inside one transaction: each account's are read once. */
  beginCallbackCheck(): (account_id: string, id: number) => boolean {
    const known = new Map<string, ReadonlySet<number>>();
    return (account_id, id) => {
      const ours =
        known.get(account_id) ?? new Set(this.#callbacks.all({ account_id }).map(({ callbackid }) => callbackid));
      known.set(account_id, ours);
      return ours.has(id);
    };
  }

  /** Requests a sweep of an account. Runs inside a transaction. */
  request(account_id: string, receivedAt: number, namesCallback: boolean): void {
    const now = this.#counter.moment();
    this.#ask.run({ account_id, asked_at: timestamp(receivedAt), now, callback_ids: namesCallback ? 1 : 0 });
  }
}
