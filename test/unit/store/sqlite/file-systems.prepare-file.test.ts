import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/domain/clock.ts';
import { seededRandom } from '../../../../src/sandbox/core/random.ts';
import { SqliteDatabase } from '../../../../src/store/sqlite/database.ts';
import { readMigrations } from '../../../../src/store/sqlite/migrate.ts';
import { mirrorOptions } from '../../../../src/store/reader.ts';
import {
  fileClock as clock,
  migrations,
  newPath,
  openingError,
  openDatabase,
  otherConnection,
  schemaNames,
  temporaryFolder,
  vendor,
  writeMirror,
} from '../../../support/mirror-file.ts';

describe('a file that must not be changed', () => {
  it('belongs to another program', async () => {
    const path = newPath();
    otherConnection(path).exec('CREATE TABLE songs (title TEXT)');
    const before = readFileSync(path);
    expect(await openingError(path)).toMatchObject({
      code: 'database_unusable',
      exit: 74,
      message: expect.stringContaining('a database of another program (it holds songs)') as string,
    });
    expect(schemaNames(path)).toEqual(['songs']);
    expect(readFileSync(path).subarray(100)).toEqual(before.subarray(100));
  });

  it('is not a database', async () => {
    const path = newPath();
    writeFileSync(path, 'Dear diary, today I was read by a program.\n'.repeat(200));
    expect(await openingError(path)).toMatchObject({ code: 'database_unusable', exit: 74 });
    expect(readFileSync(path, 'utf8')).toMatch(/^Dear diary/);
  });

  it('is not a file', async () => {
    const path = newPath();
    mkdirSync(path);
    expect(await openingError(path)).toMatchObject({ code: 'database_unusable', exit: 74 });
    writeFileSync(join(path, 'in-the-way'), '');
    expect(await openingError(join(path, 'in-the-way', 'vendors.db'))).toMatchObject({ code: 'database_unusable' });
  });

  it('F11 is of a newer version', async () => {
    const path = newPath();
    await writeMirror(path, clock, {});
    otherConnection(path).exec(
      "INSERT INTO migrations VALUES (9999, '9999_future.sql', 'x', '2030-01-01 00:00:00.000', '7.1.0')",
    );
    expect(await openingError(path)).toMatchObject({
      code: 'database_newer',
      exit: 74,
      message: expect.stringMatching(/ 9999_future\.sql, .* It was written by vendor-mirror 7\.1\.0\.$/) as string,
    });
    expect(() => SqliteDatabase.openToRead(mirrorOptions({ path, migrations, clock, random: systemRandom }))).toThrow(
      'which this version does not know',
    );
  });

  it('F10 has a migration that differs from the applied one', async () => {
    const path = newPath();
    await writeMirror(path, clock, {});
    otherConnection(path).exec("UPDATE migrations SET checksum = 'another'");
    expect(await openingError(path)).toMatchObject({ code: 'migration_failed', exit: 74 });
  });

  it('F7 is damaged, which is reported and not a crash', async () => {
    const path = newPath();
    await writeMirror(path, clock, { vendors: Array.from({ length: 400 }, (_, index) => vendor(index + 1)) });
    const sound = readFileSync(path);
    for (let seed = 1; seed <= 200; seed++) {
      const throws = seededRandom(seed);
      const damaged = Buffer.from(sound);
      for (let flips = 0; flips < 200; flips++) damaged[throws.below(damaged.length)] = throws.below(256);
      writeFileSync(path, damaged);
      const said = await use(path);
      expect(
        ['sound', 'database_corrupt', 'database_unusable', 'migration_failed', 'database_newer'],
        `seed ${seed}: ${said}`,
      ).toContain(said);
    }
  });
});

/** Opens a file, reads and writes all of it, and tells how that went. */
async function use(path: string): Promise<string> {
  let database: SqliteDatabase | undefined;
  try {
    database = await SqliteDatabase.open(mirrorOptions({ path, migrations, clock, random: systemRandom }));
    const { sqlite } = database;
    await database.read(() => sqlite.prepare('SELECT * FROM vendors').all());
    await database.write(() => sqlite.prepare('UPDATE vendors SET city = vendorid').run());
    return 'sound';
  } catch (error) {
    return String((error as { code?: unknown }).code);
  } finally {
    await database?.close().catch(() => undefined);
  }
}

describe('migrations', () => {
  /** A folder of migrations to play with. */
  function folder(): string {
    const copy = join(temporaryFolder(), 'migrations');
    cpSync(migrations, copy, { recursive: true });
    return copy;
  }

  it('F10 leave nothing behind if they fail, and stop the start', async () => {
    const path = newPath();
    const withMore = folder();
    writeFileSync(
      join(withMore, 'mirror/9999_bad.sql'),
      'CREATE TABLE half (id INTEGER); INSERT INTO nowhere VALUES (1);',
    );
    expect(await openingError(path, withMore)).toMatchObject({
      code: 'migration_failed',
      exit: 74,
      message: '9999_bad.sql failed: no such table: nowhere',
    });
    expect(schemaNames(path)).toEqual([]);
    await writeMirror(path, clock, { vendors: [vendor(7)] });
    const before = schemaNames(path);
    expect(await openingError(path, withMore)).toMatchObject({ code: 'migration_failed' });
    expect(schemaNames(path)).toEqual(before);
    expect(otherConnection(path).prepare('SELECT vendorid FROM vendors').pluck().all()).toEqual([7]);
  });

  it('F10 update an older file, and keep its content', async () => {
    const path = newPath();
    await writeMirror(path, clock, { vendors: [vendor(7)] });
    const withMore = folder();
    writeFileSync(join(withMore, 'mirror/9999_more.sql'), 'CREATE TABLE more (id INTEGER);');
    expect(() =>
      SqliteDatabase.openToRead(mirrorOptions({ path, migrations: withMore, clock, random: systemRandom })),
    ).toThrow('was written by an older version of vendor-mirror.');
    const database = await openDatabase(path, withMore);
    expect(schemaNames(path)).toContain('more');
    expect(database.sqlite.prepare('SELECT vendorid FROM vendors').pluck().all()).toEqual([7]);
    expect(database.sqlite.prepare('SELECT number FROM migrations ORDER BY 1').pluck().all()).toEqual(
      readMigrations(join(withMore, 'mirror')).map(({ number }) => number),
    );
  });
});
