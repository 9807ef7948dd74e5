/** Accounts that a mirror holds, whether or not the settings still name them. */
import { existsSync } from 'node:fs';
import { connectReader, type Sqlite } from '../sqlite/driver.ts';
import { mayDisown } from '../decide/account-owner.ts';
import type { ServedAccounts } from '../records/served-accounts.ts';
import type { AccountTable } from '../tables/mirror-tables.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';
import { catalogued, isBusy } from '../sqlite/sqlite-errors.ts';

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

/** An account that a command added to those of the settings. */
interface AddedAccount {
  readonly id: string;
  readonly connection: string;
}

/** The accounts that a command added, in the order of their ids. */
function addedAccounts(sqlite: Sqlite): AddedAccount[] {
  const all = plainStatement<object, AddedAccount>(
    sqlite,
    'SELECT account_id AS id, connection FROM _added_accounts ORDER BY account_id',
  );
  return all.all({});
}

/**
 * The same of the mirror at that path; none where there is no mirror, or one of an older version, or what is no mirror.
 * @throws MirrorError `database_locked`: an account that is not seen would be taken for one that was removed.
 */
export function addedAccountsAt(path: string): AddedAccount[] {
  return readAt(path, addedAccounts) ?? [];
}

/** The connection that gave access last to an account of the mirror at that path; undefined where the mirror does not hold it, or cannot be read. */
export function connectionOfKnown(path: string, accountId: string): string | undefined {
  return readAt(path, (sqlite) => {
    const known = plainStatement<{ accountId: string }, { connection: string }>(
      sqlite,
      'SELECT connection FROM accounts WHERE account_id = :accountId',
    );
    return known.get({ accountId })?.connection;
  });
}

/** Reads a mirror before it is opened. What is wrong with the file is said when it is; undefined until then. */
function readAt<T>(path: string, read: (sqlite: Sqlite) => T): T | undefined {
  if (!existsSync(path)) return undefined;
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path, beforeOpening);
    return read(sqlite);
  } catch (error) {
    if (isBusy(error)) throw catalogued(error, path);
    return undefined;
  } finally {
    sqlite?.close();
  }
}

/** How long a lock of another program is waited for, in milliseconds. */
const beforeOpening = 5_000;
