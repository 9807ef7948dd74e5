/** Runs a query that a user of the reader wrote. */
import { withoutBlobs } from './blobs.ts';
import type { Sqlite } from './driver.ts';
import { queryRefused, readOnlyStatement } from './read-only-statement.ts';
import { isBusy, isDamage } from './sqlite-errors.ts';

export type QueryValue = string | number | bigint | null;

/** By column name. */
export type QueryRow = Readonly<Record<string, QueryValue>>;

/** Values for `?` in order, or by name for `:name`. */
export type QueryParameters = readonly QueryValue[] | Readonly<Record<string, QueryValue>>;

/**
 * All rows of the query. An integer is a `bigint` only where a `number` would round it.
 * @throws MirrorError `usage` where it is not one SELECT, or its parameters do not fit; SqliteError where the file cannot be read.
 */
export function userQuery(sqlite: Sqlite, text: string, parameters: QueryParameters): QueryRow[] {
  const statement = readOnlyStatement(sqlite, text).safeIntegers(true);
  try {
    return statement.all(parameters).map((row) => exact(withoutBlobs(row) as unknown as QueryRow));
  } catch (error) {
    if (isBusy(error) || isDamage(error) || !(error instanceof Error)) throw error;
    throw queryRefused(error.message.replace(/\.$/, ''));
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
