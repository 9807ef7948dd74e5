/** Accounts that a person added or paused by command: the mirror keeps them, and they are laid beside those of the settings file. */
import type { AccountOfConnection } from './account-connections.ts';
import type { Settings } from './shape.ts';

/** What a person told the mirror about accounts by command. */
export interface KeptAccounts {
  /** Added to those of the settings, in the order of their ids. */
  readonly added: readonly AccountOfConnection[];
  readonly paused: ReadonlySet<string>;
}

/** The settings with what the mirror keeps, whatever they had of it before. What the file says of an account wins. */
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
