/** The accounts that a settings file names. */
export interface ServedAccounts {
  readonly accounts: readonly string[];
  /** The connection of each. */
  readonly connectionOf: ReadonlyMap<string, string>;
  /** Real path of the file. */
  readonly settingsFile: string;
}
