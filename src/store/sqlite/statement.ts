/**
 * Statements: Kysely writes the SQL once and checks its types, the driver prepares and runs it.
 * Executing through Kysely costs several times a prepared statement.
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
import { preparedOnce, type Statement } from './plain-statement.ts';
import type { SecretTables } from '../tables/secret-tables.ts';
import type { MirrorTables } from '../tables/mirror-tables.ts';

/** Words of the source, never of a person: nothing in them could end a text in SQL. */
const plainWords = /^[\w %.-]*$/;

/**
 * Binds what stands for an argument, and writes constants into the SQL: SQLite plans a statement anew for each value that is bound
 * where an index could be chosen by it.
 */
class StatementCompiler extends SqliteQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof Placeholder) super.appendValue(value);
    else if (typeof value === 'string' && !plainWords.test(value))
      throw new Error('A statement holds a value that is not its own.');
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

/** Writes SQL about the mirror; never executes it. */
export const mirrorSql = builder<MirrorTables>();

/** Writes SQL about the file of secrets; never executes it. */
export const secretSql = builder<SecretTables>();

class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** What the builder describes, to be prepared. */
export type Description<Row = unknown> = Compilable<Row> & OperationNodeSource;

/**
 * Says where an argument goes in a statement: `at('name')` has the type of the argument `name`, so that the types of arguments and
 * columns are checked against each other. It is a function, so that arguments can neither be spread nor compared by mistake.
 */
export type At<Args> = <Name extends keyof Args & string>(name: Name) => RawBuilder<Args[Name]>;

/** What `build` describes, prepared when it is needed for the first time. */
export function statement<Args extends object, Row = unknown>(
  sqlite: Sqlite,
  build: (at: At<Args>) => Description<Row>,
): Statement<Args, Row> {
  return preparedOnce(() => prepare(sqlite, build));
}

function prepare<Args extends object, Row>(
  sqlite: Sqlite,
  build: (at: At<Args>) => Description<Row>,
): Statement<Args, Row> {
  const at: At<Args> = (name) => sql.val(new Placeholder(name) as never);
  const node = build(at).toOperationNode() as RootOperationNode;
  const { sql: text, parameters } = compiler.compileQuery(node, createQueryId());
  const prepared = sqlite.prepare<unknown[], Row>(text);
  const names = (parameters as readonly Placeholder[]).map(({ name }) => name as keyof Args);
  const bind = (args: Args): unknown[] => names.map((name) => args[name]);
  return {
    run: (args) => prepared.run(bind(args)).changes,
    get: (args) => prepared.get(bind(args)),
    all: (args) => prepared.all(bind(args)),
  };
}

/**
 * An insertion of rows that are made for it, each column by itself: of rows that come by the thousand no wide objects are built first. It is
 * prepared when it is needed for the first time.
 */
export function insertion<Row extends object, Made>(
  sqlite: Sqlite,
  made: { readonly [Column in keyof Row]: (from: Made) => Row[Column] },
  build: (values: { [Column in keyof Row & string]: RawBuilder<Row[Column]> }) => Description,
): (from: Made) => void {
  const names = Object.keys(made) as (keyof Row & string)[];
  const makers = names.map((name) => made[name]);
  let known: ((values: unknown[]) => unknown) | undefined;
  const prepared = (): typeof known & {} => {
    const at: At<Row> = (name) => sql.val(new Placeholder(name) as never);
    const node = build(columns(at, names)).toOperationNode() as RootOperationNode;
    const { sql: text, parameters } = compiler.compileQuery(node, createQueryId());
    if ((parameters as readonly Placeholder[]).some(({ name }, index) => name !== names[index]))
      throw new Error('An insertion names its columns in another order.');
    const insert = sqlite.prepare(text);
    return (values) => insert.run(values);
  };
  return (from) => void (known ??= prepared())(makers.map((make) => make(from)));
}

/** Arguments for columns of their own names. */
export function columns<Args, Name extends keyof Args & string>(
  at: At<Args>,
  names: readonly Name[],
): { [Column in Name]: RawBuilder<Args[Column]> } {
  return Object.fromEntries(names.map((name) => [name, at(name)])) as { [Column in Name]: RawBuilder<Args[Column]> };
}

/** A limit that is an argument: one that stands alone would make SQLite plan anew for each. */
export function boundLimit(limit: RawBuilder<number>): RawBuilder<number> {
  return sql`+${limit}`;
}

/** Asks once, whatever people look for: every value is bound, and a blob where a text belongs is shown as SQLite writes one. */
export function runQuery<Row>(sqlite: Sqlite, query: Compilable<Row>): Row[] {
  const { sql, parameters } = query.compile();
  return sqlite
    .prepare<unknown[], Row>(sql)
    .all(...parameters)
    .map(withoutBlobs);
}
