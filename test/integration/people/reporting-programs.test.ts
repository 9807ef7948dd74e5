/** The file in the programs that people ask it with: every table and view, row by row, with the types of the data dictionary. */
import { DuckDBInstance, DuckDBTimestampValue, type DuckDBConnection, type DuckDBValue } from '@duckdb/node-api';
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/domain/clock.ts';
import { ask, readMirror, temporaryFolder } from '../../support/mirror-file.ts';
import { exportToFile } from '../../../src/store/export/write-export.ts';
import { account } from '../../support/names.ts';
import { isMissing } from '../../support/needed.ts';
import { compiled } from '../../support/source/compiled.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

type Rows = readonly Readonly<Record<string, unknown>>[];

const isThere = (command: string, ...argv: string[]): boolean => spawnSync(command, argv).status === 0;
const printed = (command: string, argv: readonly string[], input = ''): string =>
  execFileSync(command, argv, { encoding: 'utf8', input, maxBuffer: 2 ** 28 });

/** The first of `commands` that runs with these arguments. */
const firstOf = (commands: readonly string[], ...argv: string[]): string | undefined =>
  commands.find((command) => isThere(command, ...argv));

/** Debian's pandas belongs to Debian's own Python. */
const pythonWithPandas = firstOf(['python3', '/usr/bin/python3'], '-c', 'import pandas');
const nodeWithSqlite = firstOf([process.execPath, 'node-newer'], '--input-type=module', '-e', "import 'node:sqlite'");

/** Why a program cannot be asked here; undefined where it can. */
const missing = {
  shell: isThere('sqlite3', '--version') ? undefined : 'no sqlite3',
  python: isThere('python3', '-c', 'import sqlite3') ? undefined : 'no Python with sqlite3',
  pandas: pythonWithPandas === undefined ? 'no Python with pandas (python3-pandas)' : undefined,
  node: nodeWithSqlite === undefined ? 'no Node.js with node:sqlite (22 or newer, as node-newer)' : undefined,
  odbc:
    isThere('isql', '--version') && isThere('odbcinst', '-q', '-d', '-n', 'SQLite3')
      ? undefined
      : "no isql (unixodbc) with SQLite's driver (libsqliteodbc)",
} as const;

/** Rows by the names of tables and views: a program is started once for all of them. */
type RowsByName = Readonly<Record<string, Rows>>;

function byShell(database: string, { names }: Dictionary): RowsByName {
  return Object.fromEntries(
    names.map((name) => {
      const query = `SELECT * FROM "${name}"`;
      const rows = printed('sqlite3', ['-readonly', '-cmd', '.timeout 1000', '-json', database, query]);
      return [name, JSON.parse(rows || '[]') as Rows];
    }),
  );
}

/** Times are made by the declared types of columns. A text with a zone stays as it is. */
const python = `
import datetime, json, sqlite3, sys
sqlite3.register_converter('TIMESTAMP', lambda text: datetime.datetime.fromisoformat(text.decode()))
sqlite3.register_converter('BOOLEAN', lambda text: text != b'0')
connection = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True, timeout=5, detect_types=sqlite3.PARSE_DECLTYPES)
connection.row_factory = sqlite3.Row
read = lambda name: [dict(row) for row in connection.execute(f'select * from "{name}"')]
rows = {name: read(name) for name in sys.argv[2:]}
print(json.dumps(rows, default=lambda time: {'time': time.isoformat(' ', 'milliseconds')}))`;

/** By Python, with a time as `{time}`. */
function byPython(database: string, { names }: Dictionary): RowsByName {
  return JSON.parse(printed('python3', ['-c', python, database, ...names])) as RowsByName;
}

const pandas = `
import json, pandas, sqlite3, sys
connection = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True, timeout=5)
def cell(value):
    if pandas.isna(value): return None
    if isinstance(value, pandas.Timestamp): return {'time': value.isoformat(' ', 'milliseconds')}
    return value.item() if hasattr(value, 'item') else value
def read(name, times):
    frame = pandas.read_sql_query(f'select * from "{name}"', connection, parse_dates=times)
    return [{column: cell(row[column]) for column in frame.columns} for _, row in frame.iterrows()]
print(json.dumps({name: read(name, times) for name, times in json.loads(sys.argv[2]).items()}))`;

