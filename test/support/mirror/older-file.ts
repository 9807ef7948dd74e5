/** A mirror as an older version made it, filled by SQL alone. */
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Sqlite } from '../../../src/store/sqlite/driver.ts';
import { migrations, openDatabase } from '../mirror-file.ts';

/** Copies the migrations of the mirror that come before a number to `folder`. @returns the folder. */
export function migrationsBefore(number: string, folder: string): string {
  mkdirSync(join(folder, 'mirror'), { recursive: true });
  for (const name of readdirSync(join(migrations, 'mirror')))
    if (name < number) cpSync(join(migrations, 'mirror', name), join(folder, 'mirror', name));
  return folder;
}

/** Makes a mirror at `path` by the migrations in `folder`, and lets `fill` write to it. */
export async function writeOlder(path: string, folder: string, fill: (sqlite: Sqlite) => void): Promise<void> {
  const database = await openDatabase(path, folder);
  await database.write(() => fill(database.sqlite));
  await database.close();
}

/** Vendors with records of about 700 bytes; of each tenth there is an older version, and as many deliveries came. */
export function fillVersions(sqlite: Sqlite, vendors: number): void {
  const record = `json_object('vendorid', n, 'vendor_name', 'Vendor ' || n, 'note', hex(zeroblob(320)))`;
  const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${vendors})`;
  const version =
    '(account_id, vendorid, valid_from, valid_to, vis_state, vis_state_source, presence, changed_fields, source, raw)';
  sqlite.exec(`
    ${numbers} INSERT INTO vendors
      (account_id, vendorid, vendor_name, vis_state, first_seen_at, changed_at, source, read_seq, held_since_ms, raw)
      SELECT 'older', n, 'Vendor ' || n, 0, '2026-11-20 09:00:00.000', '2026-11-20 09:00:00.000', 'pull', 1, 0, ${record} FROM numbers;
    ${numbers} INSERT INTO vendor_versions ${version}
      SELECT 'older', n, '2026-11-19 09:00:00.000', '2026-11-20 09:00:00.000', 0, 'reported', 'present', '[]', 'pull',
        json_object('vendorid', n, 'vendor_name', 'Old ' || n) FROM numbers WHERE n % 10 = 0;
    ${numbers} INSERT INTO vendor_versions ${version}
      SELECT 'older', n, '2026-11-20 09:00:00.000', NULL, 0, 'reported', 'present', iif(n % 10 = 0, '["vendor_name"]', '[]'), 'pull',
        ${record} FROM numbers;
    ${numbers} INSERT INTO deliveries (account_id, received_at, name, object_id, outcome, settled_at)
      SELECT 'older', '2026-11-20 09:00:00.000', 'bill_vendor.update', n, 'applied', '2026-11-20 09:00:01.000' FROM numbers;`);
}
