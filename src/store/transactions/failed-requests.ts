/** Requests of an account that failed one after the other, until the next one is answered. */
import { timestamp, type Clock } from '../../domain/clock.ts';
import type { MirrorError } from '../../domain/errors.ts';
import type { Database } from '../sqlite/database.ts';
import { plainStatement, type Statement } from '../sqlite/plain-statement.ts';
import type { RequestFailures } from '../areas/areas.ts';

export class SqliteRequestFailures implements RequestFailures {
  readonly #database: Database;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #any: Statement<{ accountId: string }>;
  readonly #forget: Statement<{ accountId: string }>;
  readonly #add: Statement<{ accountId: string; requests: number; now: string; code: string; message: string }>;

  constructor(database: Database, clock: Pick<Clock, 'now'>) {
    this.#database = database;
    this.#clock = clock;
    const { sqlite } = database;
    this.#any = plainStatement(sqlite, 'SELECT 1 FROM _request_failures WHERE account_id = :accountId');
    this.#forget = plainStatement(sqlite, 'DELETE FROM _request_failures WHERE account_id = :accountId');
    this.#add = plainStatement(
      sqlite,
      `
    INSERT INTO _request_failures (account_id, requests, first_at, last_at, code, message)
    VALUES (:accountId, :requests, :now, :now, :code, :message)
    ON CONFLICT (account_id) DO UPDATE SET requests = requests + excluded.requests, last_at = excluded.last_at,
      code = excluded.code, message = excluded.message`,
    );
  }

  add(accountId: string, requests: number, { code, message }: Pick<MirrorError, 'code' | 'message'>): Promise<void> {
    return this.#database.writeInOrder(() => {
      this.#add.run({ accountId, requests, now: timestamp(this.#clock.now()), code, message });
    });
  }

  async forget(accountId: string): Promise<void> {
    if ((await this.#database.read(() => this.#any.get({ accountId }))) === undefined) return;
    await this.#database.writeInOrder(() => {
      this.#forget.run({ accountId });
    });
  }
}