/** By pandas, which is told the columns that are times. */
function byPandas(database: string, { names, types }: Dictionary): RowsByName {
  const timesOf = (name: string): string[] =>
    [...types].flatMap(([key, type]) =>
      type === 'TIMESTAMP' && key.startsWith(`${name}.`) ? [key.slice(name.length + 1)] : [],
    );
  const times = JSON.stringify(Object.fromEntries(names.map((name) => [name, timesOf(name)])));
  return JSON.parse(printed(pythonWithPandas!, ['-c', pandas, database, times])) as RowsByName;
}

const nodeSqlite = `
import { DatabaseSync } from 'node:sqlite';
const [path, ...names] = process.argv.slice(1);
const database = new DatabaseSync(path, { readOnly: true });
const read = (name) => database.prepare('SELECT * FROM "' + name + '"').all();
console.log(JSON.stringify(Object.fromEntries(names.map((name) => [name, read(name)]))));`;

function byNode(database: string, { names }: Dictionary): RowsByName {
  const argv = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', nodeSqlite, database, ...names];
  return JSON.parse(printed(nodeWithSqlite!, argv)) as RowsByName;
}

/** By ODBC: rows of a query, a cell of text each. */
function byOdbc(database: string, sql: string): string[][] {
  const connection = `Driver=SQLite3;Database=${database};NoCreat=1;Timeout=5000;BigInt=1`;
  return printed('isql', ['-k', connection, '-b', '-d|'], `${sql}\n`)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('|'));
}

/** As DuckDB's reader of SQLite files types columns: it knows no truth values. */
function duckType(declared: string): string {
  const rules: readonly (readonly [RegExp, string])[] = [
    [/int|bool/i, 'BIGINT'],
    [/char|clob|text/i, 'VARCHAR'],
    [/real|floa|doub/i, 'DOUBLE'],
    [/date|time/i, 'TIMESTAMP'],
  ];
  return rules.find(([pattern]) => pattern.test(declared))?.[1] ?? 'VARCHAR';
}

function literal(value: string | number | null): string {
  if (value === null) return 'NULL';
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}

/**
 * DuckDB with the mirror in it: tables as its reader of SQLite files shows them, and the views by their own SQL, which is what that reader
 * does too. The reader itself is no part of the package.
 */
async function duckDb(database: string): Promise<DuckDBConnection> {
  const duck = await (await DuckDBInstance.create(':memory:')).connect();
  const schema = ask<{ type: string; name: string; sql: string }>(
    database,
    "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'",
  );
  for (const { name } of schema.filter(({ type }) => type === 'table')) {
    const columns = ask<{ name: string; type: string }>(database, `PRAGMA table_info("${name}")`);
    const typed = columns.map((column) => `"${column.name}" ${duckType(column.type)}`);
    await duck.run(`CREATE TABLE "${name}" (${typed.join(', ')})`);
    const rows = ask<Record<string, string | number | null>>(database, `SELECT * FROM "${name}"`).map(
      (row) => `(${Object.values(row).map(literal).join(', ')})`,
    );
    if (rows.length > 0) await duck.run(`INSERT INTO "${name}" VALUES ${rows.join(', ')}`);
  }
  await makeViews(
    duck,
    schema.filter(({ type }) => type === 'view').map(({ sql }) => sql),
  );
  return duck;
}

/** Views that rest on others come after them. @throws what is wrong with the first that cannot be made. */
async function makeViews(duck: DuckDBConnection, views: readonly string[]): Promise<void> {
  const left: string[] = [];
  let fault: unknown;
  for (const sql of views)
    await duck.run(sql).catch((error: unknown) => {
      left.push(sql);
      fault ??= error;
    });
  if (left.length === views.length && left.length > 0) throw fault;
  if (left.length > 0) await makeViews(duck, left);
}

interface Typed {
  /** Types by names of columns. */
  readonly types: Readonly<Record<string, string>>;
  readonly rows: readonly Readonly<Record<string, DuckDBValue>>[];
}

