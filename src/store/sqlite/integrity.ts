/** Whether a file is whole, as far as SQLite can tell. */
import type { Sqlite } from './driver.ts';

const mostFaults = 3;

/** What is wrong with the file, in SQLite's words; nothing where it is sound. Reads all of it, and holds indexes against their tables. */
export function faultsOf(sqlite: Sqlite): string[] {
  return faultsIn(sqlite.pragma(`integrity_check(${mostFaults})`));
}

/** As `faultsOf`, in half the time, of a file that was written in one go: a row that an index lacks is not found. */
export function coarseFaultsOf(sqlite: Sqlite): string[] {
  return faultsIn(sqlite.pragma(`quick_check(${mostFaults})`));
}

/** The faults among the rows of such a pragma, in one column. */
export function faultsIn(rows: unknown): string[] {
  return (rows as Record<string, string>[]).flatMap((row) => Object.values(row)).filter((fault) => fault !== 'ok');
}
