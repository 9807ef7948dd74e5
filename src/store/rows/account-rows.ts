/** The accounts of the mirror, and which settings file names each. */
import { timestamp } from '../../domain/clock.ts';
import { mayStopServing } from '../decide/account-owner.ts';
import type { ServedAccounts } from '../records/served-accounts.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { MirrorTables } from '../tables/mirror-tables.ts';
import type { Selectable } from 'kysely';

type AccountRow = Omit<Selectable<MirrorTables['accounts']>, 'added_at' | 'paused_since'>;

/** Each method runs inside a transaction. */
export class AccountRows {
  readonly #insert: Statement<{ account_id: string; added_at: string }>;
  readonly #accounts: Statement<object, AccountRow>;
  readonly #setServed: Statement<AccountRow>;

  constructor(sqlite: Sqlite) {
    this.#insert = statement(sqlite, (at) =>
      mirrorSql
        .insertInto('accounts')
        .values({ account_id: at('account_id'), added_at: at('added_at'), not_served_since: null, settings_file: null })
        .onConflict((conflict) => conflict.doNothing()),
    );
    this.#accounts = statement(sqlite, () =>
      mirrorSql
        .selectFrom('accounts')
        .select(['account_id', 'not_served_since', 'settings_file', 'connection'])
        .orderBy('account_id'),
    );
    this.#setServed = statement(sqlite, (at) =>
      mirrorSql
        .updateTable('accounts')
        .set({
          not_served_since: at('not_served_since'),
          settings_file: at('settings_file'),
          connection: at('connection'),
        })
        .where('account_id', '=', at('account_id')),
    );
  }

  add(accountId: string, now: number): void {
    this.#insert.run({ account_id: accountId, added_at: timestamp(now) });
  }

  /** Records which accounts a settings file names. @returns those that it no longer names. */
  serve({ accounts: served, connectionOf, settingsFile }: ServedAccounts, now: number): string[] {
    const named = new Set(served);
    const left: string[] = [];
    for (const row of this.#accounts.all({})) {
      const { account_id, not_served_since, settings_file } = row;
      if (named.has(account_id)) {
        const connection = connectionOf.get(account_id) ?? row.connection;
        if (not_served_since === null && settings_file === settingsFile && connection === row.connection) continue;
        this.#setServed.run({ account_id, not_served_since: null, settings_file: settingsFile, connection });
      } else if (not_served_since === null && mayStopServing(settings_file, settingsFile)) {
        this.#setServed.run({ ...row, not_served_since: timestamp(now), settings_file: settingsFile });
        left.push(account_id);
      }
    }
    return left;
  }
}
