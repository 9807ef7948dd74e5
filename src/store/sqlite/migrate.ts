/**
 * Migrations: numbered `.sql` files, each run in one transaction together with its record and checksum.
 *
 * Key columns come first in tables without rowid, because `integrity_check` of SQLite 3.40 misreads them otherwise. Views use no SQL newer
 * than 2022, and a check of a column that may be null says so (`x IS NULL OR json_valid(x)`), because `json_valid(NULL)` is 0 there.
 */
import { sql } from 'kysely';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { timestamp } from '../../domain/clock.ts';
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import { sizeInWords } from '../../domain/size.ts';
import { connectMemory, type Sqlite } from './driver.ts';
import { freeBytes } from './file-systems.ts';
import { isBusy } from './sqlite-errors.ts';
import { type None } from '../sql/statement.ts';
import { fileStatement } from './connection.ts';

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
  /** A query for the free `bytes` that the migration needs beside the file, from a comment in it; undefined where it needs few. */
  readonly space: string | undefined;
  /**
   * From a comment in it: the digest of earlier steps with the same result, each of which a file may have recorded instead (`digestOf`). So steps
   * that were never published become one migration, and files that took all of them continue. Undefined where it replaces none.
   */
  readonly replaces: string | undefined;
  /** Leads files that took some of these steps to the same result: from the file of the same name in `unreleased/`. */
  readonly catchUp: { readonly replaces: string | undefined; readonly sql: string } | undefined;
  /** The version of the program that contains it; null where unknown. */
  readonly program: string | null;
}

/** What a file needs: migrations to apply, and one of which it holds the result by the steps that it replaces. */
interface Plan {
  readonly due: readonly Migration[];
  readonly adopted: Migration | undefined;
  /** What leads the file to the result of `adopted`; undefined where it has it. */
  readonly catchUp: string | undefined;
  readonly steps: readonly Applied[];
}

/** Progress of a migration that rebuilds a large table. */
export interface MigrationProgress {
  readonly name: string;
  /** A whole number from 0 to 100. */
  readonly percent: number;
}

/** Called for each percent. While a migration runs, the process does nothing else. */
export type OnMigration = (progress: MigrationProgress) => void;

/** Smaller tables are rebuilt too quickly to report progress. */
const rowsWorthReporting = 20_000;

/** Starts the comment with the space that a migration needs. */
const spaceLine = '-- space: ';

/** Starts the comment with the digest of the steps that a migration replaces. */
const replacesLine = '-- replaces: ';

/** The migrations of a folder, in order. */
export function readMigrations(folder: string): Migration[] {
  const program = versionAround(folder);
  return readdirSync(folder)
    .filter((name) => /^\d{4}_.+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const sql = readFileSync(join(folder, name), 'utf8');
      const checksum = createHash('sha256').update(sql).digest('hex');
      const [space, replaces] = [commentIn(sql, spaceLine), commentIn(sql, replacesLine)];
      const catchUp = readCatchUp(join(folder, 'unreleased', name));
      return { number: Number(name.slice(0, 4)), name, sql, checksum, space, replaces, catchUp, program };
    });
}

function readCatchUp(path: string): Migration['catchUp'] {
  if (!existsSync(path)) return undefined;
  const sql = readFileSync(path, 'utf8');
  return { replaces: commentIn(sql, replacesLine), sql };
}

