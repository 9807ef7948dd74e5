/** Finds fields that the mirror has stored. */
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';

/** The names that occur in a stored record or an earlier version; searches all of them. */
export function storedFields(sqlite: Sqlite, names: readonly string[]): string[] {
  const inRecords = plainStatement<{ part: string }, { found: number }>(
    sqlite,
    `SELECT EXISTS (SELECT 1 FROM vendors WHERE instr(raw, :part)) OR
       EXISTS (SELECT 1 FROM _vendor_versions WHERE instr(raw, :part)) AS found`,
  );
  return names.filter(
    (name) => inRecords.get({ part: `"${name}":` })?.found === 1 || inRecords.get({ part: `"${name}" :` })?.found === 1,
  );
}
