/**
 * The rows of a file's tables, put into the tables of the same names in PostgreSQL: all tables, column by column, whatever they are. What each
 * is, the catalogues of both engines say; which are not copied, this file.
 *
 * A row goes as texts, which the server makes values of: whole numbers of 64 bits stay what they are. What it holds then is read again and
 * compared: as many rows of each account as in the file, and the same sum of their digests. Neither side holds more than a batch in memory.
 *
 * Rows are read while others are written, so this file uses the driver's `prepare`, which iterates.
 */
import { createHash } from 'node:crypto';
import { MirrorError, withMessage } from '../../domain/errors.ts';
import { textFor, type PostgresSession } from '../postgres/session.ts';
import { cellsWithoutBlobs } from '../sqlite/blobs.ts';
import type { Sqlite } from '../sqlite/driver.ts';

/** Tables that each engine has of its own, that are about files and processes, or that are always empty. */
const notCopied: ReadonlySet<string> = new Set([
  ...['migrations', 'data_dictionary', '_processes', '_server', '_daemon_files', '_moved'],
  ...['_freshness_types', '_webhook_health_types', '_owed_types'],
]);

type ColumnType = 'text' | 'bigint' | 'smallint' | 'boolean' | 'double precision' | 'timestamp with time zone';

export interface CopiedColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Whether the server numbers new rows in it. */
  readonly isIdentity: boolean;
}

export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly CopiedColumn[];
}

/** What is copied, and what the file holds beside it, because somebody made it there. */
export interface CopyPlan {
  readonly tables: readonly CopiedTable[];
  /** Names of tables, and of columns as `table.column`. */
  readonly left: readonly string[];
}

/** A value as the driver gives it. */
type Value = string | number | bigint | Buffer | null;

/** Values of a row as they are sent, in the order of the columns. */
export type Cells = (string | null)[];

/** How many rows an account has in a table, and the sum of their digests. */
type Sums = Map<string, { count: number; sum: bigint }>;

/** Rows of one statement, at most, and characters of them, about. */
const [mostRows, mostCharacters] = [1_000, 2 ** 20];

/**
 * Which tables of a file are copied into a schema. Runs inside a transaction of the session.
 * @throws Error where the schema has a table or a column that the file lacks: both are made by this version.
 */