/** The version in the package that the folder belongs to, which is `migrations/…` of it. */
function versionAround(folder: string): string | null {
  const manifest = join(folder, '../../package.json');
  return existsSync(manifest) ? (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version : null;
}

function commentIn(sql: string, start: string): string | undefined {
  const line = sql.split('\n').find((text) => text.startsWith(start));
  return line?.slice(start.length);
}

/** Whether `migrate` would change what the file holds. @throws MirrorError as `migrate` for a file that it must not change. */
export function isBehind(sqlite: Sqlite, migrations: readonly Migration[]): boolean {
  const { due, catchUp } = planFor(sqlite, migrations);
  return due.length > 0 || catchUp !== undefined;
}

/** The migrations of which the file holds the result. @throws MirrorError as `migrate` for a file that it must not change. */
function heldBy(sqlite: Sqlite, migrations: readonly Migration[]): Migration[] {
  const { due } = planFor(sqlite, migrations);
  return migrations.filter((migration) => !due.includes(migration));
}

/**
 * Migrates the file, all or nothing: a failed or killed migration leaves nothing behind.
 * @throws MirrorError `database_newer`, `migration_failed`, `database_unusable` for a database of another program or of a version that was never
 * published, `disk_full` where a migration needs more space than is free; SqliteError where another process holds the lock.
 */
export function migrate(
  sqlite: Sqlite,
  migrations: readonly Migration[],
  now: number,
  onMigration: OnMigration = () => undefined,
): void {
  sqlite
    .transaction(() => {
      const { due, adopted, catchUp, steps } = planFor(sqlite, migrations);
      if (adopted && catchUp !== undefined) run(sqlite, adopted.name, catchUp);
      if (adopted) adopt(sqlite, adopted, steps, now);
      if (due.length === 0 && !adopted) return;
      sqlite.exec(
        'CREATE TABLE IF NOT EXISTS migrations (number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at TIMESTAMP NOT NULL)',
      );
      for (const migration of due) apply(sqlite, migration, now, onMigration);
      noteProgram(sqlite, adopted ? [adopted, ...due] : due);
      const newest = migrations.at(-1)?.number ?? 0;
      sqlite.pragma(`user_version = ${newest}`);
    })
    .immediate();
}

/** Records which version applied each, once the table has a column for it. */
function noteProgram(sqlite: Sqlite, applied: readonly Migration[]): void {
  if (!hasProgram(sqlite)) return;
  const note = fileStatement(sqlite)<Pick<Migration, 'number' | 'program'>>`
    UPDATE migrations SET applied_by = ${'program'} WHERE number = ${'number'}`;
  for (const { number, program } of applied) note.run({ number, program });
}

function hasProgram(sqlite: Sqlite): boolean {
  return columnsOf(sqlite).includes('applied_by');
}

function apply(sqlite: Sqlite, migration: Migration, now: number, onMigration: OnMigration): void {
  assertSpace(sqlite, migration);
  reportProgress(sqlite, migration, onMigration);
  run(sqlite, migration.name, migration.sql);
  record(sqlite, migration, now);
}

function run(sqlite: Sqlite, name: string, script: string): void {
  try {
    // A migration may change a check in `sqlite_schema`, which the driver forbids otherwise.
    sqlite.unsafeMode(true);
    sqlite.exec(script);
  } catch (error) {
    if (isBusy(error)) throw error;
    throw new MirrorError('migration_failed', `${name} failed: ${asMirrorError(error).message}`, { cause: error });
  } finally {
    sqlite.unsafeMode(false);
  }
}

function record(sqlite: Sqlite, migration: Migration, now: number): void {
  fileStatement(sqlite)<Applied & { at: string }>`
    INSERT INTO migrations (number, name, checksum, applied_at)
    VALUES (${'number'}, ${'name'}, ${'checksum'}, ${'at'})`.run({ ...migration, at: timestamp(now) });
}

/** Records the migration instead of the steps that it replaces. */
function adopt(sqlite: Sqlite, migration: Migration, steps: readonly Applied[], now: number): void {
  const remove = fileStatement(sqlite)<Pick<Applied, 'number'>>`DELETE FROM migrations WHERE number = ${'number'}`;
  for (const { number } of steps) remove.run({ number });
  record(sqlite, migration, now);
}

/** Defines the SQL function `progress(done, total)`, which is always true and reports progress. */
function reportProgress(sqlite: Sqlite, { name }: Migration, onMigration: OnMigration): void {
  let last = -1;
  sqlite.function('progress', (done: number, total: number) => {
    const percent = Math.floor((100 * done) / total);
    if (total >= rowsWorthReporting && percent > last) onMigration({ name, percent: (last = percent) });
    return 1;
  });
}

function assertSpace(sqlite: Sqlite, migration: Migration): void {
  const { space } = migration;
  if (space === undefined || sqlite.memory) return;
  const needed = fileStatement<None, { bytes: number }>(sqlite, () => sql.raw(space)).get({})?.bytes ?? 0;
  const free = freeBytes(dirname(sqlite.name));
  if (free < needed)
    throw new MirrorError(
      'disk_full',
      `To migrate ${sqlite.name} (${migration.name}), ${sizeInWords(needed)} of free space are needed beside it; only ${sizeInWords(free)} are free.`,
    );
}

function planFor(sqlite: Sqlite, migrations: readonly Migration[]): Plan {
  const applied = appliedMigrations(sqlite);
  const known = new Map(migrations.map((migration) => [migration.number, migration]));
  for (const { number, checksum, name } of applied) {
    const migration = known.get(number);
    if (!migration) continue;
    if (migration.name !== name) throw ofAnotherProgram(sqlite, `migration ${name}`);
    if (migration.checksum !== checksum)
      throw new MirrorError('migration_failed', `${sqlite.name}: migration ${name} is not the one that was applied.`);
  }
  const steps = applied.filter(({ number }) => !known.has(number));
  const digest = digestOf(steps);
  const adopted = migrations.find(
    (migration) => migration.replaces === digest || migration.catchUp?.replaces === digest,
  );
  const catchUp = adopted?.replaces === digest ? undefined : adopted?.catchUp?.sql;
  const last = steps.at(-1);
  if (last && !adopted) throw unknownStep(sqlite, last, migrations);
  const done = new Set(applied.map(({ number }) => number));
  const due = migrations.filter((migration) => migration !== adopted && !done.has(migration.number));
  return { due, adopted, catchUp, steps };
}

function digestOf(steps: readonly Applied[]): string {
  const lines = steps.map(({ name, checksum }) => `${name} ${checksum}\n`);
  return createHash('sha256').update(lines.join('')).digest('hex');
}

/** A step after all migrations is of a newer version; one between them, of a version that was never published. */
function unknownStep(sqlite: Sqlite, { number, name }: Applied, migrations: readonly Migration[]): MirrorError {
  const newest = migrations.at(-1)?.number ?? 0;
  if (number > newest) return new MirrorError('database_newer', newerText(sqlite, name));
  return new MirrorError(
    'database_unusable',
    `${sqlite.name} was left between two versions by one that was never published (it holds migration ${name}).`,
    { remedy: 'Move it away, and run `vendor-mirror sync`: it begins a new file.' },
  );
}

/** Names the newest version that wrote the file, because that is the one to install. */
function newerText(sqlite: Sqlite, name: string): string {
  const message = `${sqlite.name} holds migration ${name}, which this version does not know.`;
  if (!hasProgram(sqlite)) return message;
  const last = fileStatement(sqlite)<None, { applied_by: string | null }>`
    SELECT applied_by FROM migrations ORDER BY number DESC LIMIT 1`.get({});
  return last?.applied_by == null ? message : `${message} It was written by vendor-mirror ${last.applied_by}.`;
}

type Applied = Pick<Migration, 'number' | 'name' | 'checksum'>;

function appliedMigrations(sqlite: Sqlite): Applied[] {
  const schema = fileStatement(sqlite)<None, { name: string }>`SELECT name FROM sqlite_schema WHERE type = 'table'`;
  const tables = schema.all({}).map(({ name }) => name);
  if (isOurs(sqlite))
    return fileStatement(sqlite)<None, Applied>`SELECT number, name, checksum FROM migrations ORDER BY number`.all({});
  if (tables.length > 0) throw ofAnotherProgram(sqlite, tables.slice(0, 3).join(', '));
  return [];
}

/** Other programs may have a table of that name too. */
function isOurs(sqlite: Sqlite): boolean {
  const names = columnsOf(sqlite);
  return ['number', 'name', 'checksum'].every((name) => names.includes(name));
}

function columnsOf(sqlite: Sqlite): string[] {
  const columns = fileStatement(sqlite)<None, { name: string }>`SELECT name FROM pragma_table_info('migrations')`;
  return columns.all({}).map(({ name }) => name);
}

function ofAnotherProgram(sqlite: Sqlite, what: string): MirrorError {
  return new MirrorError('database_unusable', `${sqlite.name} is a database of another program (it holds ${what}).`);
}

/**
 * Checks that a file still has the tables, indexes, triggers and views of its migrations: SQLite's own check does not compare their SQL.
 */

interface Entry {
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
}

/** What is missing or changed, as text; additions by others do not count. @throws SqliteError, MirrorError as `heldBy`. */
export function schemaFaults(sqlite: Sqlite, migrations: readonly Migration[]): string[] {
  const there = new Map(entriesOf(sqlite).map((entry) => [keyOf(entry), entry.sql]));
  if (!there.has('table migrations')) return ['table migrations is missing'];
  // What a file had that took some of the steps that were never published is not known any more.
  if (planFor(sqlite, migrations).catchUp !== undefined) return [];
  const held = heldBy(sqlite, migrations);
  const fresh = connectMemory();
  try {
    migrate(fresh, held, 0);
    return entriesOf(fresh)
      .filter((entry) => there.get(keyOf(entry)) !== entry.sql)
      .map((entry) => `${keyOf(entry)} is missing or was changed`);
  } finally {
    fresh.close();
  }
}

const keyOf = ({ type, name }: Entry): string => `${type} ${name}`;

function entriesOf(sqlite: Sqlite): Entry[] {
  return fileStatement(sqlite)<None, Entry>`SELECT type, name, sql FROM sqlite_schema`.all({});
}
