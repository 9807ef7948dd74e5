/**
 * Prepares a query that a user wrote, and that may only read. Uses `prepare` itself, which says whether a statement reads, and names its
 * columns.
 */
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import type { Sqlite } from './driver.ts';

export type ReadOnlyStatement = ReturnType<typeof prepared>;

function prepared(sqlite: Sqlite, text: string): ReturnType<typeof sqlite.prepare<unknown[], unknown[]>> {
  return sqlite.prepare<unknown[], unknown[]>(text);
}

/** Any other statement changes something, even if only the connection. */
const reads = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[^]*?\*\/)*(?:SELECT|WITH|VALUES)\b/i;

/** Prepares the query. @throws MirrorError `usage` where it is not a single read-only statement. */
export function readOnlyStatement(sqlite: Sqlite, text: string): ReadOnlyStatement {
  if (!reads.test(text)) throw queryRefused('it must be a single SELECT, which changes nothing');
  let statement: ReadOnlyStatement;
  try {
    statement = prepared(sqlite, text);
  } catch (error) {
    throw queryRefused(asMirrorError(error).message.replace(/\.$/, ''));
  }
  if (!statement.readonly || !statement.reader) throw queryRefused('it must be a single SELECT, which changes nothing');
  return statement;
}

/** The error of a query that cannot be used. */
export function queryRefused(why: string): MirrorError {
  return new MirrorError('usage', `The query cannot be used: ${why}.`);
}
