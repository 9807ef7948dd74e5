/** A query in somebody's own words, which may only read. By `prepare` itself: the statement says what it does, and names its columns. */
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import type { Sqlite } from './driver.ts';

export type ReadingStatement = ReturnType<typeof prepared>;

function prepared(sqlite: Sqlite, text: string): ReturnType<typeof sqlite.prepare<unknown[], unknown[]>> {
  return sqlite.prepare<unknown[], unknown[]>(text);
}

/** What begins otherwise changes something, if only the connection. */
const reads = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[^]*?\*\/)*(?:SELECT|WITH|VALUES)\b/i;

/** @throws MirrorError `usage` where the text is not one statement that only reads. */
export function readingStatement(sqlite: Sqlite, text: string): ReadingStatement {
  if (!reads.test(text)) throw queryRefused('it is one SELECT, which changes nothing');
  let statement: ReadingStatement;
  try {
    statement = prepared(sqlite, text);
  } catch (error) {
    throw queryRefused(asMirrorError(error).message.replace(/\.$/, ''));
  }
  if (!statement.readonly || !statement.reader) throw queryRefused('it is one SELECT, which changes nothing');
  return statement;
}

/** The error that says why a query is not answered. */
export function queryRefused(why: string): MirrorError {
  return new MirrorError('usage', `The query cannot be used: ${why}.`);
}
