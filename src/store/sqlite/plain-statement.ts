/**
 * Statements in plain SQL with named arguments: for what Kysely cannot express, what runs before tables exist, and what must not wait for
 * Kysely to load.
 */
import type { Sqlite } from './driver.ts';

export interface Statement<Args, Row = unknown> {
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

/** Prepares the SQL at its first use. Arguments are named `:name` in it. */
export function plainStatement<Args extends object, Row = unknown>(sqlite: Sqlite, text: string): Statement<Args, Row> {
  return preparedOnce(() => {
    const prepared = sqlite.prepare<[Args], Row>(text);
    return {
      run: (args) => prepared.run(args).changes,
      get: (args) => prepared.get(args),
      all: (args) => prepared.all(args),
    };
  });
}

/** Prepares a statement at its first use, because most commands use few of all statements. */
export function preparedOnce<Args, Row>(prepare: () => Statement<Args, Row>): Statement<Args, Row> {
  let known: Statement<Args, Row> | undefined;
  const prepared = (): Statement<Args, Row> => (known ??= prepare());
  return {
    run: (args) => prepared().run(args),
    get: (args) => prepared().get(args),
    all: (args) => prepared().all(args),
  };
}

/** The row with each blob as SQLite writes it: `x'c3a9'`. */
export function withoutBlobs<Row>(row: Row): Row {
  if (typeof row !== 'object' || row === null || !Object.values(row).some(isBlob)) return row;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isBlob(value) ? literal(value) : value]),
  ) as Row;
}

/** The values, with blobs in the same form. */
export function cellsWithoutBlobs<Cell>(cells: readonly (Cell | Buffer)[]): (Cell | string)[] {
  return cells.map((cell) => (isBlob(cell) ? literal(cell) : cell));
}

function isBlob(value: unknown): value is Buffer {
  return Buffer.isBuffer(value);
}

function literal(blob: Buffer): string {
  return `x'${blob.toString('hex')}'`;
}

/** One consistent state of a file. Code above `store/` only passes it to reports. */
export type Snapshot = Sqlite;

/** Runs a report on one consistent state. */
export type Query = <T>(report: (snapshot: Snapshot) => T) => Promise<T>;
