/** Files of every released version are migrated without losing or changing anything. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { systemClock, systemRandom } from '../../../../src/domain/clock.ts';
import { hasDamagedSchema } from '../../../../src/store/files/damage.ts';
import { mirrorMigrations } from '../../../../src/store/reader.ts';
import { openMirror } from '../../../../src/store/mirror.ts';
import { openSecrets } from '../../../../src/store/secrets/secrets.ts';
import { ask, migrations, namedProcess, packageRoot, temporaryFolder } from '../../../support/mirror-file.ts';

const versions = join(packageRoot, 'test/fixtures/versions');

/** Each version's files as a clean stop leaves them (`closed`), and as they are beside a running daemon (`live`, with journals). */
const fixtures = readdirSync(versions).flatMap((version) =>
  ['closed', 'live'].map((state) => ({ version, state, path: join(versions, version, state) })),
);

/** Tables that a later version fills anew: what an older one held in them need not stay. */
const renewed: readonly string[] = ['migrations'];

/** Columns that a later version took away, by table. */
const removed: Readonly<Record<string, readonly string[]>> = { runs: ['pid'] };

type Row = Readonly<Record<string, unknown>>;

function unpack(from: string): string {
  const folder = join(temporaryFolder(), 'files');
  mkdirSync(folder);
  for (const name of readdirSync(from))
    writeFileSync(join(folder, name.replace(/\.gz$/, '')), gunzipSync(readFileSync(join(from, name))), { mode: 0o600 });
  return folder;
}

function tablesOf(file: string): string[] {
  const named = ask<{ name: string }>(
    file,
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  return named.map(({ name }) => name).filter((name) => !renewed.includes(name));
}

/** Every row of a table, with the columns that are named, in an order of its own. Later versions write `_` before some names. */
function rowsOf(file: string, table: string, columns: readonly string[]): string[] {
  const list = columns.map((column) => `"${column}"`).join();
  const from = ask(file, `SELECT 1 FROM sqlite_master WHERE name = '${table}'`).length > 0 ? table : `_${table}`;
  return (table === 'balance_spans' ? spansIn(file, list, from) : ask<Row>(file, `SELECT ${list} FROM "${from}"`))
    .map((row) => JSON.stringify(row))
    .sort();
}

/** Spans of the same amounts that follow each other are one: later versions end a span when the vendor's state changes. */
function spansIn(file: string, list: string, table: string): Row[] {
  const whole: Row[] = [];
  for (const span of ask<Row>(file, `SELECT ${list} FROM ${table} ORDER BY account_id, vendorid, code, valid_from`)) {
    const before = whole.at(-1);
    const continued = { ...span, valid_from: before?.['valid_from'], valid_to: span['valid_from'] };
    const isContinued = JSON.stringify(continued) === JSON.stringify(before);
    whole.splice(isContinued ? -1 : whole.length, 1, isContinued ? { ...before, valid_to: span['valid_to'] } : span);
  }
  return whole;
}

function columnsOf(file: string, table: string): string[] {
  const named = ask<{ name: string }>(file, `SELECT name FROM pragma_table_info('${table}')`);
  return named.map(({ name }) => name).filter((name) => !removed[table]?.includes(name));
}

function contentsOf(file: string, shape: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(shape).map(([table, columns]) => [table, rowsOf(file, table, columns)]));
}

describe('F10 files of older versions', () => {
  it.each(fixtures)('of $version, $state, keep every row', async ({ path }) => {
    const folder = unpack(path);
    const files = ['vendors.db', 'secrets.db'].map((name) => join(folder, name));
    const shapes = files.map((file) =>
      Object.fromEntries(tablesOf(file).map((table) => [table, columnsOf(file, table)])),
    );
    const before = files.map((file, index) => contentsOf(file, shapes[index]!));
    for (const contents of before)
      for (const [table, rows] of Object.entries(contents)) expect(rows, table).not.toEqual([]);

    // Damage is what the migrations did not make, and these files were made by older ones.
    const isDamaged = (): boolean => hasDamagedSchema(files[0]!, mirrorMigrations(migrations));
    expect(isDamaged()).toBe(false);
    const dependencies = { migrations, clock: systemClock, random: systemRandom };
    const mirror = await openMirror({
      ...dependencies,
      path: files[0]!,
      lockProcess: namedProcess(),
    });
    await mirror.close();
    const secrets = await openSecrets({ ...dependencies, path: files[1]! });
    await secrets.close();

    expect(isDamaged()).toBe(false);
    expect(files.map((file, index) => contentsOf(file, shapes[index]!))).toEqual(before);
    for (const file of files) expect(ask(file, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });
});