/** What DuckDB says to `sql`. */
async function byDuckDb(duck: DuckDBConnection, sql: string): Promise<Typed> {
  const answer = await duck.runAndReadAll(sql);
  const types = answer.columnTypes().map(String);
  return {
    types: Object.fromEntries(answer.columnNames().map((name, at) => [name, types[at] ?? ''])),
    rows: answer.getRowObjects(),
  };
}

/** Tables and views for readers, by what the file says of itself. */
interface Dictionary {
  readonly names: readonly string[];
  /** By `name.column`. */
  readonly types: ReadonlyMap<string, string>;
}

async function mirror(
  rewrite = (text: string): string => text,
): Promise<{ at: Testbed<'account'>; dictionary: Dictionary }> {
  const at = await testbed({ level: 'account', vendors: 30, rewrite });
  const vendors = at.sandbox.vendors(account);
  const enter = (vendor_name: string): number =>
    Number(vendors.create({ vendor_name, language: 'en', is_1099: true })['vendorid']);
  const [large, odd] = [enter('Large'), enter(`Odd ' " ; -- 🧾 \u202e מ`)];
  await at.pull();
  // More cents than 32 bits hold, and an amount that no binary fraction is.
  vendors.setBalance(large, 'outstanding', [{ amount: '92233720368.07', code: 'USD' }]);
  vendors.setBalance(odd, 'overdue', [{ amount: '0.10', code: 'EUR' }]);
  vendors.archive(odd);
  await at.clock.advance(60_000);
  await at.pull();
  const told = at.query<{ name: string; column_name: string; type: string | null }>('SELECT * FROM data_dictionary');
  const names = [...new Set(told.map(({ name }) => name))].filter((name) => !name.startsWith('_'));
  const types = new Map(told.map(({ name, column_name, type }) => [`${name}.${column_name}`, type ?? '']));
  for (const name of ['payables', 'contractors_1099', 'vendor_changes', 'vis_state_changes', 'balance_history'])
    expect(at.query(`SELECT * FROM ${name}`), name).not.toEqual([]);
  return { at, dictionary: { names, types } };
}

/** A cell in one spelling, whatever a program makes of its type. */
function plain(cell: unknown, type: string | undefined): string | null {
  if (cell === null) return null;
  if (type === 'TIMESTAMP') return timeOf(cell);
  if (type === 'BOOLEAN') return String(Number(cell));
  return scalar(cell);
}

const scalar = (cell: unknown): string =>
  typeof cell === 'string' ? cell : typeof cell === 'bigint' ? String(cell) : JSON.stringify(cell);

function timeOf(cell: unknown): string {
  if (cell instanceof DuckDBTimestampValue) return String(cell.micros / 1_000n);
  const text = typeof cell === 'object' ? (cell as { time: string }).time : scalar(cell);
  return String(Date.parse(`${text.replace(' ', 'T')}Z`));
}

/** Rows of a table or view, in an order of their own. */
function lines({ types }: Dictionary, name: string, rows: Rows): string[] {
  const line = (row: Rows[number]): string =>
    JSON.stringify(Object.entries(row).map(([column, cell]) => [column, plain(cell, types.get(`${name}.${column}`))]));
  return rows.map(line).sort();
}

const title = (of: string, why: string | undefined): string =>
  `${of}${why === undefined ? '' : ` (not asked: ${why})`}`;

/** Holds what a program read against the file. */
function expectSame({ at, dictionary }: Awaited<ReturnType<typeof mirror>>, read: RowsByName): void {
  for (const name of dictionary.names)
    expect(lines(dictionary, name, read[name] ?? []), name).toEqual(
      lines(dictionary, name, at.query(`SELECT * FROM "${name}"`)),
    );
}

