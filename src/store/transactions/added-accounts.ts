/** Accounts that a command added to those of the settings. */
import { timestamp, type Clock } from '../../domain/clock.ts';
import type { Database } from '../sqlite/database.ts';
import { plainStatement, type Statement } from '../sqlite/plain-statement.ts';

export class AddedAccounts {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #add: Statement<{ accountId: string; connection: string; addedAt: string }>;
  readonly #remove: Statement<{ accountId: string }>;

  constructor(database: Database, clock: Clock) {
    const { sqlite } = database;
    this.#database = database;
    this.#clock = clock;
    this.#add = plainStatement(
      sqlite,
      `INSERT INTO _added_accounts (account_id, connection, added_at) VALUES (:accountId, :connection, :addedAt)
       ON CONFLICT DO NOTHING`,
    );
    this.#remove = plainStatement(sqlite, 'DELETE FROM _added_accounts WHERE account_id = :accountId');
  }

  /** @returns false where it was added before: that stays as it is. */
  add(accountId: string, connection: string): Promise<boolean> {
    const addedAt = timestamp(this.#clock.now());
    return this.#database.write(() => this.#add.run({ accountId, connection, addedAt }) > 0);
  }

  /** What the mirror holds of it stays. @returns whether it had been added. */
  remove(accountId: string): Promise<boolean> {
    return this.#database.write(() => this.#remove.run({ accountId }) > 0);
  }
}
