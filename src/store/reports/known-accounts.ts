/** Accounts that a mirror holds, whether or not the settings still name them. */
import { existsSync } from 'node:fs';
import { connectReader, type Sqlite } from '../sqlite/driver.ts';
import { mayDisown } from '../decide/account-owner.ts';
import type { ServedAccounts } from '../records/served-accounts.ts';
import type { AccountTable } from '../tables/mirror-tables.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';

/** Accounts that no settings file names any more, so far as one that names those `served` can tell. */
export function leftBehind(
  sqlite: Sqlite,
  { accounts, settingsFile }: Omit<ServedAccounts, 'connectionOf'>,
): Set<string> {
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

/** The connection that gave access last to an account of the mirror at that path; undefined where the mirror does not hold it, or cannot be read. */
export function connectionOfKnown(path: string, accountId: string): string | undefined {
  if (!existsSync(path)) return undefined;
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    const known = plainStatement<{ accountId: string }, { connection: string }>(
      sqlite,
      'SELECT connection FROM accounts WHERE account_id = :accountId',
    );
    return known.get({ accountId })?.connection;
  } catch {
    return undefined;
  } finally {
    sqlite?.close();
  }
}
