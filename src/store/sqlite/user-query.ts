/**
 * Prepares a query that a user wrote, and that may only read. Uses `prepare` itself, which says whether a statement reads, and names its
 * columns.
 */
import { asMirrorError, MirrorError, withFullStop } from '../../domain/errors.ts';
import type { Connection } from '../sql/statement.ts';
import { fileOf } from './connection.ts';
import type { Sqlite } from './driver.ts';
import { withoutBlobs } from './blobs.ts';
import { isBusy, isDamage } from './sqlite-errors.ts';

export type ReadOnlyStatement = ReturnType<typeof prepared>;

function prepared(sqlite: Sqlite, text: string): ReturnType<typeof sqlite.prepare<unknown[], unknown[]>> {
  return sqlite.prepare<unknown[], unknown[]>(text);
}

/** Any other statement changes something, even if only the connection. */
export const reads = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[^]*?\*\/)*(?:SELECT|WITH|VALUES)\b/i;

/** Prepares the query. @throws MirrorError `usage` where it is not a single read-only statement. */
export function readOnlyStatement(sqlite: Sqlite, text: string): ReadOnlyStatement {
  if (!reads.test(text)) throw queryRefused('it must be a single SELECT, which changes nothing');
  let statement: ReadOnlyStatement;
  try {
    statement = prepared(sqlite, text);
  } catch (error) {
    throw queryRefused(asMirrorError(error).message);
  }
  if (!statement.readonly || !statement.reader) throw queryRefused('it must be a single SELECT, which changes nothing');
  return statement;
}

export function queryRefused(why: string): MirrorError {
  return new MirrorError('usage', withFullStop(`The query cannot be used: ${why}`));
}

/** @throws MirrorError `usage` for two columns with the same name, where rows are read by names: one of them would be lost. */
export function refuseSameNames(columns: readonly { readonly name: string }[]): void {
  const names = columns.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw new MirrorError(
      'usage',
      `Two columns are named ${twice}; give each a name of its own in the query, with AS.`,
    );
}

export type QueryValue = string | number | bigint | null;

/** By column name. */
export type QueryRow = Readonly<Record<string, QueryValue>>;

/** Values for `?` in order, or by name for `:name`. */
export type QueryParameters = readonly QueryValue[] | Readonly<Record<string, QueryValue>>;

/**
 * All rows of the query. An integer is a `bigint` only where a `number` would round it.
 * @throws MirrorError `usage` where it is not one SELECT, two columns have one name, or its parameters do not fit; SqliteError where the file cannot be read.
 */
export function userQuery(db: Connection, text: string, parameters: QueryParameters): QueryRow[] {
  const statement = readOnlyStatement(fileOf(db), text).safeIntegers(true);
  refuseSameNames(statement.columns());
  try {
    return statement.all(parameters).map((row) => exact(withoutBlobs(row) as unknown as QueryRow));
  } catch (error) {
    if (isBusy(error) || isDamage(error) || !(error instanceof Error)) throw error;
    throw queryRefused(error.message);
  }
}

function exact(row: QueryRow): QueryRow {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, rounded(value)]));
}

function rounded(value: QueryValue): QueryValue {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
