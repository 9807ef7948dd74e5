/** Accounts that were added or paused by command: they are kept in the mirror and added to those of the settings file. */
import type { AccountOfConnection } from './account-connections.ts';
import type { Settings } from './shape.ts';

/** Accounts that were added or paused by command. */
export interface KeptAccounts {
  /** Added to those of the settings, in the order of their ids. */
  readonly added: readonly AccountOfConnection[];
  readonly paused: ReadonlySet<string>;
}

/** The settings with these accounts, instead of those kept earlier. Where both name an account, the file wins. */
export function withKept(settings: Settings, { added, paused }: KeptAccounts): Settings {
  const { accountsOfFile, isRestricted } = settings;
  const inFile = new Set(accountsOfFile.map(({ id }) => id));
  const all = [...accountsOfFile, ...added.filter(({ id }) => !inFile.has(id))];
  const namedAccounts = all.map(({ id }) => id);
  return {
    ...settings,
    accounts: isRestricted ? settings.accounts : namedAccounts,
    namedAccounts,
    connectionOf: new Map(all.map(({ id, connection }) => [id, connection])),
    paused,
  };
}
