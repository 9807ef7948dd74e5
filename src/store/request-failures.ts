/** Consecutive failed requests of an account, or of a connection that gave no access, until the next one succeeds. */
import { timestamp, type Clock } from '../domain/clock.ts';
import type { MirrorError } from '../domain/errors.ts';
import type { Database } from './sqlite/database.ts';
import { plainStatement, type Statement } from './sqlite/plain-statement.ts';

const statementsOf = (
  table: string,
  column: string,
): { readonly any: string; readonly forget: string; readonly add: string } => ({
  any: `SELECT 1 FROM ${table} WHERE ${column} = :of`,
  forget: `DELETE FROM ${table} WHERE ${column} = :of`,
  add: `
    INSERT INTO ${table} (${column}, requests, first_at, last_at, code, message)
    VALUES (:of, :requests, :now, :now, :code, :message)
    ON CONFLICT (${column}) DO UPDATE SET requests = requests + excluded.requests, last_at = excluded.last_at,
      code = excluded.code, message = excluded.message`,
});

const statements = {
  account: statementsOf('_request_failures', 'account_id'),
  connection: statementsOf('_connection_failures', 'connection'),
};

export class RequestFailures {
  readonly #database: Database;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #any: Statement<{ of: string }>;
  readonly #forget: Statement<{ of: string }>;
  readonly #add: Statement<{ of: string; requests: number; now: string; code: string; message: string }>;

  constructor(database: Database, clock: Pick<Clock, 'now'>, kept: keyof typeof statements) {
    const { any, forget, add } = statements[kept];
    this.#database = database;
    this.#clock = clock;
    const { sqlite } = database;
    this.#any = plainStatement(sqlite, any);
    this.#forget = plainStatement(sqlite, forget);
    this.#add = plainStatement(sqlite, add);
  }

  /** Adds `requests` further failures, with the error of the last. Its message must contain no secret. */
  add(of: string, requests: number, { code, message }: Pick<MirrorError, 'code' | 'message'>): Promise<void> {
    return this.#database.writeWithoutSync(() => {
      this.#add.run({ of, requests, now: timestamp(this.#clock.now()), code, message });
    });
  }

  /** Clears the failures, because a request was answered. */
  async forget(of: string): Promise<void> {
    if ((await this.#database.read(() => this.#any.get({ of }))) === undefined) return;
    await this.#database.writeWithoutSync(() => {
      this.#forget.run({ of });
    });
  }
}
