/** What is wrong with a mirror that was found after a loss of power, or after a kill. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemClock, systemRandom } from '../../src/domain/clock.ts';
import { SqliteDatabase } from '../../src/store/sqlite/database.ts';
import type { Sqlite } from '../../src/store/sqlite/driver.ts';
import { mirrorOptions } from '../../src/store/reader.ts';
import { readMigrations } from '../../src/store/sqlite/migrate.ts';
import { migrations } from '../support/mirror-file.ts';

export interface Fault {
  readonly kind: 'does not open' | 'damaged' | 'lost' | 'torn';
  readonly what: string;
}

const secretsMigrations = readMigrations(join(migrations, 'secrets'));

/** Puts files into an empty folder. */
export function lay(folder: string, files: ReadonlyMap<string, Buffer>): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [path, bytes] of files) writeFileSync(join(folder, basename(path)), bytes, { mode: 0o600 });
}

/** Opens both files as the program does, which repairs what can be repaired, and reports what is not as promised. */
export async function inspect(
  folder: string,
  expected: { readonly acknowledged: readonly number[]; readonly isWhole: (sqlite: Sqlite) => string | undefined },
): Promise<Fault[]> {
  const dependencies = { clock: systemClock, random: systemRandom };
  const secrets = { path: join(folder, 'secrets.db'), mode: 0o600, migrations: secretsMigrations, ...dependencies };
  return [
    ...(await opened(secrets, () => [])),
    ...(await opened(mirrorOptions({ path: join(folder, 'vendors.db'), migrations, ...dependencies }), (sqlite) => [
      ...lost(sqlite, expected.acknowledged),
      ...torn(expected.isWhole(sqlite)),
    ])),
  ];
}

async function opened(
  options: Parameters<(typeof SqliteDatabase)['open']>[0],
  look: (sqlite: Sqlite) => Fault[],
): Promise<Fault[]> {
  let database: SqliteDatabase;
  try {
    database = await SqliteDatabase.open(options);
  } catch (error) {
    return [{ kind: 'does not open', what: String(error) }];
  }
  const { sqlite } = database;
  try {
    const said = sqlite.pragma('integrity_check', { simple: true }) as string;
    return said === 'ok' ? look(sqlite) : [{ kind: 'damaged', what: `${options.path}: ${said}` }];
  } catch (error) {
    return [{ kind: 'damaged', what: `${options.path}: ${String(error)}` }];
  } finally {
    sqlite.close();
  }
}

function lost(sqlite: Sqlite, acknowledged: readonly number[]): Fault[] {
  const kept = new Set(sqlite.prepare<[], number>('SELECT user_id FROM deliveries').pluck().all());
  const gone = acknowledged.filter((number) => !kept.has(number));
  return gone.length === 0
    ? []
    : [{ kind: 'lost', what: `${gone.length} of ${acknowledged.length} acknowledged: ${gone.join()}` }];
}

function torn(what: string | undefined): Fault[] {
  return what === undefined ? [] : [{ kind: 'torn', what }];
}

/** Every vendor as people see it, with all that hangs on it. */
export function vendorsIn(sqlite: Sqlite): Map<number, string> {
  const rows = sqlite
    .prepare<[], { vendorid: number; content: string }>(
      `SELECT vendorid, json_array(vendor_name, vis_state, updated_at,
        (SELECT json_group_array(json_array(kind, code, amount) ORDER BY kind, code) FROM vendor_balances b
          WHERE b.account_id = v.account_id AND b.vendorid = v.vendorid),
        (SELECT json_group_array(json_array(taxid, amount) ORDER BY taxid) FROM vendor_tax_defaults t
          WHERE t.account_id = v.account_id AND t.vendorid = v.vendorid)) AS content FROM vendors v`,
    )
    .all();
  return new Map(rows.map(({ vendorid, content }) => [vendorid, content]));
}

/** The number of the reading that brought each vendor as it is. */
export function readingsIn(sqlite: Sqlite): Map<number, number> {
  const rows = sqlite
    .prepare<[], { read_seq: number; vendorid: number }>('SELECT read_seq, vendorid FROM vendors')
    .all();
  return new Map(rows.map(({ vendorid, read_seq }) => [vendorid, read_seq]));
}
