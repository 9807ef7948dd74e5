/** What it takes to bring a mirror of version 0.1.0 up to date, and to write the same file anew without changing it. */
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { systemClock, systemRandom } from '../../../src/domain/clock.ts';
import { mirrorMigrations, mirrorOptions } from '../../../src/store/files/mirror-options.ts';
import { Database } from '../../../src/store/sqlite/database.ts';
import { migrations, packageRoot } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';

export interface MigrationParams {
  readonly folder: string;
  readonly vendors: number;
}

export interface MigrationResult {
  /** Milliseconds: to bring it up to date, and to write all of it anew (VACUUM). */
  readonly took: number;
  readonly rewriting: number;
  /** Of the file before. */
  readonly bytes: number;
  /** That must be free beside it, as is checked before. */
  readonly asked: number;
  /** More on the disk than before, when it is up to date and the journal still stands beside it. */
  readonly more: number;
  /** How often progress was reported. */
  readonly progressReports: number;
}

const released = join(packageRoot, 'test/fixtures/versions/0.1.0/closed/vendors.db.gz');

export async function job({ folder, vendors }: MigrationParams): Promise<JobResult> {
  const [path, copy] = [join(folder, 'vendors.db'), join(folder, 'copy.db')];
  writeFileSync(path, gunzipSync(readFileSync(released)));
  fill(path, vendors);
  copyFileSync(path, copy);
  const bytes = statSync(path).size;
  const asked = askedSpace(path);
  const rewriting = timed(() => rewrite(copy));

  let progressReports = 0;
  const begun = performance.now();
  const options = mirrorOptions({ path, migrations, clock: systemClock, random: systemRandom });
  const database = await Database.open({ ...options, onMigration: () => (progressReports += 1) });
  const took = performance.now() - begun;
  const more = statSync(path).size + statSync(`${path}-wal`).size - bytes;
  await database.close();
  return { result: { took, rewriting, bytes, asked, more, progressReports } satisfies MigrationResult };
}

/** The most that a migration asks for. */
function askedSpace(path: string): number {
  const sqlite = new Driver(path, { readonly: true });
  const queries = mirrorMigrations(migrations).flatMap(({ space }) => space ?? []);
  const asked = queries.map((query) => Number(sqlite.prepare(query).pluck().get()));
  sqlite.close();
  return Math.max(0, ...asked);
}

function timed(work: () => void): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}

/** As the mirror is written: durable, by way of a journal. */
function rewrite(path: string): void {
  const sqlite = new Driver(path);
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('synchronous = FULL');
  sqlite.exec('VACUUM');
  sqlite.close();
}

/** Vendors as the service sends them, with a balance, a version each and an older one of each tenth, and as many deliveries, all settled. */
function fill(path: string, vendors: number): void {
  const sqlite = new Driver(path);
  const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${vendors})`;
  const record = `json_object('vendorid', n, 'vendor_name', 'Vendor ' || n, 'note', hex(zeroblob(320)),
    'outstanding_balance', json_array(json_object('amount', json_object('amount', n || '.05', 'code', 'USD'))))`;
  const version =
    '(account_id, vendorid, valid_from, valid_to, vis_state, vis_state_source, presence, changed_fields, source, raw)';
  const at = "'2026-06-20 09:00:00.000'";
  sqlite.exec(`BEGIN;
    INSERT INTO accounts (account_id, added_at) VALUES ('older', ${at});
    ${numbers} INSERT INTO vendors
      (account_id, vendorid, vendor_name, vis_state, first_seen_at, changed_at, source, read_seq, held_since_ms, raw)
      SELECT 'older', n, 'Vendor ' || n, 0, ${at}, ${at}, 'pull', 1, 0, ${record} FROM numbers;
    ${numbers} INSERT INTO vendor_balances SELECT 'older', n, 'outstanding', 'USD', n || '.05', 100 * n + 5 FROM numbers;
    ${numbers} INSERT INTO balance_spans (account_id, vendorid, code, valid_from, outstanding, outstanding_minor)
      SELECT 'older', n, 'USD', ${at}, n || '.05', 100 * n + 5 FROM numbers;
    ${numbers} INSERT INTO vendor_versions ${version}
      SELECT 'older', n, '2026-05-19 09:00:00.000', ${at}, 0, 'reported', 'present', '[]', 'pull', ${record}
      FROM numbers WHERE n % 10 = 0;
    ${numbers} INSERT INTO vendor_versions ${version}
      SELECT 'older', n, ${at}, NULL, 0, 'reported', 'present', iif(n % 10 = 0, '["vendor_name"]', '[]'), 'pull', ${record}
      FROM numbers;
    ${numbers} INSERT INTO deliveries (account_id, received_at, name, object_id, outcome, settled_at)
      SELECT 'older', ${at}, 'bill_vendor.update', n, 'applied', ${at} FROM numbers;
    COMMIT;`);
  sqlite.close();
}
