/**
 * The one way to write SQL: Kysely's builder for rows in and out, its `sql` template for what reads better as SQL. Kysely generates the text
 * once and checks names and types of arguments, the driver prepares it at its first use and runs it. Executing through Kysely costs several
 * times as much.
 */
import {
  createQueryId,
  DummyDriver,
  Kysely,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Compilable,
  type OperationNodeSource,
  type RawBuilder,
  type RootOperationNode,
} from 'kysely';
import { withoutBlobs } from './blobs.ts';
import type { Sqlite } from './driver.ts';
import type { MirrorTables, SecretTables, VendorKey } from './schema.ts';

/** A statement of an operation, which runs inside a transaction. */
export interface Statement<Args, Row = unknown> {
  /** Runs it. Nobody needs its result before the transaction ends; what fails, fails the transaction. */
  send(args: Args): void;
  /** Runs it and returns the number of rows it changed. */
  run(args: Args): Promise<number>;
  get(args: Args): Promise<Row | undefined>;
  all(args: Args): Promise<Row[]>;
}

/** A statement about the file itself and its connection, which only SQLite has. */
export interface FileStatement<Args, Row = unknown> {
  /** Runs it and returns the number of rows it changed. */
  run(args: Args): number;
  get(args: Args): Row | undefined;
  all(args: Args): Row[];
}

/** The argument of statements about one account. */
export interface OfAccount {
  readonly accountId: string;
}

/** No arguments. */
export type None = Readonly<Record<string, never>>;

/** One consistent state of a file. Code above `store/` only passes it to reports. */
export type Snapshot = Sqlite;

/** Runs a report on one consistent state. */
export type Query = <T>(report: (snapshot: Snapshot) => T | Promise<T>) => Promise<T>;

/** Constants of the source code: they cannot end a string in SQL. */
const plainWords = /^[\w %.-]*$/;

/**
 * Binds arguments and inlines constants: SQLite plans a statement again for each bound value that could decide which index is used. For the
 * same reason, a limit that is an argument is written `LIMIT +${at('limit')}`.
 */
class StatementCompiler extends SqliteQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof Placeholder) super.appendValue(value);
    else if (typeof value === 'string' && !plainWords.test(value))
      throw new Error('A statement contains a text that is not a constant of the source code.');
    else this.appendImmediateValue(value);
  }
}

const compiler = new StatementCompiler();

function builder<Tables>(): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}

/** Generates SQL for the mirror; never executes it. */
export const mirrorSql = builder<MirrorTables>();

/** Generates SQL for the secrets file; never executes it. */
export const secretSql = builder<SecretTables>();

class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A query of the builder or the `sql` template, to be prepared. */
export type Description<Row = unknown> = (Compilable<Row> & OperationNodeSource) | RawBuilder<Row>;

/**
 * Places an argument in a statement: `at('name')` has the type of the argument `name`, so the types of arguments and columns are checked.
 * It is a function, so that arguments can be neither spread nor compared by mistake.
 */
export type At<Args> = <Name extends keyof Args & string>(name: Name) => RawBuilder<Args[Name]>;

/** Prepares the query of `build` at its first use, because most commands use few of all statements. */
export function statement<Args extends object, Row = unknown>(
  sqlite: Sqlite,
  build: (at: At<Args>) => Description<Row>,
): Statement<Args, Row> {
  const prepared = fileStatement(sqlite, build);
  return {
    send: (args) => void prepared.run(args),
    run: (args) => Promise.resolve(prepared.run(args)),
    get: (args) => Promise.resolve(prepared.get(args)),
    all: (args) => Promise.resolve(prepared.all(args)),
  };
}

/** As `statement`, without waiting. */
export function fileStatement<Args extends object, Row = unknown>(
  sqlite: Sqlite,
  build: (at: At<Args>) => Description<Row>,
): FileStatement<Args, Row> {
  let known: FileStatement<Args, Row> | undefined;
  const prepared = (): FileStatement<Args, Row> => (known ??= prepare(sqlite, build));
  return {
    run: (args) => prepared().run(args),
    get: (args) => prepared().get(args),
    all: (args) => prepared().all(args),
  };
}

