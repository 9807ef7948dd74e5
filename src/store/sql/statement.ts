/**
 * The one way to write SQL: Kysely's builder for rows in and out, a template for what reads better as SQL. Kysely generates the text once, the
 * compiler checks names and types of arguments, the driver prepares it at its first use and runs it. Executing through Kysely costs several
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
  type QueryCompiler,
  type RawBuilder,
  type RootOperationNode,
} from 'kysely';
import type { Clock } from '../../domain/clock.ts';
import { inBatches, inOrder } from '../../domain/concurrency.ts';
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

export interface OfAccount {
  readonly accountId: string;
}

export type None = Readonly<Record<string, never>>;

/** What an engine offers to operations, which are written once for all of them. */
export interface Connection {
  /** Prepares the query of `build` at its first use, because most commands use few of all statements. */
  prepare<Args extends object, Row = unknown>(build: (at: At<Args>) => Description<Row>): Statement<Args, Row>;
  /** Another after each commit of another connection; undefined where the engine does not tell. */
  version(): Promise<string | undefined>;
  /** Whether each question costs a journey to a server, so that all that is known to be asked is asked at once. */
  readonly isRemote?: boolean | undefined;
  /** Another object after the engine was connected to anew, which may have lost the last commits meanwhile; undefined where that cannot be. */
  readonly session?: object | undefined;
  /** Runs a query once, with all values bound. */
  rows<Row>(query: Compilable<Row>): Promise<Row[]>;
  /** Runs `body` inside a transaction; where it fails, nothing of it stays, and the transaction goes on. @throws what `body` throws. */
  savepoint<T>(body: () => T | Promise<T>): Promise<T>;
  /**
   * From now on calls `onWrite` with the account of each row that this connection writes to these tables, also where the transaction is
   * undone; null for what all accounts have in common. Not there where the engine cannot tell.
   */
  noteWrites?(tables: readonly string[], onWrite: (account: string | null) => void): void;
}

/** One consistent state of a mirror. Code above `store/` only passes it to reports. */
export type Snapshot = Connection;

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
    if (isArgument(value)) super.appendValue(value);
    else this.appendImmediateValue(value);
  }
}

/** Whether a value of a statement is an argument, and no constant. @throws Error for a text that may not stand in a statement. */
export function isArgument(value: unknown): boolean {
  if (value instanceof Placeholder) return true;
  if (typeof value === 'string' && !plainWords.test(value))
    throw new Error('A statement contains a text that is not a constant of the source code.');
  return false;
}

const sqliteCompiler = new StatementCompiler();

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

/**
 * Asks one question about each item: a server all at once, a file when the answer is wanted. Nothing may be written meanwhile that changes the
 * answers.
 */
export function asking<Item, Answer>(
  db: Connection,
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer>,
): (item: Item) => Promise<Answer> {
  if (db.isRemote !== true) return ask;
  const asked = new Map(items.map((item) => [item, ask(item)]));
  // A failure is met where the answer is wanted; those that nobody wants fail the transaction.
  for (const answer of asked.values()) answer.catch(() => undefined);
  return (item) => asked.get(item) ?? ask(item);
}

/**
 * The results of `work` on each item: on a server all at once, so that their questions travel together, in a file one after the other. So none
 * may read what another writes. @throws the first failure, when nothing is under way any more.
 */
export async function each<Item, Result>(
  db: Connection,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  if (db.isRemote !== true) return inOrder(items, work);
  const outcomes = await Promise.allSettled(items.map(work));
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/**
 * A function that hands an item to `work`, which returns one result for each of them, in order: on a server all that come at the same time,
 * because each transaction costs journeys, in a file each by itself.
 */
export function together<Item, Result>(
  db: Connection,
  clock: Pick<Clock, 'yield'>,
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  if (db.isRemote === true) return inBatches(clock, work);
  return async (item) => (await work([item]))[0] as Result;
}

/** What stands between the words of a statement: the name of an argument, a constant, or more words. */
export type Part<Args> = (keyof Args & string) | number | RawBuilder<unknown>;

/** A statement in words, in which the name of an argument stands for its value: `… WHERE id = ${'id'}`. */
export function worded<Args>(
  words: TemplateStringsArray,
  parts: readonly Part<Args>[],
): (at: At<Args>) => RawBuilder<unknown> {
  return (at) => sql(words, ...parts.map((part) => (typeof part === 'string' ? at(part) : part)));
}

/** A statement of an operation, as `Connection.prepare`: in words, `statement(db)<Args, Row>\`SELECT …\``, or as it is built. */
export function statement(
  db: Connection,
): <Args extends object, Row = unknown>(
  words: TemplateStringsArray,
  ...parts: readonly Part<Args>[]
) => Statement<Args, Row>;
export function statement<Args extends object, Row = unknown>(
  db: Connection,
  build: (at: At<Args>) => Description<Row>,
): Statement<Args, Row>;
export function statement<Args extends object, Row>(
  db: Connection,
  build?: (at: At<Args>) => Description<Row>,
): unknown {
  if (build) return db.prepare(build);
  return (words: TemplateStringsArray, ...parts: readonly Part<Args>[]) => db.prepare(worded(words, parts));
}

/** What is done over one connection. Each statement of it is a field, with its text and the types of its arguments and rows. */
export abstract class Operations {
  protected readonly db: Connection;

  constructor(db: Connection) {
    this.db = db;
  }
}

/** What is made once for each connection, and kept as long as it: statements of reports that are asked again and again. */
export function ofConnection<T>(make: (db: Connection) => T): (db: Connection) => T {
  const made = new WeakMap<Connection, T>();
  return (db) => {
    const known = made.get(db) ?? make(db);
    made.set(db, known);
    return known;
  };
}

/** The SQL, and the names of its arguments in their order. */
export function compiled<Args extends object>(
  build: (at: At<Args>) => Description,
  compiler: QueryCompiler = sqliteCompiler,
): {
  readonly text: string;
  readonly names: readonly (keyof Args & string)[];
} {
  const at: At<Args> = (name) => sql.val(new Placeholder(name) as never);
  const node = build(at).toOperationNode() as RootOperationNode;
  const { sql: text, parameters } = compiler.compileQuery(node, createQueryId());
  return { text, names: (parameters as readonly Placeholder[]).map(({ name }) => name as keyof Args & string) };
}

/** As a LIMIT: all rows. PostgreSQL knows no negative one. */
export const noLimit = 2 ** 31 - 1;

/** The numbers of an argument that is a JSON array, for `IN`. */
export function numbersIn(json: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(SELECT CAST(value AS BIGINT) FROM json_each(${json}))`;
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

/** As `Connection.rows`. */
export function runQuery<Row>(db: Connection, query: Compilable<Row>): Promise<Row[]> {
  return db.rows(query);
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
