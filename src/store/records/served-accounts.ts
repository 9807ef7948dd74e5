/** The accounts that a settings file names. */
export interface ServedAccounts {
  readonly accounts: readonly string[];
  /** Real path of the file. */
  readonly settingsFile: string;
}
