/** The unguessable part of each account's callback address: 128 bits of this installation, made once. */
import type { Random } from '../../domain/clock.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { secretSql, statement } from '../sqlite/statement.ts';

export interface PathTokenRows {
  find(accountId: string): string | undefined;
  /** The path token of an account, made where there is none yet. Runs inside a transaction. */
  make(accountId: string): string;
}

export function pathTokens(sqlite: Sqlite, random: Random): PathTokenRows {
  const select = statement<{ account_id: string }, { path_token: string }>(sqlite, (at) =>
    secretSql.selectFrom('path_tokens').select('path_token').where('account_id', '=', at('account_id')),
  );
  const add = statement<{ account_id: string; path_token: string }>(sqlite, (at) =>
    secretSql.insertInto('path_tokens').values({ account_id: at('account_id'), path_token: at('path_token') }),
  );
  const find = (account_id: string): string | undefined => select.get({ account_id })?.path_token;
  return {
    find,
    make(account_id) {
      const known = find(account_id);
      if (known !== undefined) return known;
      const path_token = Buffer.from(random.bytes(16)).toString('base64url');
      add.run({ account_id, path_token });
      return path_token;
    },
  };
}
