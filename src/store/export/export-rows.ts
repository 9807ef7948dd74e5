/** The rows to export: of a view, a table or a read-only query, which a child process reads. */
import { MirrorError } from '../../domain/errors.ts';
import { formatByEnding, type ExportFormat, type Publication } from '../../settings/export-format.ts';
import type { SqliteDatabase } from '../sqlite/database.ts';
import { SqliteError, type Sqlite } from '../sqlite/driver.ts';
import { queryRefused, readOnlyStatement, refuseSameNames } from '../sqlite/user-query.ts';
import type { Connection } from '../sql/statement.ts';
import { fileOf, fileStatement } from '../sqlite/connection.ts';

/** A view or table of the mirror, or a query; `vendor_overview` by default. */
export interface RowSource {
  readonly view?: string | undefined;
  readonly query?: string | undefined;
  readonly account?: string | undefined;
}

export type Cell = string | number | bigint | null;

export interface ExportedColumn {
  readonly name: string;
  /** The declared type, or that of the data dictionary; null for what a query computes. */
  readonly type: string | null;
}

/** A query that is known to only read. */
export interface RowQuery {
  readonly path: string;
  readonly query: string;
  readonly columns: readonly ExportedColumn[];
}

export interface ExportedRows {
  readonly columns: readonly ExportedColumn[];
  /** Read on demand, from one consistent state of the mirror. */
  readonly rows: AsyncIterable<readonly Cell[]>;
  /** Ends the reading and closes the mirror. */
  close(): Promise<void>;
}

/** @throws MirrorError `usage` where there is no such view, it has no accounts, or the query is not read-only. */
export function rowQuery(
  { sqlite, path }: Pick<SqliteDatabase, 'sqlite' | 'path'>,
  { view, query, account }: RowSource,
): RowQuery {
  if (query !== undefined && account !== undefined)
    throw new MirrorError('usage', 'A query chooses its rows itself: name the account in it, and leave --account out.');
  if (query !== undefined) return { path, query, columns: columnsOf(sqlite, query) };
  const known = knownView(sqlite, view ?? 'vendor_overview');
  const text = `SELECT * FROM "${known}"`;
  const types = new Map(
    fileStatement(sqlite)<{ known: string }, { name: string; type: string | null }>`
      SELECT column_name AS name, type FROM data_dictionary WHERE name = ${'known'}`
      .all({ known })
      .map(({ name, type }) => [name, type]),
  );
  // A view's expressions have no declared type.
  const columns = columnsOf(sqlite, text).map(({ name, type }) => ({ name, type: type ?? types.get(name) ?? null }));
  if (account === undefined) return { path, query: text, columns };
  if (columns.every(({ name }) => name !== 'account_id'))
    throw new MirrorError('usage', `The rows of ${known} are of no account: leave --account out.`);
  return { path, query: `${text} WHERE account_id = '${account.replaceAll("'", "''")}'`, columns };
}

function columnsOf(sqlite: Sqlite, text: string): ExportedColumn[] {
  return readOnlyStatement(sqlite, text)
    .columns()
    .map(({ name, type }) => ({ name, type }));
}

/** @throws MirrorError `usage` as `rowQuery` and `refuseLostColumns`, without reading any. */
export function assertPublishable(db: Connection, { path, format, view, query }: Publication): void {
  const sqlite = fileOf(db);
  if (view !== undefined) knownView(sqlite, view);
  if (query !== undefined) refuseLostColumns(columnsOf(sqlite, query), format ?? formatByEnding(path));
}

/** @throws MirrorError `usage` for two columns with the same name, of which every format but CSV would keep one. */
export function refuseLostColumns(columns: readonly ExportedColumn[], format: ExportFormat | undefined): void {
  if (format !== 'csv') refuseSameNames(columns);
}

/** Of SQLite, and of the process that reads its rows. */
const tooLarge: ReadonlySet<string> = new Set(['SQLITE_TOOBIG', 'SQLITE_NOMEM', 'ERR_STRING_TOO_LONG']);

/** An error of SQLite in a running query is the fault of the query. */
export function ofQuery(error: unknown): unknown {
  if (!(error instanceof SqliteError)) return error;
  if (tooLarge.has(error.code)) return queryRefused('a value of it is too large');
  return error.code === 'SQLITE_ERROR' ? queryRefused(error.message) : error;
}

function knownView(sqlite: Sqlite, view: string): string {
  const named = fileStatement(sqlite)<object, { name: string }>`
    SELECT name FROM sqlite_schema
    WHERE type IN ('view', 'table') AND name NOT GLOB '[_]*' AND name NOT GLOB 'sqlite_*' ORDER BY type DESC, name`;
  const known = named.all({});
  if (known.some(({ name }) => name === view)) return view;
  throw new MirrorError('usage', `The mirror has no view ${view}; it has ${known.map(({ name }) => name).join(', ')}.`);
}
