/**
 * Files of version 0.1.0, and files that took the steps towards 0.2.0 one by one before these became one migration: both have the schema of a new
 * file. And how other programs recognise a mirror.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { systemClock, systemRandom } from '../../../../src/domain/clock.ts';
import { exportToFile } from '../../../../src/store/export/write-export.ts';
import { mirrorMigrations, mirrorOptions } from '../../../../src/store/reader.ts';
import { hasDamagedSchema } from '../../../../src/store/files/damage.ts';
import { openMirror } from '../../../../src/store/mirror.ts';
import { openSecrets } from '../../../../src/store/secrets/secrets.ts';
import { SqliteDatabase } from '../../../../src/store/sqlite/database.ts';
import { readMigrations } from '../../../../src/store/sqlite/migrate.ts';
import { compiled } from '../../../support/source/compiled.ts';
import {
  ask,
  migrations,
  namedProcess,
  openDatabase,
  openingError,
  otherConnection,
  packageRoot,
  temporaryFolder,
} from '../../../support/mirror-file.ts';
import { constantRandom } from '../../../support/random.ts';

/** Made by the daemon of 0.1.0, by that of the last commit before the steps became one, and by an earlier one that had three steps fewer; stopped by a signal. */
const fixtures = { '0.1.0': 'versions/0.1.0/closed', steps: 'unreleased/0.2.0', fewer: 'unreleased/0.2.0-35' };

const mirrorId = (folder: string): string =>
  ask<{ id: string }>(join(folder, 'vendors.db'), 'SELECT mirror_id AS id FROM mirror_identity')[0]!.id;

/** A folder with both files of a fixture; without one, an empty folder. */
function folderWith(fixture?: keyof typeof fixtures): string {
  const folder = temporaryFolder();
  for (const name of fixture ? ['vendors.db', 'secrets.db'] : []) {
    const bytes = readFileSync(join(packageRoot, 'test/fixtures', fixtures[fixture!], `${name}.gz`));
    writeFileSync(join(folder, name), gunzipSync(bytes), { mode: 0o600 });
  }
  return folder;
}

/** Opens both files as a command does, which migrates them. */
async function openBoth(folder: string): Promise<void> {
  const dependencies = { migrations, clock: systemClock, random: systemRandom };
  const path = join(folder, 'vendors.db');
  const mirror = await openMirror({ ...dependencies, path, lockProcess: namedProcess() });
  try {
    const secrets = await openSecrets({ ...dependencies, path: join(folder, 'secrets.db') });
    await secrets.place.claim({ mirrorId: (await mirror.identity()).mirrorId, path });
    await secrets.close();
  } finally {
    await mirror.close();
  }
}

