/** Mirror files for tests: made by the migrations, filled row by row, opened by this program and by others. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Driver } from '../../src/store/sqlite/driver-package.ts';
import type { Sqlite } from '../../src/store/sqlite/driver.ts';
import { onTestFinished } from 'vitest';
import { systemRandom, type Clock } from '../../src/domain/clock.ts';
import { SqliteDatabase, type DatabaseOptions } from '../../src/store/sqlite/database.ts';
import { mirrorMode, mirrorOptions } from '../../src/store/reader.ts';
import type { MirrorFile } from '../../src/store/mirror.ts';
import { memory } from './memory.ts';
import { virtualClock } from './virtual-clock.ts';

export const packageRoot = fileURLToPath(new URL('../..', import.meta.url));
export const migrations = join(packageRoot, 'migrations');

/** How the names of temporary folders begin. */
export const folderPrefix = 'vendor-mirror-';

/** A folder that is removed with the test. No test depends on a disk sync: what a killed process wrote stays in the system's cache. */
export function temporaryFolder(within = memory): string {
  const folder = mkdtempSync(join(within, folderPrefix));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export type Row = Readonly<Record<string, string | number | bigint | null>>;
/** Rows by table. */
export type Rows = Readonly<Record<string, readonly Row[]>>;

/** The table behind a view: there its rows are written. */
const behind: Readonly<Record<string, string>> = { vendor_versions: '_vendor_versions' };

/** The clock of files that are opened by `openDatabase`. */
export const fileClock = virtualClock({ auto: true });

/** Where no file is yet. */
export function newPath(): string {
  return join(temporaryFolder(), 'vendors.db');
}

function optionsOf(path: string, clock: Clock, from = migrations): DatabaseOptions {
  return mirrorOptions({ path, migrations: from, clock, random: systemRandom });
}

let migrated: Promise<Buffer> | undefined;

/** The bytes of a mirror that was just made. */
async function migratedFile(): Promise<Buffer> {
  const folder = mkdtempSync(join(memory, folderPrefix));
  try {
    const path = join(folder, 'vendors.db');
    await (await SqliteDatabase.open(optionsOf(path, fileClock))).close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Puts a new mirror where no file is. The migrations take longer than most tests: they run once, and their file is copied. */
export async function placeMirror(path: string): Promise<void> {
  if (existsSync(path)) return;
  writeFileSync(path, await (migrated ??= migratedFile()), { mode: mirrorMode });
}

/** Opens a mirror; closed with the test. Where none is, it is a new one, by the migrations in a folder. */
export async function openDatabase(path: string, from = migrations): Promise<SqliteDatabase> {
  if (from === migrations) await placeMirror(path);
  return openAsProgram(path, from);
}

async function openAsProgram(path: string, from: string): Promise<SqliteDatabase> {
  const database = await SqliteDatabase.open(optionsOf(path, fileClock, from));
  onTestFinished(() => database.close());
  return database;
}

/** Why a mirror cannot be opened, or 'opened'. */
export async function openingError(path: string, from = migrations): Promise<unknown> {
  return openAsProgram(path, from).then(
    () => 'opened',
    (error: unknown) => error,
  );
}

/** A connection of another program, closed with the test. */
export function otherConnection(path: string): Sqlite {
  const other = new Driver(path, { timeout: 0 });
  onTestFinished(() => void other.close());
  return other;
}

/** Names of all that a file holds. */
export function schemaNames(path: string): unknown[] {
  return otherConnection(path).prepare('SELECT name FROM sqlite_schema').pluck().all();
}

/** Makes a mirror at `path`, or adds to the one that is there. */
export async function writeMirror(path: string, clock: Clock, rows: Rows): Promise<void> {
  await placeMirror(path);
  const database = await SqliteDatabase.open(optionsOf(path, clock));
  await database.write(() => {
    for (const [table, list] of Object.entries(rows))
      for (const row of list) {
        const names = Object.keys(row);
        database.sqlite
          .prepare(
            `INSERT INTO ${behind[table] ?? table} (${names.map((name) => `"${name}"`).join()}) VALUES (${names.map(() => '?').join()})`,
          )
          .run(Object.values(row));
      }
  });
  await database.close();
}

/** Opens what `writeMirror` made, to read it; closed with the test. */
export function readMirror(path: string, clock: Clock): SqliteDatabase {
  const database = SqliteDatabase.openToRead(optionsOf(path, clock));
  if (!database) throw new Error(`There is no mirror at ${path}.`);
  onTestFinished(() => database.close());
  return database;
}

/** Asks any SQLite file, as a reporting tool would. */
export function ask<Row = Record<string, unknown>>(path: string, sql: string, ...values: unknown[]): Row[] {
  const reader = new Driver(path, { readonly: true, fileMustExist: true });
  try {
    return reader.prepare<unknown[], Row>(sql).all(...values);
  } finally {
    reader.close();
  }
}

/** What SQLite thinks of a file, by a connection that may mend what a dead writer left; `ok` where there is none. */
export function integrityOf(path: string): unknown {
  if (!existsSync(path)) return 'ok';
  const sqlite = new Driver(path);
  try {
    return sqlite.pragma('integrity_check', { simple: true });
  } finally {
    sqlite.close();
  }
}

/** Asks one file again and again through a connection that stays open: `ask` reads the whole schema each time. */
export function asking(path: string): { ask: <Row>(sql: string, ...values: unknown[]) => Row[]; close: () => void } {
  let kept: { readonly reader: Sqlite; readonly inode: number } | undefined;
  const close = (): void => {
    kept?.reader.close();
    kept = undefined;
  };
  return {
    close,
    ask<Row>(sql: string, ...values: unknown[]) {
      const { ino: inode } = statSync(path);
      if (kept?.inode !== inode) close();
      kept ??= { reader: new Driver(path, { readonly: true, fileMustExist: true }), inode };
      return kept.reader.prepare<unknown[], Row>(sql).all(...values);
    },
  };
}

/** A row of `vendors`; whatever is not told is as usual. */
export function vendor(vendorid: number, told: Row = {}): Row {
  return {
    account_id: '6BApk',
    vendorid,
    vendor_name: `Vendor ${vendorid}`,
    vis_state: 0,
    presence: 'present',
    first_seen_at: '2026-11-20 09:00:00.000',
    changed_at: '2026-11-20 09:00:00.000',
    source: 'pull',
    read_seq: 1,
    held_since_ms: 0,
    raw: '{}',
    ...told,
  };
}

/** A row of `vendor_versions`. */
export function version(vendorid: number, changedFields: readonly string[], told: Row = {}): Row {
  return {
    account_id: '6BApk',
    vendorid,
    valid_from: '2026-11-20 09:00:00.000',
    vis_state: 0,
    vis_state_source: 'reported',
    presence: 'present',
    changed_fields: JSON.stringify(changedFields),
    source: 'pull',
    raw: '{}',
    ...told,
  };
}

/** A row of `runs`. */
export function run(id: number, told: Row = {}): Row {
  const { safe_as_of = '2026-11-20 11:54:55.000' } = told;
  return {
    id,
    account_id: '6BApk',
    kind: 'pull',
    trigger: 'command',
    started_at: '2026-11-20 11:55:00.000',
    finished_at: '2026-11-20 11:55:12.000',
    outcome: 'complete',
    safe_as_of,
    listed_as_of: safe_as_of,
    process: 'one that ended',
    began_seq: 0,
    ...told,
  };
}

/** A row of `vendor_balances`. */
export function balance(vendorid: number, kind: 'outstanding' | 'overdue', amount: string, code: string): Row {
  return { account_id: '6BApk', vendorid, kind, amount, amount_minor: Math.round(Number(amount) * 100), code };
}

/** A row of `_balance_spans` that is open, with an outstanding amount in minor units of a currency with two digits. */
export function span(vendorid: number, code: string, outstanding: number | bigint | null, told: Row = {}): Row {
  const number = outstanding === null ? null : Number(outstanding) / 100;
  return {
    account_id: '6BApk',
    vendorid,
    code,
    valid_from: '2026-11-20 09:00:00.000',
    outstanding: String(number ?? 'n/a'),
    outstanding_minor: outstanding,
    outstanding_units: outstanding,
    outstanding_amount: number,
    overdue_units: 0,
    overdue_amount: 0,
    minor_digits: 2,
    state: 'active',
    ...told,
  };
}

/** A process of that name, without a lock; the others are alive as told. */
export function namedProcess(
  name = 'this process',
  isAlive: (name: string) => boolean = () => true,
): MirrorFile['lockProcess'] {
  return () => ({ name, isAlive, release: () => undefined });
}
