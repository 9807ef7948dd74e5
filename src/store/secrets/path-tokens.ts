/** The unguessable part of each account's callback address: 128 random bits, created once. */
import type { Random } from '../../domain/clock.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { secretSql, statement } from '../sqlite/statement.ts';

export class PathTokens {
  readonly #random: Random;
  readonly #select: Statement<{ account_id: string }, { path_token: string }>;
  readonly #add: Statement<{ account_id: string; path_token: string }>;

  constructor(sqlite: Sqlite, random: Random) {
    this.#random = random;
    this.#select = statement(sqlite, (at) =>
      secretSql.selectFrom('path_tokens').select('path_token').where('account_id', '=', at('account_id')),
    );
    this.#add = statement(sqlite, (at) =>
      secretSql.insertInto('path_tokens').values({ account_id: at('account_id'), path_token: at('path_token') }),
    );
  }

  find(account_id: string): string | undefined {
    return this.#select.get({ account_id })?.path_token;
  }

  /** The path token of an account, created where there is none. Runs inside a transaction. */
  make(account_id: string): string {
    const known = this.find(account_id);
    if (known !== undefined) return known;
    const path_token = Buffer.from(this.#random.bytes(16)).toString('base64url');
    this.#add.run({ account_id, path_token });
    return path_token;
  }
}