describe('every table and view, as it is read', () => {
  it.skipIf(isMissing(missing.shell))(title('by the sqlite3 shell', missing.shell), async () => {
    const { at, dictionary } = await mirror();
    expectSame({ at, dictionary }, byShell(at.database, dictionary));
  });

  it.skipIf(isMissing(missing.python))(
    title('by Python, with times as times and truth values as truth values', missing.python),
    async () => {
      const { at, dictionary } = await mirror();
      const read = byPython(at.database, dictionary);
      expectSame({ at, dictionary }, read);
      for (const name of dictionary.names)
        for (const [column, cell] of read[name]!.flatMap((row) => Object.entries(row)))
          if (cell !== null) {
            const type = dictionary.types.get(`${name}.${column}`);
            expect([`${name}.${column}`, kindOf(cell)]).toEqual([
              `${name}.${column}`,
              pythonKinds[type ?? ''] ?? 'text',
            ]);
          }
    },
  );

  it.skipIf(isMissing(missing.pandas))(title('by pandas, with times as times', missing.pandas), async () => {
    const { at, dictionary } = await mirror();
    expectSame({ at, dictionary }, byPandas(at.database, dictionary));
  });

  it.skipIf(isMissing(missing.node))(title('by node:sqlite', missing.node), async () => {
    const { at, dictionary } = await mirror();
    expectSame({ at, dictionary }, byNode(at.database, dictionary));
  });

  it('by DuckDB: the definitions of views parse, and return the same rows', async () => {
    const { at, dictionary } = await mirror();
    const duck = await duckDb(at.database);
    for (const name of dictionary.names) {
      const { types, rows } = await byDuckDb(duck, `SELECT * FROM "${name}"`);
      expect(lines(dictionary, name, rows), name).toEqual(lines(dictionary, name, at.query(`SELECT * FROM "${name}"`)));
      for (const [column, type] of Object.entries(types))
        expect([`${name}.${column}`, type]).toEqual([
          `${name}.${column}`,
          duckTypes[dictionary.types.get(`${name}.${column}`) ?? ''] ?? 'VARCHAR',
        ]);
    }
    duck.closeSync();
  });

  it.skipIf(isMissing(missing.odbc))(title('by ODBC', missing.odbc), async () => {
    const { at, dictionary } = await mirror();
    const columns = 'vendorid, currency, outstanding, overdue, outstanding_minor';
    const query = `select ${columns} from payables order by vendorid, currency`;
    const cells = at.query(query).map((row) => Object.values(row).map(String));
    expect(byOdbc(at.database, query).map((row) => row.map(plainNumber))).toEqual(
      cells.map((row) => row.map(plainNumber)),
    );
    for (const name of dictionary.names)
      for (const [, , , column = '', code = ''] of byOdbc(at.database, `help ${name}`)) {
        const type = dictionary.types.get(`${name}.${column}`) ?? '';
        expect(odbcTypes[type] ?? odbcTypes['TEXT'], `${name}.${column}`).toContain(code);
      }
  });
});

const pythonRestores = `
import sqlite3, sys
file, restored = (sqlite3.connect(path) for path in sys.argv[1:])
restored.executescript('\\n'.join(file.iterdump()))
check = lambda of, kind: of.execute(f'pragma {kind}_check').fetchall()
print(check(file, 'integrity'), check(file, 'quick'), check(restored, 'integrity'))`;

/** How many rows each table and view has, views of views included. */
function countsOf(database: string): Record<string, number> {
  const names = ask<{ name: string }>(
    database,
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*' ORDER BY name",
  );
  return Object.fromEntries(
    names.map(({ name }) => [name, ask<{ n: number }>(database, `SELECT count(*) AS n FROM "${name}"`)[0]!.n]),
  );
}