function schemaOf(path: string): unknown {
  return ask(path, 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name');
}

/** Every row of every table, but for what opening the files writes. */
function rowsOf(path: string): Record<string, unknown[]> {
  const tables = ask<{ name: string }>(path, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  const kept = tables.filter(({ name }) => !['migrations', 'owner', 'sqlite_sequence'].includes(name));
  return Object.fromEntries(kept.map(({ name }) => [name, ask(path, `SELECT * FROM "${name}"`)]));
}

interface Span extends Record<string, unknown> {
  readonly currency: string;
  readonly outstanding_text: string | null;
  readonly overdue_text: string | null;
  readonly valid_from: string;
  readonly valid_to: string | null;
  readonly state: string | null;
}

/** Spans of balances as 0.1.0 told them: since then they end where the state of their vendor changes, too. */
function acrossStates(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  const whatIsOwed = (span: Span): object => ({ ...span, valid_from: '', valid_to: '', state: '' });
  for (const span of spans) {
    const last = joined.at(-1);
    const goesOn = last?.valid_to === span.valid_from && last.state !== span.state;
    if (last && goesOn && isDeepStrictEqual(whatIsOwed(last), whatIsOwed(span)))
      joined.splice(-1, 1, { ...span, valid_from: last.valid_from });
    else joined.push(span);
  }
  return joined;
}

/** Under the names that 0.1.0 gave it. */
function asBefore(span: Span): object {
  const { outstanding_text: outstanding, overdue_text: overdue, outstanding_minor, overdue_minor } = span;
  return {
    ...{ ...span, code: span.currency, outstanding, overdue },
    outstanding_minor: outstanding === null ? null : outstanding_minor,
    overdue_minor: overdue === null ? null : overdue_minor,
  };
}

describe('a file', () => {
  it.each(['vendors.db', 'secrets.db'])(
    '%s has one schema and one data dictionary, whether it is new, of 0.1.0, took each step, or three fewer',
    async (name) => {
      const folders = [folderWith(), folderWith('0.1.0'), folderWith('steps'), folderWith('fewer')];
      for (const folder of folders) await openBoth(folder);
      const [fresh, ...others] = folders.map((folder) => join(folder, name));
      for (const other of others) {
        expect(schemaOf(other)).toEqual(schemaOf(fresh!));
        expect(ask(other, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
        for (const pragma of ['PRAGMA application_id', 'PRAGMA user_version', 'SELECT number, name FROM migrations'])
          expect(ask(other, pragma)).toEqual(ask(fresh!, pragma));
        if (name === 'vendors.db')
          expect(ask(other, 'SELECT * FROM data_dictionary')).toEqual(ask(fresh!, 'SELECT * FROM data_dictionary'));
      }
    },
  );

  it('F10 of 0.1.0 says what it said before: freshness, webhook health, moves between states, and the numbers of runs', async () => {
    const folder = folderWith('0.1.0');
    const path = join(folder, 'vendors.db');
    const views = ['freshness', 'webhook_health', 'vis_state_changes', 'balance_history'];
    const told = (): object[][] => views.map((view) => ask<object>(path, `SELECT * FROM ${view} ORDER BY 1, 2, 3, 4`));
    const before = told();
    for (const rows of before) expect(rows).not.toEqual([]);
    const [runs] = ask<{ seq: number }>(path, "SELECT seq FROM sqlite_sequence WHERE name = 'runs'");
    await openBoth(folder);
    const [freshness, webhookHealth, stateChanges, balances] = told();
    expect([freshness, webhookHealth, stateChanges, acrossStates(balances as Span[]).map(asBefore)]).toMatchObject(
      before,
    );
    expect(ask(path, 'SELECT run_id AS seq FROM _reading_counter')).toEqual([runs]);
    // 0.1.0 knew no lists that hide vendors.
    expect(ask(path, 'SELECT 1 FROM runs WHERE listed_as_of IS NOT safe_as_of')).toEqual([]);
  });

  it('F10 that took each step continues with every row, and is not called damaged', async () => {
    const folder = folderWith('steps');
    const paths = ['vendors.db', 'secrets.db'].map((name) => join(folder, name));
    const path = paths[0]!;
    const [before, id] = [paths.map(rowsOf), mirrorId(folder)];
    expect(before[0]!['vendors']).toHaveLength(6);
    expect(before[1]!['verifiers']).toHaveLength(1);
    const known = mirrorMigrations(migrations);
    expect(hasDamagedSchema(path, known)).toBe(false);

    await openBoth(folder);
    for (const [index, tables] of paths.map(rowsOf).entries()) {
      // What the file says of itself is said anew.
      const kept = Object.entries(before[index]!)
        .filter(([table]) => table !== 'data_dictionary' && table !== '_requests')
        .map(([table, rows]) => [table in tables ? table : `_${table}`, rows]);
      expect(tables).toMatchObject(Object.fromEntries(kept));
    }
    expect(ask(paths[1]!, 'SELECT mirror_id, mirror_path FROM owner')).toEqual([{ mirror_id: id, mirror_path: path }]);
    expect(hasDamagedSchema(path, known)).toBe(false);
    expect(ask(path, 'SELECT max(number) AS last FROM migrations')).toEqual([{ last: known.at(-1)!.number }]);
  });

  it('F10 that took three steps fewer is led to the same, and continues with every vendor, version and delivery', async () => {
    const folder = folderWith('fewer');
    const path = join(folder, 'vendors.db');
    const told = (): object[][] =>
      ['vendors', 'vendor_versions', 'deliveries', 'runs', 'freshness'].map((name) =>
        ask<object>(path, `SELECT * FROM ${name}`),
      );
    const before = told();
    for (const rows of before) expect(rows).not.toEqual([]);
    expect(hasDamagedSchema(path, mirrorMigrations(migrations))).toBe(false);
    const options = mirrorOptions({ path, migrations, clock: systemClock, random: systemRandom });
    expect(() => SqliteDatabase.openToRead(options)).toThrow('was written by an older version of vendor-mirror');
    await openBoth(folder);
    expect(told()).toMatchObject(before);
    expect(hasDamagedSchema(path, mirrorMigrations(migrations))).toBe(false);
  });

  it.each(['vendors.db', 'secrets.db'])(
    'F11 %s that took only some of the steps is refused with what to do',
    async (name) => {
      const folder = folderWith('steps');
      const path = join(folder, name);
      const other = otherConnection(path);
      other.exec('DELETE FROM migrations WHERE number = (SELECT max(number) FROM migrations)');
      other.close();
      const before = [schemaOf(path), rowsOf(path)];
      await expect(openBoth(folder)).rejects.toMatchObject({
        code: 'database_unusable',
        hint: 'Move it away, and run `vendor-mirror sync`: it begins a new file.',
      });
      if (name === 'vendors.db') expect(hasDamagedSchema(path, mirrorMigrations(migrations))).toBe(false);
      expect([schemaOf(path), rowsOf(path)]).toEqual(before);
    },
  );

  it('F11 of this version is refused by an older program, which names this version', async () => {
    const folder = folderWith();
    await openBoth(folder);
    const older = join(folder, 'older');
    mkdirSync(join(older, 'mirror'), { recursive: true });
    for (const { name, number } of readMigrations(join(migrations, 'mirror')))
      if (number <= 3) cpSync(join(migrations, 'mirror', name), join(older, 'mirror', name));
    const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
    expect(await openingError(join(folder, 'vendors.db'), older)).toMatchObject({
      code: 'database_newer',
      message: expect.stringContaining(`It was written by vendor-mirror ${version}.`) as string,
    });
  });
});

describe('a mirror', () => {
  it('is recognised by its application id in a copy too', async () => {
    const folder = temporaryFolder();
    const mirror = await openDatabase(join(folder, 'vendors.db'));
    const copy = join(folder, 'copy.db');
    const own = { database: join(folder, 'vendors.db'), secrets: join(folder, 'secrets.db'), readFrom: [] };
    await exportToFile(mirror, copy, { format: 'db' }, { random: constantRandom(), own, program: compiled.exports });
    expect(readdirSync(folder)).toContain('copy.db');
    expect(ask(copy, 'PRAGMA application_id')).toEqual([{ application_id: 0x564d4952 }]);
    expect(ask(copy, 'PRAGMA user_version')).toEqual([{ user_version: mirrorMigrations(migrations).at(-1)!.number }]);
  });
});
