/** Migrations: numbered `.sql` files, each run in one transaction together with its record and checksum. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { timestamp } from '../../domain/clock.ts';
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import type { Sqlite } from './driver.ts';
import { freeBytes } from './file-systems.ts';
import { plainStatement, type None } from './plain-statement.ts';
import { isBusy } from './sqlite-errors.ts';

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
  /** A query for the free `bytes` that the migration needs beside the file, from a comment in it; undefined where it needs few. */
  readonly space: string | undefined;
  /** The version of the program that contains it; null where unknown. */
  readonly program: string | null;
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

/** The migrations of a folder, in order. */
export function readMigrations(folder: string): Migration[] {
  const program = versionAround(folder);
  return readdirSync(folder)
    .filter((name) => /^\d{4}_.+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const sql = readFileSync(join(folder, name), 'utf8');
      const checksum = createHash('sha256').update(sql).digest('hex');
      return { number: Number(name.slice(0, 4)), name, sql, checksum, space: spaceIn(sql), program };
    });
}

/** The version in the package that the folder belongs to, which is `migrations/…` of it. */
function versionAround(folder: string): string | null {
  const manifest = join(folder, '../../package.json');
  return existsSync(manifest) ? (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version : null;
}

function spaceIn(sql: string): string | undefined {
  const line = sql.split('\n').find((text) => text.startsWith(spaceLine));
  return line?.slice(spaceLine.length);
}

/** Whether `migrate` would change the file. @throws MirrorError as `migrate` for a file that it must not change. */
export function isBehind(sqlite: Sqlite, migrations: readonly Migration[]): boolean {
  return pending(sqlite, migrations).length > 0;
}

/**
 * Migrates the file, all or nothing: a failed or killed migration leaves nothing behind.
 * @throws MirrorError `database_newer`, `migration_failed`, `database_unusable` for a database of another program, `disk_full` where a
 * migration needs more space than is free; SqliteError where another process holds the lock.
 */
export function migrate(
  sqlite: Sqlite,
  migrations: readonly Migration[],
  now: number,
  onMigration: OnMigration = () => undefined,
): void {
  sqlite
    .transaction(() => {
      const due = pending(sqlite, migrations);
      if (due.length === 0) return;
      sqlite.exec(
        'CREATE TABLE IF NOT EXISTS migrations (number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at TIMESTAMP NOT NULL)',
      );
      for (const migration of due) apply(sqlite, migration, now, onMigration);
      noteProgram(sqlite, due);
      const newest = due.at(-1)?.number ?? 0;
      sqlite.pragma(`user_version = ${newest}`);
    })
    .immediate();
}

/** Records which version applied each, once the table has a column for it. */
function noteProgram(sqlite: Sqlite, applied: readonly Migration[]): void {
  if (!hasProgram(sqlite)) return;
  const note = plainStatement<Pick<Migration, 'number' | 'program'>>(
    sqlite,
    'UPDATE migrations SET applied_by = :program WHERE number = :number',
  );
  for (const { number, program } of applied) note.run({ number, program });
}

function hasProgram(sqlite: Sqlite): boolean {
  return columnsOf(sqlite).includes('applied_by');
}

function apply(sqlite: Sqlite, migration: Migration, now: number, onMigration: OnMigration): void {
  assertSpace(sqlite, migration);
  try {
    reportProgress(sqlite, migration, onMigration);
    sqlite.exec(migration.sql);
    plainStatement<Applied & { at: string }>(
      sqlite,
      'INSERT INTO migrations (number, name, checksum, applied_at) VALUES (:number, :name, :checksum, :at)',
    ).run({ ...migration, at: timestamp(now) });
  } catch (error) {
    if (isBusy(error)) throw error;
    throw new MirrorError('migration_failed', `${migration.name} failed: ${asMirrorError(error).message}`, {
      cause: error,
    });
  }
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
  if (migration.space === undefined || sqlite.memory) return;
  const { bytes: needed } = plainStatement<None, { bytes: number }>(sqlite, migration.space).get({}) ?? { bytes: 0 };
  const free = freeBytes(dirname(sqlite.name));
  if (free < needed)
    throw new MirrorError(
      'disk_full',
      `To migrate ${sqlite.name} (${migration.name}), ${megabytes(needed)} MB of free space are needed beside it; only ${megabytes(free)} MB are free.`,
    );
}

const megabytes = (bytes: number): number => Math.ceil(bytes / 1024 ** 2);

function pending(sqlite: Sqlite, migrations: readonly Migration[]): Migration[] {
  const applied = appliedMigrations(sqlite);
  for (const { number, checksum, name } of applied) {
    const known = migrations.find((migration) => migration.number === number);
    if (!known) throw new MirrorError('database_newer', newerText(sqlite, name));
    if (known.name !== name) throw ofAnotherProgram(sqlite, `migration ${name}`);
    if (known.checksum !== checksum)
      throw new MirrorError('migration_failed', `${sqlite.name}: migration ${name} is not the one that was applied.`);
  }
  return migrations.filter(({ number }) => !applied.some((done) => done.number === number));
}

/** Names the newest version that wrote the file, because that is the one to install. */
function newerText(sqlite: Sqlite, name: string): string {
  const message = `${sqlite.name} holds migration ${name}, which this version does not know.`;
  if (!hasProgram(sqlite)) return message;
  const last = plainStatement<None, { applied_by: string | null }>(
    sqlite,
    'SELECT applied_by FROM migrations ORDER BY number DESC LIMIT 1',
  ).get({});
  return last?.applied_by == null ? message : `${message} It was written by vendor-mirror ${last.applied_by}.`;
}

type Applied = Pick<Migration, 'number' | 'name' | 'checksum'>;

function appliedMigrations(sqlite: Sqlite): Applied[] {
  const schema = plainStatement<None, { name: string }>(sqlite, "SELECT name FROM sqlite_schema WHERE type = 'table'");
  const tables = schema.all({}).map(({ name }) => name);
  if (isOurs(sqlite))
    return plainStatement<None, Applied>(sqlite, 'SELECT number, name, checksum FROM migrations ORDER BY number').all(
      {},
    );
  if (tables.length > 0) throw ofAnotherProgram(sqlite, tables.slice(0, 3).join(', '));
  return [];
}

/** Other programs may have a table of that name too. */
function isOurs(sqlite: Sqlite): boolean {
  const names = columnsOf(sqlite);
  return ['number', 'name', 'checksum'].every((name) => names.includes(name));
}

function columnsOf(sqlite: Sqlite): string[] {
  const columns = plainStatement<None, { name: string }>(sqlite, "SELECT name FROM pragma_table_info('migrations')");
  return columns.all({}).map(({ name }) => name);
}

function ofAnotherProgram(sqlite: Sqlite, what: string): MirrorError {
  return new MirrorError('database_unusable', `${sqlite.name} is a database of another program (it holds ${what}).`);
}