/** The files of a mirror with every odd value, and with some that cannot be read. */
async function oddFiles(): Promise<readonly string[]> {
  // Lists and reads by id show the same of each vendor.
  const odd = /"is_1099":(?:true|false)(?=(?:(?!"is_1099"|"vendorid").)*"vendorid":"?\d*[05]\b)/gs;
  const { at } = await mirror((text) => text.replace(odd, '"is_1099":"ja"'));
  expect(at.query('SELECT 1 FROM vendors WHERE unreadable_fields IS NULL')).not.toEqual([]);
  expect(at.query('SELECT 1 FROM vendors WHERE unreadable_fields IS NOT NULL')).not.toEqual([]);
  await at.close();
  return [at.database, at.settings.secrets];
}

describe('the files in programs with an older SQLite', () => {
  it.skipIf(isMissing(missing.shell))(
    title('are in order, and restored whole from a dump, by the sqlite3 shell', missing.shell),
    async () => {
      for (const file of await oddFiles()) {
        expect(printed('sqlite3', [file, 'pragma integrity_check; pragma quick_check;'])).toBe('ok\nok\n');
        const restored = join(temporaryFolder(), 'restored.db');
        printed('sqlite3', ['-bail', restored], printed('sqlite3', [file, '.dump']));
        expect(countsOf(restored)).toEqual(countsOf(file));
        for (const name of Object.keys(countsOf(file)))
          expect(printed('sqlite3', ['-json', restored, `SELECT * FROM "${name}"`]), name).toBe(
            printed('sqlite3', ['-json', file, `SELECT * FROM "${name}"`]),
          );
      }
    },
  );

  it.skipIf(isMissing(missing.python))(
    title('are in order, and restored whole from a dump, by Python', missing.python),
    async () => {
      for (const file of await oddFiles()) {
        const restored = join(temporaryFolder(), 'restored.db');
        const order = "[('ok',)]";
        expect(printed('python3', ['-c', pythonRestores, file, restored])).toBe(`${order} ${order} ${order}\n`);
        expect(countsOf(restored)).toEqual(countsOf(file));
      }
    },
  );
});

describe('a Parquet file of every table and view', () => {
  it('has the rows and types of the data dictionary in DuckDB', async () => {
    const { at, dictionary } = await mirror();
    const file = join(temporaryFolder(), 'a.parquet');
    const options = { random: systemRandom, own: { secrets: '', readFrom: [] }, program: compiled.exports };
    const duck = await duckDb(at.database);
    for (const name of dictionary.names) {
      const database = readMirror(at.database, at.clock);
      expect(await exportToFile(database, file, { view: name }, options)).toEqual({ noTimes: 0 });
      await database.close();
      const { types, rows } = await byDuckDb(duck, `SELECT * FROM '${file}'`);
      const expected = ask(at.database, `SELECT * FROM "${name}"`);
      expect(lines(dictionary, name, rows), name).toEqual(lines(dictionary, name, expected));
      for (const [column, type] of Object.entries(types))
        expect([`${name}.${column}`, type]).toEqual([
          `${name}.${column}`,
          parquetTypes[dictionary.types.get(`${name}.${column}`) ?? ''] ?? 'VARCHAR',
        ]);
    }
    duck.closeSync();
  });
});

const pythonKinds: Readonly<Record<string, string>> = {
  INTEGER: 'number',
  REAL: 'number',
  BOOLEAN: 'boolean',
  TIMESTAMP: 'time',
};
const duckTypes: Readonly<Record<string, string>> = {
  INTEGER: 'BIGINT',
  REAL: 'DOUBLE',
  BOOLEAN: 'BIGINT',
  TIMESTAMP: 'TIMESTAMP',
};
const parquetTypes: Readonly<Record<string, string>> = { ...duckTypes, BOOLEAN: 'BOOLEAN' };
/** The codes of ODBC: SQL_BIGINT, SQL_DOUBLE, SQL_BIT, SQL_TYPE_TIMESTAMP; texts are SQL_LONGVARCHAR, SQL_VARCHAR. */
const odbcTypes: Readonly<Record<string, readonly string[]>> = {
  INTEGER: ['-5'],
  REAL: ['8'],
  BOOLEAN: ['-7'],
  TIMESTAMP: ['11', '93'],
  TEXT: ['-1', '12'],
};

function kindOf(cell: unknown): string {
  if (typeof cell === 'object') return 'time';
  return typeof cell === 'string' ? 'text' : typeof cell;
}

/** Programs write 5 and 5.0, and one of them exponents. */
function plainNumber(cell: string): string {
  return /^-?[\d.]+(?:e[+-]?\d+)?$/i.test(cell) ? String(Number(cell)) : cell;
}
