/** Accounts that a mirror holds, whether or not the settings still name them. */
import { existsSync } from 'node:fs';
import { connectReader, type Sqlite } from '../sqlite/driver.ts';
import { mayDisown } from '../decide/account-owner.ts';
import type { ServedAccounts } from '../records/served-accounts.ts';
import type { AccountTable } from '../tables/mirror-tables.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';

/** Accounts that no settings file names any more, so far as one that names those `served` can tell. */
export function leftBehind(sqlite: Sqlite, { accounts, settingsFile }: ServedAccounts): Set<string> {
  const all = plainStatement<object, Pick<AccountTable, 'account_id' | 'not_served_since' | 'settings_file'>>(
    sqlite,
    'SELECT account_id, not_served_since, settings_file FROM accounts',
  );
  const named = new Set(accounts);
  const left = all
    .all({})
    .filter(({ account_id }) => !named.has(account_id))
    .filter(
      ({ not_served_since, settings_file }) => not_served_since !== null || mayDisown(settings_file, settingsFile),
    );
  return new Set(left.map(({ account_id }) => account_id));
}

/** Whether the mirror at that path holds the account; makes no file. A file that cannot be read holds none. */
export function knowsAccount(path: string, accountId: string): boolean {
  if (!existsSync(path)) return false;
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    const known = plainStatement<{ accountId: string }>(sqlite, 'SELECT 1 FROM accounts WHERE account_id = :accountId');
    return known.get({ accountId }) !== undefined;
  } catch {
    return false;
  } finally {
    sqlite?.close();
  }
}
