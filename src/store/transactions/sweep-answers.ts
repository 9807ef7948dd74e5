/**
 * Answers to requests for a sweep: a sweep that began late enough ends them, unless another came meanwhile, and settles what was delivered
 * about vendors that found no room in the queue.
 */
import { sql } from 'kysely';
import { timestamp, type Clock } from '../../domain/clock.ts';
import type { Database } from '../sqlite/database.ts';
import type { Deliveries } from '../rows/deliveries.ts';
import type { Findings } from '../rows/findings.ts';
import type { Marks } from '../rows/marks.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { SettledOutcome } from '../records/delivery-record.ts';
import type { SweepRequest, SweepAnswer, UnmarkedVendor } from '../records/sweep-record.ts';

export interface SweepAnswerTransactions {
  /** How many deliveries named a callback of ours where a vendor should be, and when the last one came; undefined where none did. */
  callbackIds(accountId: string): Promise<{ readonly deliveries: number; readonly last: string } | undefined>;
  /** The open request of an account. */
  sweepRequest(accountId: string): Promise<SweepRequest | undefined>;
  /** Vendors of which deliveries tell that came up to `upTo` (Unix ms) and found no room in the queue; some of them at a time. */
  unmarkedVendors(accountId: string, upTo: number): Promise<UnmarkedVendor[]>;
  /** Settles what was delivered about vendors that are still not marked, and marks `unseen` ones as far as there is room. @returns whether there was. */
  settleUnmarked(
    accountId: string,
    answers: readonly (UnmarkedVendor & { readonly outcome: SettledOutcome | 'unseen' })[],
  ): Promise<boolean>;
  /** Ends the request if no newer one came; of a newer one, says up to when it is answered. */
  answerSweepRequest(accountId: string, answer: SweepAnswer): Promise<void>;
  /** The sweep came to nothing: the next one waits until that moment of mirror time. */
  restSweepRequest(accountId: string, restUntilMs: number): Promise<void>;
}

/** Rows of the journal that one transaction settles: whoever waits for the file waits for no more. */
const atOnce = 500;

export interface SweepAnswerParts {
  readonly clock: Clock;
  readonly marks: Marks;
  readonly deliveries: Deliveries;
  readonly findings: Findings;
}

export function sweepAnswerTransactions(
  database: Database,
  { clock, marks, deliveries, findings }: SweepAnswerParts,
): SweepAnswerTransactions {
  const { sqlite } = database;
  const open = statement<
    { account_id: string },
    { generation: number; asked_ms: number | null; last_ms: number; rest_until_ms: number }
  >(sqlite, (at) =>
    mirrorSql
      .selectFrom('_sweep_requests')
      .select(['generation', 'asked_ms', 'last_ms', 'rest_until_ms'])
      .where('account_id', '=', at('account_id'))
      .where('asked_ms', 'is not', null),
  );
  const named = statement<{ account_id: string }, { deliveries: number; last: string | null }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('_sweep_requests')
      .select(['callback_ids as deliveries', 'callback_id_at as last'])
      .where('account_id', '=', at('account_id')),
  );
  // The index holds what is not settled, in the order in which it came.
  const unmarked = plainStatement<{ account_id: string; upTo: string; limit: number }, UnmarkedVendor>(
    sqlite,
    `
    SELECT vendorid, max(id) AS upTo FROM (
      SELECT d.object_id AS vendorid, d.id FROM deliveries d INDEXED BY deliveries_unsettled
      WHERE d.account_id = :account_id AND d.outcome IN ('pending', 'parked') AND d.outcome = 'pending'
        AND d.received_at <= :upTo
        AND NOT EXISTS (SELECT 1 FROM dirty_vendors q WHERE q.account_id = d.account_id AND q.vendorid = d.object_id)
      ORDER BY d.received_at LIMIT :limit)
    GROUP BY vendorid`,
  );
  const advance = statement<{ account_id: string; asked_at: string; asked_ms: number; rest_until_ms: number }>(
    sqlite,
    (at) =>
      mirrorSql
        .updateTable('_sweep_requests')
        .set({
          asked_at: sql`max(asked_at, ${at('asked_at')})`,
          asked_ms: sql`max(asked_ms, ${at('asked_ms')})`,
          rest_until_ms: at('rest_until_ms'),
        })
        .where('account_id', '=', at('account_id')),
  );
  const clear = statement<{ account_id: string; generation: number; upToMs: number }>(sqlite, (at) =>
    mirrorSql
      .updateTable('_sweep_requests')
      .set({ asked_at: null, asked_ms: null })
      .where('account_id', '=', at('account_id'))
      .where('generation', '=', at('generation'))
      .where('last_ms', '<=', at('upToMs')),
  );
  const rest = statement<{ account_id: string; rest_until_ms: number }>(sqlite, (at) =>
    mirrorSql
      .updateTable('_sweep_requests')
      .set({ rest_until_ms: at('rest_until_ms') })
      .where('account_id', '=', at('account_id')),
  );
  return {
    sweepRequest: (account_id) =>
      database.read(() => {
        const row = open.get({ account_id });
        return (
          row && {
            generation: row.generation,
            askedMs: row.asked_ms ?? 0,
            lastMs: row.last_ms,
            restUntilMs: row.rest_until_ms,
          }
        );
      }),
    callbackIds: (account_id) =>
      database.read(() => {
        const { deliveries: count, last } = named.get({ account_id }) ?? { deliveries: 0, last: null };
        return last === null ? undefined : { deliveries: count, last };
      }),
    unmarkedVendors: (account_id, upTo) =>
      database.read(() => unmarked.all({ account_id, upTo: timestamp(upTo), limit: atOnce })),
    settleUnmarked: (account_id, answers) =>
      database.write(() => {
        const now = clock.now();
        const hasRoom = deliveries.roomFor();
        let room = true;
        for (const { vendorid, upTo, outcome } of answers) {
          const key = { account_id, vendorid };
          if (outcome === 'unseen') {
            if (hasRoom(key)) marks.add([key], 'delivery', 0);
            else room = false;
            continue;
          }
          // They tell late what the sweep has found.
          findings.explain(
            key,
            deliveries.open(key).filter(({ id }) => id <= upTo),
          );
          deliveries.settle(key, upTo, outcome, now);
        }
        return room;
      }),
    answerSweepRequest: (account_id, { generation, upToMs, upTo, restUntilMs }) =>
      database.write(() => {
        advance.run({ account_id, asked_at: timestamp(upTo), asked_ms: upToMs, rest_until_ms: restUntilMs });
        // A clock that was set back leaves deliveries from later than now.
        if (unmarked.all({ account_id, upTo: '9999', limit: 1 }).length === 0)
          clear.run({ account_id, generation, upToMs });
      }),
    restSweepRequest: (account_id, restUntilMs) =>
      database.write(() => void rest.run({ account_id, rest_until_ms: restUntilMs })),
  };
}
