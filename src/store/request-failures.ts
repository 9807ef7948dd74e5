/** Consecutive failed requests of an account, or of a connection that gave no access, until the next one succeeds. */
import { sql } from 'kysely';
import { timestamp, type Clock } from '../domain/clock.ts';
import type { MirrorError } from '../domain/errors.ts';
import type { Database } from './sql/database.ts';
import { statement, type Statement } from './sql/statement.ts';

/** The table, and its column that says whose requests fail. */
const tables = {
  account: { table: sql`_request_failures`, column: sql`account_id` },
  connection: { table: sql`_connection_failures`, column: sql`connection` },
};

type Failure = Pick<MirrorError, 'code' | 'message'> & { readonly remedy?: string | null | undefined };

export class RequestFailures {
  readonly #database: Database;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #any: Statement<{ of: string }>;
  readonly #forget: Statement<{ of: string }>;
  readonly #add: Statement<{ of: string; now: string; code: string; message: string; remedy: string | null }>;

  constructor(database: Database, clock: Pick<Clock, 'now'>, kept: keyof typeof tables) {
    const { table, column } = tables[kept];
    this.#database = database;
    this.#clock = clock;
    const { connection: db } = database;
    this.#any = statement(db)`SELECT 1 FROM ${table} WHERE ${column} = ${'of'}`;
    this.#forget = statement(db)`DELETE FROM ${table} WHERE ${column} = ${'of'}`;
    this.#add = statement(db)`
      INSERT INTO ${table} (${column}, requests, first_at, last_at, code, message, remedy)
      VALUES (${'of'}, 1, ${'now'}, ${'now'}, ${'code'}, ${'message'}, ${'remedy'})
      ON CONFLICT (${column}) DO UPDATE SET requests = ${table}.requests + 1, last_at = excluded.last_at,
        code = excluded.code, message = excluded.message, remedy = excluded.remedy`;
  }

  /** Adds a failure. The message of its error must contain no secret. */
  add(of: string, { code, message, remedy = null }: Failure): Promise<void> {
    return this.#database.writeWithoutSync(() => {
      this.#add.send({ of, now: timestamp(this.#clock.now()), code, message, remedy });
    });
  }

  /** Clears the failures, because a request was answered. */
  async forget(of: string): Promise<void> {
    if ((await this.#database.read(() => this.#any.get({ of }))) === undefined) return;
    await this.#database.writeWithoutSync(() => {
      this.#forget.send({ of });
    });
  }
}
