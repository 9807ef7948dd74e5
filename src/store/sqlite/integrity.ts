/** SQLite's checks of a file. */
import type { Sqlite } from './driver.ts';

const mostFaults = 3;

/** The result of a full check; empty where the file is sound. Reads all of it, and compares indexes with tables. */
export function faultsOf(sqlite: Sqlite): string[] {
  return faultsIn(sqlite.pragma(`integrity_check(${mostFaults})`));
}

/** Like `faultsOf` in half the time, for a file that was written in one go: missing index entries are not found. */
export function coarseFaultsOf(sqlite: Sqlite): string[] {
  return faultsIn(sqlite.pragma(`quick_check(${mostFaults})`));
}

/** The faults in the result rows of such a pragma. */
export function faultsIn(rows: unknown): string[] {
  return (rows as Record<string, string>[]).flatMap((row) => Object.values(row)).filter((fault) => fault !== 'ok');
}
