/** Fields of which the mirror holds something. */
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';

/** Those of the names that stand in a record of a vendor, or of an earlier version; looks through all of them. */
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
