/** Whether a file is whole, as far as SQLite can tell. */
import type { Sqlite } from './driver.ts';

const mostFaults = 3;

/** What is wrong with the file, in SQLite's words; nothing where it is sound. Reads all of it. */
export function faultsOf(sqlite: Sqlite): string[] {
  const said = sqlite.pragma(`quick_check(${mostFaults})`) as { quick_check: string }[];
  return said.map(({ quick_check }) => quick_check).filter((fault) => fault !== 'ok');
}
