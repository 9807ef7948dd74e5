/**
 * Requests to the callback address of an account that were refused, counted by outcome. What was refused is not stored: only how many, the
 * first and the last, and what was wrong with the last. A delivery that is accepted begins the recent ones anew.
 */
import { sql, type Selectable } from 'kysely';
import { timestamp } from '../domain/clock.ts';
import type { Database } from './sql/database.ts';
import { Operations, statement, type Connection, type OfAccount, type Statement } from './sql/statement.ts';
import type { RefusalTable } from './sql/schema.ts';

export interface Refused {
  readonly accountId: string;
  readonly outcome: string;
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** What was wrong with the last one; nothing secret. */
  readonly detail: string | null;
}

export type ReportedRefusals = Omit<Selectable<RefusalTable>, 'account_id'>;

type Row = Pick<RefusalTable, 'account_id' | 'outcome' | 'first_at' | 'last_at' | 'detail'> & { count: number };

/** Outcomes of requests to an address that somebody besides the service may know. */
export const ofStrangers: readonly string[] = ['wrong_code', 'unexpected_code', 'wrong_signature'];

/** Whether a delivery was accepted since. */
const isAnew = sql`_refusals.last_at <= (SELECT max(received_at) FROM deliveries d WHERE d.account_id = _refusals.account_id)`;

export class Refusals extends Operations {
  readonly #database: Database;
  readonly #add = statement(this.db)<Row>`
      INSERT INTO _refusals (account_id, outcome, refused, first_at, last_at, recent, recent_at, detail)
      VALUES (${'account_id'}, ${'outcome'}, ${'count'}, ${'first_at'}, ${'last_at'}, ${'count'}, ${'first_at'}, ${'detail'})
      ON CONFLICT (account_id, outcome) DO UPDATE SET
        refused = _refusals.refused + excluded.refused, last_at = excluded.last_at, detail = excluded.detail,
        recent = excluded.recent + CASE WHEN ${isAnew} THEN 0 ELSE _refusals.recent END,
        recent_at = CASE WHEN ${isAnew} THEN excluded.recent_at ELSE _refusals.recent_at END`;
  readonly #forget = statement(this.db)<{ account_id: string }>`
      DELETE FROM _refusals
      WHERE account_id = ${'account_id'} AND outcome IN (${sql.join(ofStrangers)})`;

  constructor(database: Database) {
    super(database.connection);
    this.#database = database;
  }

  /** Forgets what may have come of strangers: the address that they know is replaced. */
  forgetStrangers(account_id: string): Promise<void> {
    return this.#database.write(() => this.#forget.send({ account_id }));
  }

  /** Adds these. A power cut may undo that. */
  add(refused: readonly Refused[]): Promise<void> {
    return this.#database.writeWithoutSync(() => {
      for (const { accountId, outcome, count, firstAt, lastAt, detail } of refused)
        this.#add.send({
          account_id: accountId,
          outcome,
          count,
          first_at: timestamp(firstAt),
          last_at: timestamp(lastAt),
          detail,
        });
    });
  }
}

/** Prepares what was ever refused of an account, by outcome. */
export function refusalsOf(db: Connection): Statement<OfAccount, ReportedRefusals> {
  return statement(db)<OfAccount, ReportedRefusals>`
    SELECT outcome, refused, first_at, last_at, recent, recent_at, detail FROM _refusals
    WHERE account_id = ${'accountId'} ORDER BY last_at DESC, outcome`;
}
