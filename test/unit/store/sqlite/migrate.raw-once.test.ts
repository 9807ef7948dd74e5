/** The migration that rebuilds the largest table. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock, systemRandom } from '../../../../src/domain/clock.ts';
import { openMirror } from '../../../../src/store/mirror.ts';
import { ask, migrations, namedProcess, openingError, temporaryFolder } from '../../../support/mirror-file.ts';
import { fillVersions, migrationsBefore, writeOlder } from '../../../support/mirror/older-file.ts';

const everyVersion = 'SELECT * FROM vendor_versions ORDER BY seq';

it('keeps every version readable as before, reuses no number, and reports its progress', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'vendors.db');
  await writeOlder(path, migrationsBefore('0004', join(folder, 'older')), (sqlite) => {
    fillVersions(sqlite, 20_000);
    // Vendors whose record is not that of the current version, or that are not there, must keep the version's.
    sqlite.exec(`UPDATE vendor_versions SET raw = '{"its":"own"}' WHERE valid_to IS NULL AND vendorid = 7;
      DELETE FROM vendors WHERE vendorid = 8;
      DELETE FROM vendor_versions WHERE seq = 22000`);
  });
  const before = ask(path, everyVersion);
  const heard: number[] = [];
  const dependencies = { migrations, clock: systemClock, random: systemRandom, lockProcess: namedProcess() };
  const mirror = await openMirror({ ...dependencies, path, onMigration: ({ percent }) => heard.push(percent) });
  await mirror.close();

  expect(ask(path, everyVersion)).toEqual(before);
  expect(ask(path, 'SELECT count(*) AS own FROM _vendor_versions WHERE valid_to IS NULL AND raw IS NOT NULL')).toEqual([
    { own: 2 },
  ]);
  expect(ask(path, "SELECT seq FROM sqlite_sequence WHERE name = '_vendor_versions'")).toEqual([{ seq: 22_000 }]);
  expect(heard.length).toBeGreaterThan(90);
  expect(heard.at(-1)).toBe(100);
  expect(heard).toEqual([...new Set(heard)].sort((a, b) => a - b));
});

it('reports nothing for a small file', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'vendors.db');
  await writeOlder(path, migrationsBefore('0004', join(folder, 'older')), (sqlite) => fillVersions(sqlite, 100));
  const dependencies = { migrations, clock: systemClock, random: systemRandom, lockProcess: namedProcess() };
  const mirror = await openMirror({ ...dependencies, path, onMigration: () => expect.unreachable() });
  await mirror.close();
});

it('does not begin without the free space that it says it needs, and changes nothing', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'vendors.db');
  const older = migrationsBefore('0004', join(folder, 'older'));
  await writeOlder(path, older, (sqlite) => fillVersions(sqlite, 10));
  const hungry = join(migrationsBefore('0004', join(folder, 'hungry')), 'mirror', '0004_hungry.sql');
  writeFileSync(hungry, '-- What it needs, by the rows that are there.\n');
  appendFileSync(
    hungry,
    '-- space: SELECT 1048576 * 1000000000 * count(*) AS bytes FROM deliveries\nCREATE TABLE more (n INTEGER);',
  );
  expect(await openingError(path, join(folder, 'hungry'))).toMatchObject({
    code: 'disk_full',
    message: expect.stringMatching(
      /^To migrate .*vendors\.db \(0004_hungry\.sql\), 9540 TB of free space are needed beside it; only [\d.]+ [MGT]B are free\.$/,
    ) as string,
  });
  expect(await openingError(path, older)).toBe('opened');
});
