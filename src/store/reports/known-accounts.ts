/**
 * The accounts in a mirror, whether or not the settings still name them, and which settings file may end the service of one.
 *
 * Several settings files may share one mirror, each with its own accounts. The mirror records which file, by its real path, named an account
 * last; only that file can end it. So a cron job cannot drop an account that a daemon serves, and a renamed file takes over its accounts
 * when it is first used.
 */
import { SqliteConnection } from '../sqlite/connection.ts';
import { existsSync } from 'node:fs';
import type { KeptAccounts } from '../../settings/parse.ts';
import type { AccountOfConnection } from '../../settings/shape.ts';
import { connectReader, type Sqlite } from '../sqlite/driver.ts';
import type { AccountTable } from '../sql/schema.ts';
import { catalogued, isBusy } from '../sqlite/sqlite-errors.ts';
import { statement, type Connection } from '../sql/statement.ts';

/** Accounts that no settings file names any more, as far as the file that names `accounts` can decide. */
export async function accountsNotServed(
  db: Connection,
  { accounts, settingsFile }: Omit<ServedAccounts, 'connectionOf'>,
): Promise<Set<string>> {
  const all = statement(db)<object, Pick<AccountTable, 'account_id' | 'not_served_since' | 'settings_file'>>`
    SELECT account_id, not_served_since, settings_file FROM _accounts`;
  const named = new Set(accounts);
  const left = (await all.all({}))
    .filter(({ account_id }) => !named.has(account_id))
    .filter(
      ({ not_served_since, settings_file }) => not_served_since !== null || mayStopServing(settings_file, settingsFile),
    );
  return new Set(left.map(({ account_id }) => account_id));
}

/** All accounts of the mirror, by id. */
export async function accountIds(db: Connection): Promise<string[]> {
  const all = statement(db)<object, Pick<AccountTable, 'account_id'>>`
    SELECT account_id FROM _accounts ORDER BY account_id`;
  return (await all.all({})).map(({ account_id }) => account_id);
}

/** Accounts that commands added or paused. */
export async function keptAccounts(db: Connection): Promise<KeptAccounts> {
  return { added: await addedAccounts(db), paused: await pausedAccounts(db) };
}

function addedAccounts(db: Connection): Promise<AccountOfConnection[]> {
  const all = statement(db)<object, AccountOfConnection>`
    SELECT account_id AS id, connection FROM _added_accounts ORDER BY account_id`;
  return all.all({});
}

async function pausedAccounts(db: Connection): Promise<Set<string>> {
  const all = statement(db)<object, { account_id: string }>`
    SELECT account_id FROM _accounts WHERE paused_since IS NOT NULL`;
  return new Set((await all.all({})).map(({ account_id }) => account_id));
}

/**
 * The same of the mirror at that path; empty where there is none, or the file is not a mirror. Each list is read separately, because a mirror of
 * an older version may have only one of them.
 * @throws MirrorError `database_locked`, because added accounts would otherwise look removed.
 */
export async function keptAccountsAt(path: string): Promise<KeptAccounts> {
  const added = await readMirrorAt(path, addedAccounts);
  const paused = await readMirrorAt(path, pausedAccounts);
  return { added: added ?? [], paused: paused ?? new Set() };
}

/** The accounts of the mirror at that path, with the connection that last gave access to each; none where it cannot be read. */
export async function knownConnectionsAt(path: string): Promise<AccountOfConnection[]> {
  const known = await readMirrorAt(path, (db) => {
    const all = statement(db)<object, AccountOfConnection>`
      SELECT account_id AS id, connection FROM _accounts ORDER BY account_id`;
    return all.all({});
  });
  return known ?? [];
}

/** Reads a mirror before it is opened; undefined where it cannot be read, which opening it will report. */
async function readMirrorAt<T>(path: string, read: (db: Connection) => Promise<T>): Promise<T | undefined> {
  if (!existsSync(path)) return undefined;
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path, beforeOpening);
    return await read(new SqliteConnection(sqlite));
  } catch (error) {
    if (isBusy(error)) throw catalogued(error, path);
    return undefined;
  } finally {
    sqlite?.close();
  }
}

/** How long to wait for another program's lock, in milliseconds. */
const beforeOpening = 5_000;

/**
 * Whether a settings file that does not name an account may mark it as no longer served: only the file that named it last, or any where
 * none is known (null).
 */
export function mayStopServing(namedLastBy: string | null, settingsFile: string): boolean {
  return namedLastBy === null || namedLastBy === settingsFile;
}

export interface ServedAccounts {
  readonly accounts: readonly string[];
  readonly connectionOf: ReadonlyMap<string, string>;
  /** Real path of the file. */
  readonly settingsFile: string;
}
