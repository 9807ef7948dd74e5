/** Whose word it is that an account is served no more. Several settings files may name one mirror, each with accounts of its own. */

/**
 * Whether a settings file that does not name an account may say that it is served no more: only the one that named it last, or any where
 * none is known (null).
 */
export function mayStopServing(namedLastBy: string | null, settingsFile: string): boolean {
  return namedLastBy === null || namedLastBy === settingsFile;
}
