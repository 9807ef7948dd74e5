/** Decides which settings file may end the service of an account. Several files may share one mirror, each with its own accounts. */

/**
 * Whether a settings file that does not name an account may mark it as no longer served: only the file that named it last, or any where
 * none is known (null).
 */
export function mayStopServing(namedLastBy: string | null, settingsFile: string): boolean {
  return namedLastBy === null || namedLastBy === settingsFile;
}
