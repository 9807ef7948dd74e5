/**
 * Statements: Kysely writes the SQL once and checks its types, the driver prepares and runs it.
 * Executing through Kysely costs several times a prepared statement.
 */
import type { Database as Sqlite } from 'better-sqlite3';
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, type Compilable } from 'kysely';
import type { MirrorTables, SecretTables } from './tables.ts';

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
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

export interface Statement<Args, Row> {
  /** Runs it and returns the number of rows it changed. */
  run(args: Args): number;
  get(args: Args): Row | undefined;
  all(args: Args): Row[];
}

/**
 * What `build` describes, prepared as it is asked for the first time: most commands need few of all statements. `at.name`
 * stands where the argument `name` goes, with the argument's own type, so that the types of arguments and columns are checked
 * against each other.
 */
export function statement<Args extends object, Row = unknown>(
  sqlite: Sqlite,
  build: (at: Args) => Compilable<Row>,
): Statement<Args, Row> {
  let known: Statement<Args, Row> | undefined;
  const prepared = (): Statement<Args, Row> => (known ??= prepare(sqlite, build));
  return {
    run: (args) => prepared().run(args),
    get: (args) => prepared().get(args),
    all: (args) => prepared().all(args),
  };
}

function prepare<Args extends object, Row>(sqlite: Sqlite, build: (at: Args) => Compilable<Row>): Statement<Args, Row> {
  const at = new Proxy({} as Args, { get: (_, name) => new Placeholder(name) });
  const { sql, parameters } = build(at).compile();
  const prepared = sqlite.prepare<unknown[], Row>(sql);
  const places = parameters.flatMap((value, index) =>
    value instanceof Placeholder ? [{ index, name: value.name as keyof Args }] : [],
  );
  const bind = (args: Args): unknown[] => {
    const values = [...parameters];
    for (const { index, name } of places) values[index] = args[name];
    return values;
  };
  return {
    run: (args) => prepared.run(bind(args)).changes,
    get: (args) => prepared.get(bind(args)),
    all: (args) => prepared.all(bind(args)),
  };
}