export async function planCopy(sqlite: Sqlite, session: PostgresSession, schema: string): Promise<CopyPlan> {
  const there = await session.run<{ table: string; name: string; type: ColumnType; isIdentity: boolean }>(
    `SELECT c.relname AS "table", a.attname AS name, format_type(a.atttypid, NULL) AS type, a.attidentity <> '' AS "isIdentity"
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE n.nspname = $1 AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum`,
    [schema],
  );
  const here = sqlite
    .prepare<[], { table: string; name: string; wr: number }>(
      `SELECT t.name AS "table", c.name, t.wr FROM pragma_table_list t JOIN pragma_table_info(t.name) c
       WHERE t.type = 'table' AND t.schema = 'main' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    )
    .all();
  // A table with numbers of rows has them in this column, also where it does not name it.
  const rowNumbers = here.filter(({ wr }) => wr === 0).map(({ table }) => `${table}.rowid`);
  const inFile = new Set([...here.map(({ table, name }) => `${table}.${name}`), ...rowNumbers]);
  const copied = there.filter(({ table }) => !notCopied.has(table));
  const missing = copied.find(({ table, name }) => !inFile.has(`${table}.${name}`));
  if (missing) throw new Error(`The file has no ${missing.table}.${missing.name}, which PostgreSQL has.`);
  const tables = [...new Set(copied.map(({ table }) => table))].map((name) => ({
    name,
    columns: copied.filter(({ table }) => table === name),
  }));
  const known = new Set(copied.map(({ table, name }) => `${table}.${name}`));
  const left = here
    .filter(({ table, name }) => !notCopied.has(table) && !known.has(`${table}.${name}`))
    .map(({ table, name }) => (tables.some((of) => of.name === table) ? `${table}.${name}` : table));
  return { tables, left: [...new Set(left)] };
}

export function* rowsOf(sqlite: Sqlite, { name, columns }: CopiedTable): Generator<Cells, void, void> {
  const rows = sqlite.prepare<[], Value[]>(`SELECT ${columns.map(quoted).join()} FROM "${name}"`);
  for (const row of rows.raw().safeIntegers().iterate())
    yield cellsWithoutBlobs(row).map((value, at) => cellFor(columns[at]?.type, value));
}

/** A value of SQLite as the text that PostgreSQL gives back. */
function cellFor(type: ColumnType | undefined, value: Exclude<Value, Buffer> | undefined): string | null {
  if (value === null || value === undefined) return null;
  const text = String(value);
  if (type === 'timestamp with time zone') return withMilliseconds(text);
  return type === 'double precision' ? String(Number(text)) : textFor(text);
}

/** A moment of ours; those of older versions may lack digits. */
function withMilliseconds(text: string): string {
  const [whole = '', part = ''] = text.split('.');
  return `${whole}.${part.padEnd(3, '0')}`;
}

export interface CopyOptions {
  readonly session: PostgresSession;
  /** Makes of each row what is stored: secrets are sealed. */
  readonly stored?: (row: Cells) => Cells;
  /** Makes of what is stored what it was. */
  readonly opened?: (row: Cells) => Cells;
  /** Called with the number of rows since the last call. */
  readonly onRows: (count: number) => void;
}

/**
 * Copies rows into an empty table, and compares what stands there then. Runs inside a transaction, whose path of search leads to the schema
 * and whose time zone is UTC.
 * @returns how many rows there are.
 * @throws MirrorError of the server, which names the table; `postgres_tables` where it holds others than were sent.
 */
export async function copyTable(
  rows: Iterable<Cells>,
  table: CopiedTable,
  { session, stored = asItIs, opened = asItIs, onRows }: CopyOptions,
): Promise<number> {
  const { name, columns } = table;
  const insert = insertion(table);
  const here: Sums = new Map();
  let [batch, characters, longest]: [Cells[], number, number] = [[], 0, 1];
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    const values = columns.map((_, at) => batch.map((row) => row[at] ?? null));
    try {
      await session.run(insert, values);
    } catch (error) {
      throw error instanceof MirrorError ? withMessage(error, `The table ${name}: ${error.message}`) : error;
    }
    onRows(batch.length);
    [batch, characters] = [[], 0];
  };
  for (const row of rows) {
    count(here, table, row);
    const length = row.reduce((sum, cell) => sum + (cell?.length ?? 0), 0);
    batch.push(stored(row));
    characters += length;
    longest = Math.max(longest, length);
    if (batch.length >= mostRows || characters >= mostCharacters) await flush();
  }
  await flush();
  const there = await sumsThere(table, session, opened, Math.ceil(Math.min(mostRows, mostCharacters / longest)));
  const different = [...new Set([...here.keys(), ...there.keys()])].find((account) => !isSame(here, there, account));
  if (different !== undefined)
    throw new MirrorError(
      'postgres_tables',
      `The table ${name} holds other rows than were copied${different === '' ? '' : ` of the account ${different}`}; nothing was kept.`,
      { remedy: 'Look for triggers, rules and defaults that somebody made on the server, and run this again.' },
    );
  return [...here.values()].reduce((sum, of) => sum + of.count, 0);
}

const asItIs = (row: Cells): Cells => row;

/** Its values are lists, one of each column. */
function insertion({ name, columns }: CopiedTable): string {
  const lists = columns.map((_, at) => `$${at + 1}::text[]`).join();
  const places = columns.map((_, at) => `c${at}`);
  const values = columns.map(({ type }, at) => `CAST(s.c${at} AS ${type})`).join();
  return `INSERT INTO "${name}" (${columns.map(quoted).join()}) OVERRIDING SYSTEM VALUE
    SELECT ${values} FROM unnest(${lists}) AS s (${places.join()})`;
}

async function sumsThere(
  table: CopiedTable,
  session: PostgresSession,
  opened: (row: Cells) => Cells,
  rows: number,
): Promise<Sums> {
  const sums: Sums = new Map();
  const texts = table.columns.map((column, at) => `${textOf(column)} AS c${at}`).join();
  await session.run(`DECLARE copied NO SCROLL CURSOR FOR SELECT ${texts} FROM "${table.name}"`);
  for (;;) {
    const some = await session.run<Record<string, string | null>>(`FETCH ${rows} FROM copied`);
    if (some.length === 0) break;
    for (const row of some) {
      const cells = table.columns.map(({ type }, at) => {
        const cell = row[`c${at}`] ?? null;
        return type === 'double precision' && cell !== null ? String(Number(cell)) : cell;
      });
      count(sums, table, opened(cells));
    }
  }
  await session.run('CLOSE copied');
  return sums;
}

/** A column as the text that `cellFor` makes of the value. */
function textOf(column: CopiedColumn): string {
  const name = quoted(column);
  if (column.type === 'boolean') return `CAST(CAST(${name} AS integer) AS text)`;
  if (column.type === 'timestamp with time zone') return `to_char(${name}, 'YYYY-MM-DD HH24:MI:SS.MS')`;
  return `CAST(${name} AS text)`;
}

function quoted({ name }: Pick<CopiedColumn, 'name'>): string {
  return `"${name}"`;
}

/** The sum does not depend on the order of rows, and two that are alike do not cancel each other out. */
function count(sums: Sums, { columns }: CopiedTable, row: Cells): void {
  const account = row[columns.findIndex(({ name }) => name === 'account_id')] ?? '';
  const of = sums.get(account) ?? { count: 0, sum: 0n };
  const digest = createHash('sha256').update(JSON.stringify(row)).digest();
  of.count += 1;
  of.sum = BigInt.asUintN(64, of.sum + digest.readBigUInt64BE());
  sums.set(account, of);
}

function isSame(here: Sums, there: Sums, account: string): boolean {
  const [one, other] = [here.get(account), there.get(account)];
  return one?.count === other?.count && one?.sum === other?.sum;
}
