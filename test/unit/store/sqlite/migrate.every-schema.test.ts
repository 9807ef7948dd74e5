/** Mirrors of every earlier schema, released or not, are migrated; and how other programs recognise a mirror. */
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { exportToFile } from '../../../../src/store/export/write-export.ts';
import { mirrorMigrations } from '../../../../src/store/files/mirror-options.ts';
import { compiled } from '../../../support/source/compiled.ts';
import { ask, migrations, openDatabase, packageRoot, temporaryFolder } from '../../../support/mirror-file.ts';
import { migrationsBefore } from '../../../support/mirror/older-file.ts';
import { constantRandom } from '../../../support/random.ts';

const released = join(packageRoot, 'test/fixtures/versions/0.1.0/closed/vendors.db.gz');
const known = mirrorMigrations(migrations);
const last = known.at(-1)!.number;

function countsOf(path: string): unknown[] {
  return ask(
    path,
    'SELECT (SELECT count(*) FROM vendors) AS vendors, (SELECT count(*) FROM vendor_versions) AS versions, (SELECT count(*) FROM deliveries) AS deliveries',
  );
}

describe('a mirror of an older schema', () => {
  it('is migrated with its rows, and has the schema of a new one', async () => {
    const folder = temporaryFolder();
    const bytes = gunzipSync(readFileSync(released));
    const first = join(folder, 'first.db');
    writeFileSync(first, bytes);
    const before = countsOf(first);
    const [{ number: from }] = ask<{ number: number }>(first, 'SELECT max(number) AS number FROM migrations') as [
      { number: number },
    ];
    const shapes = new Set<string>();
    for (const { number } of known.filter((migration) => migration.number >= from)) {
      const path = join(folder, `${number}.db`);
      writeFileSync(path, bytes);
      const older = migrationsBefore(String(number + 1).padStart(4, '0'), mkdtempSync(join(folder, 'migrations-')));
      await (await openDatabase(path, older)).close();
      expect(ask(path, 'SELECT max(number) AS number FROM migrations')).toEqual([{ number }]);
      await (await openDatabase(path)).close();
      expect(countsOf(path), `schema ${number}`).toEqual(before);
      expect(ask(path, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      expect([ask(path, 'PRAGMA application_id'), ask(path, 'PRAGMA user_version')]).toEqual([
        [{ application_id: 0x564d4952 }],
        [{ user_version: last }],
      ]);
      shapes.add(JSON.stringify(ask(path, 'SELECT type, name, sql FROM sqlite_schema ORDER BY name')));
    }
    expect(shapes.size).toBe(1);
  });

  it('is recognised by its application id in a copy too', async () => {
    const folder = temporaryFolder();
    const mirror = await openDatabase(join(folder, 'vendors.db'));
    const copy = join(folder, 'copy.db');
    const own = { database: join(folder, 'vendors.db'), secrets: join(folder, 'secrets.db'), readFrom: [] };
    await exportToFile(mirror, copy, { format: 'db' }, { random: constantRandom(), own, program: compiled.exports });
    expect(readdirSync(folder)).toContain('copy.db');
    expect(ask(copy, 'PRAGMA application_id')).toEqual([{ application_id: 0x564d4952 }]);
    expect(ask(copy, 'PRAGMA user_version')).toEqual([{ user_version: last }]);
  });
});