/** What is made once for each connection, and kept as long as it: statements of reports that are asked again and again. */
export function ofConnection<T>(make: (sqlite: Sqlite) => T): (sqlite: Sqlite) => T {
  const made = new WeakMap<Sqlite, T>();
  return (sqlite) => {
    const known = made.get(sqlite) ?? make(sqlite);
    made.set(sqlite, known);
    return known;
  };
}

function prepare<Args extends object, Row>(
  sqlite: Sqlite,
  build: (at: At<Args>) => Description<Row>,
): FileStatement<Args, Row> {
  const { text, names } = compiled(build);
  const prepared = sqlite.prepare<unknown[], Row>(text);
  const bind = (args: Args): unknown[] => names.map((name) => args[name]);
  return {
    run: (args) => prepared.run(bind(args)).changes,
    get: (args) => prepared.get(bind(args)),
    all: (args) => prepared.all(bind(args)),
  };
}

/** The SQL, and the names of its arguments in their order. */
function compiled<Args extends object>(
  build: (at: At<Args>) => Description,
): {
  readonly text: string;
  readonly names: readonly (keyof Args & string)[];
} {
  const at: At<Args> = (name) => sql.val(new Placeholder(name) as never);
  const node = build(at).toOperationNode() as RootOperationNode;
  const { sql: text, parameters } = compiler.compileQuery(node, createQueryId());
  return { text, names: (parameters as readonly Placeholder[]).map(({ name }) => name as keyof Args & string) };
}

/** The names of columns as SQL, of the table of that name where several are read. */
export function columnList(names: readonly string[], table = ''): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(table === '' ? name : `${table}.${name}`)));
}

/** Arguments for columns of the same names. */
export function columns<Args, Name extends keyof Args & string>(
  at: At<Args>,
  names: readonly Name[],
): { [Column in Name]: RawBuilder<Args[Column]> } {
  return Object.fromEntries(names.map((name) => [name, at(name)])) as { [Column in Name]: RawBuilder<Args[Column]> };
}

/** Runs a query once, with all values bound; blobs in text columns are shown as SQLite writes them. */
export function runQuery<Row>(sqlite: Sqlite, query: Compilable<Row>): Promise<Row[]> {
  return Promise.resolve(runFileQuery(sqlite, query));
}

/** As `runQuery`, without waiting. */
export function runFileQuery<Row>(sqlite: Sqlite, query: Compilable<Row>): Row[] {
  const { sql, parameters } = query.compile();
  return sqlite
    .prepare<unknown[], Row>(sql)
    .all(...parameters)
    .map(withoutBlobs);
}

/** Another after every write to the file, by this connection or another: what was read under the same version need not be read again. */
export function fileVersion(sqlite: Sqlite): string {
  const [own] = runFileQuery<{ changes: number }>(
    sqlite,
    mirrorSql.selectNoFrom(sql<number>`total_changes()`.as('changes')),
  );
  return `${String(sqlite.pragma('data_version', { simple: true }))}-${own?.changes ?? 0}`;
}

/** The key of a row that holds more. */
export const keyOf = ({ account_id, vendorid }: VendorKey): VendorKey => ({ account_id, vendorid });

/** The key of a row as text, for maps and sets. */
export const keyText = ({ account_id, vendorid }: VendorKey): string => `${account_id} ${vendorid}`;

interface OneVendor {
  where(column: 'account_id', operator: '=', value: RawBuilder<string>): this;
  where(column: 'vendorid', operator: '=', value: RawBuilder<number>): this;
}

/** Narrows a query to one vendor. */
export function ofVendor<Q extends object>(query: Q, at: At<VendorKey>): Q {
  return (query as Q & OneVendor).where('account_id', '=', at('account_id')).where('vendorid', '=', at('vendorid'));
}
