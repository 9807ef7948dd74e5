/** A mirror of any size, filled by SQL alone: the content of its records does not matter. */
import { join } from 'node:path';
import { systemClock, systemRandom } from '../../../src/domain/clock.ts';
import { SqliteDatabase } from '../../../src/store/sqlite/database.ts';
import { mirrorOptions } from '../../../src/store/reader.ts';
import { migrations } from './installation.ts';

export interface LargeMirror {
  readonly folder: string;
  readonly vendors: number;
  readonly deliveries: number;
  readonly accounts: number;
}

/** Makes the mirror: half of the vendors and deliveries are one account's, the others' shares are equal. @returns the accounts. */
export async function fillMirror({ folder, vendors, deliveries, accounts }: LargeMirror): Promise<string[]> {
  const path = join(folder, 'vendors.db');
  const database = await SqliteDatabase.open(
    mirrorOptions({ path, migrations, clock: systemClock, random: systemRandom }),
  );
  const { sqlite } = database;
  const count = (most: number): string =>
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${most})`;
  const owner = `'a' || iif(n % 2 = 0, 0, (n / 2) % ${accounts})`;
  const back = (days: string): string => `strftime('%Y-%m-%d %H:%M:%f', 'now', '-' || (${days}) || ' days')`;
  sqlite.exec(`
    BEGIN;
    ${count(accounts)} INSERT INTO _accounts (account_id, added_at) SELECT 'a' || (n - 1), ${back('90')} FROM numbers;
    ${count(vendors)} INSERT INTO vendors
      (account_id, vendorid, vendor_name, vis_state, first_seen_at, changed_at, source, read_seq, held_since_ms, raw)
      SELECT ${owner}, n, 'Vendor ' || n, n % 3, ${back('90')}, ${back('90')}, 'pull', 1, 0, '{}' FROM numbers;
    ${count(accounts * 40)} INSERT INTO runs
      (account_id, kind, "trigger", started_at, finished_at, outcome, safe_as_of, listed_as_of, began_seq)
      SELECT 'a' || (n % ${accounts}), 'reconcile', 'schedule', ${back(`90 - 90.0 * n / ${accounts * 40}`)},
        ${back(`90 - 90.0 * n / ${accounts * 40}`)}, iif(n % 7 = 0, 'failed', 'complete'), ${back('1')}, ${back('1')}, 0 FROM numbers;
    ${count(deliveries)} INSERT INTO deliveries (account_id, received_at, name, object_id, outcome, settled_at)
      SELECT ${owner}, ${back(`90 - 90.0 * n / ${deliveries}`)}, 'bill_vendor.update', n % ${vendors} + 1,
        iif(n % 100 = 0, 'unchanged', 'applied'), ${back('1')} FROM numbers;
    ${count(Math.min(10_000, vendors))} INSERT INTO dirty_vendors (account_id, vendorid, generation, marked_at, due_at, due_ms, reason)
      SELECT 'a0', n, 1, ${back('0')}, ${back('0')}, 0, 'delivery' FROM numbers;
    ${count(vendors)} INSERT INTO findings (run_id, account_id, vendorid, kind, fields, found_at)
      SELECT n % ${accounts * 40}, 'a' || (n % ${accounts}), n, 'balance_only', '[]', ${back('3')} FROM numbers WHERE n % 10 = 0;
    COMMIT;`);
  await database.close();
  return Array.from({ length: accounts }, (_, index) => `a${index}`);
}
