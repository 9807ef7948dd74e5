/**
 * Typed statements: Kysely generates the SQL once and checks its types, the driver prepares and runs it. Executing through Kysely costs
 * several times as much.
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
import type { Sqlite } from './driver.ts';
import { preparedOnce, withoutBlobs, type Statement } from './plain-statement.ts';
import type { MirrorTables, SecretTables, VendorKey } from './schema.ts';

/** Constants of the source code: they cannot end a string in SQL. */
const plainWords = /^[\w %.-]*$/;

/** Binds arguments and inlines constants: SQLite plans a statement again for each bound value that could decide which index is used. */
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

/** A query of the builder, to be prepared. */
export type Description<Row = unknown> = Compilable<Row> & OperationNodeSource;

/**
 * Places an argument in a statement: `at('name')` has the type of the argument `name`, so the types of arguments and columns are checked.
 * It is a function, so that arguments can be neither spread nor compared by mistake.
 */
export type At<Args> = <Name extends keyof Args & string>(name: Name) => RawBuilder<Args[Name]>;

/** Prepares the query of `build` at its first use. */
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
 * An insertion whose columns are computed one by one, so that no wide object is built for each of thousands of rows. It is prepared at its first
 * use.
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

/** Arguments for columns of the same names. */
export function columns<Args, Name extends keyof Args & string>(
  at: At<Args>,
  names: readonly Name[],
): { [Column in Name]: RawBuilder<Args[Column]> } {
  return Object.fromEntries(names.map((name) => [name, at(name)])) as { [Column in Name]: RawBuilder<Args[Column]> };
}

/** A limit as an argument: a plain one would make SQLite plan again for each value. */
export function boundLimit(limit: RawBuilder<number>): RawBuilder<number> {
  return sql`+${limit}`;
}

/** Runs a query once, with all values bound; blobs in text columns are shown as SQLite writes them. */
export function runQuery<Row>(sqlite: Sqlite, query: Compilable<Row>): Row[] {
  const { sql, parameters } = query.compile();
  return sqlite
    .prepare<unknown[], Row>(sql)
    .all(...parameters)
    .map(withoutBlobs);
}

/** The key of a row that holds more. */
export const keyOf = ({ account_id, vendorid }: VendorKey): VendorKey => ({ account_id, vendorid });

interface OneVendor {
  where(column: 'account_id', operator: '=', value: RawBuilder<string>): this;
  where(column: 'vendorid', operator: '=', value: RawBuilder<number>): this;
}

/** Narrows a query to one vendor. */
export function ofVendor<Q extends object>(query: Q, at: At<VendorKey>): Q {
  return (query as Q & OneVendor).where('account_id', '=', at('account_id')).where('vendorid', '=', at('vendorid'));
}

/** Those of the vendors of an account for which something holds. */
export type IdsAmong = (account_id: string, vendorids: readonly number[]) => ReadonlySet<number>;

/** A query for those of some vendors of an account that have a row in a table. One query costs much less than one for each. */
export function idsAmong(sqlite: Sqlite, table: 'vendors' | '_forgotten_vendors'): IdsAmong {
  const find = statement<{ account_id: string; vendorids: string }, { found: string }>(sqlite, (at) =>
    mirrorSql
      .selectFrom(table)
      .select(sql<string>`json_group_array(vendorid)`.as('found'))
      .where('account_id', '=', at('account_id'))
      .where(sql<boolean>`vendorid IN (SELECT value FROM json_each(${at('vendorids')}))`),
  );
  return (account_id, vendorids) => {
    const found = find.get({ account_id, vendorids: JSON.stringify(vendorids) })?.found ?? '[]';
    return new Set(JSON.parse(found) as number[]);
  };
}
