/** The rows to export: of a view, a table or a read-only query. */
import { MirrorError } from '../../domain/errors.ts';
import { cellsWithoutBlobs } from '../sqlite/blobs.ts';
import type { Database } from '../sqlite/database.ts';
import { SqliteError, type Sqlite } from '../sqlite/driver.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';
import { queryRefused, readOnlyStatement } from '../sqlite/read-only-statement.ts';
import { RowProcess } from './row-process.ts';

/** A view or table of the mirror, or a query; `vendor_overview` by default. */
export interface RowSource {
  readonly view?: string | undefined;
  readonly query?: string | undefined;
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
  readonly text: string;
  readonly columns: readonly ExportedColumn[];
}

export interface ExportedRows {
  readonly columns: readonly ExportedColumn[];
  /** Read on demand, from one consistent state of the mirror. */
  readonly rows: AsyncIterable<readonly Cell[]>;
  /** Ends the reading and closes the mirror. */
  close(): Promise<void>;
}

/** @throws MirrorError `usage` where there is no such view, or the query is not read-only. */
export function rowQuery({ sqlite, path }: Pick<Database, 'sqlite' | 'path'>, { view, query }: RowSource): RowQuery {
  if (query !== undefined) return { path, text: query, columns: columnsOf(sqlite, query) };
  const known = knownView(sqlite, view ?? 'vendor_overview');
  const text = `SELECT * FROM "${known}"`;
  const types = new Map(
    plainStatement<{ known: string }, { name: string; type: string | null }>(
      sqlite,
      'SELECT column_name AS name, type FROM data_dictionary WHERE name = :known',
    )
      .all({ known })
      .map(({ name, type }) => [name, type]),
  );
  // A view's expressions have no declared type.
  const columns = columnsOf(sqlite, text).map(({ name, type }) => ({ name, type: type ?? types.get(name) ?? null }));
  return { path, text, columns };
}

function columnsOf(sqlite: Sqlite, text: string): ExportedColumn[] {
  return readOnlyStatement(sqlite, text)
    .columns()
    .map(({ name, type }) => ({ name, type }));
}

/**
 * Opens the rows; the signal aborts the reading.
 * @throws MirrorError `usage` where there is no such view, or the query is not read-only.
 */
export function exportedRows({ path, text, columns }: RowQuery, signal?: AbortSignal): ExportedRows {
  const reading = new RowProcess(path, text, signal);
  return { columns, rows: cellsOf(reading), close: () => reading.close() };
}

/** @throws MirrorError `usage` as `rowQuery`, without reading any. */
export function assertRowSource(sqlite: Sqlite, { view, query }: RowSource): void {
  if (view !== undefined) knownView(sqlite, view);
  if (query !== undefined) readOnlyStatement(sqlite, query);
}

async function* cellsOf(reading: RowProcess): AsyncGenerator<readonly Cell[]> {
  try {
    for await (const row of reading.rows()) yield cellsWithoutBlobs(row as (Cell | Buffer)[]);
  } catch (error) {
    throw ofQuery(error);
  }
}

/** An error of SQLite in a running query is the fault of the query. */
export function ofQuery(error: unknown): unknown {
  const isOfQuery = error instanceof SqliteError && error.code === 'SQLITE_ERROR';
  return isOfQuery ? queryRefused(error.message) : error;
}

function knownView(sqlite: Sqlite, view: string): string {
  const known = plainStatement<object, { name: string }>(
    sqlite,
    "SELECT name FROM sqlite_schema WHERE type IN ('view', 'table') AND name NOT GLOB '[_]*' AND name NOT GLOB 'sqlite_*' ORDER BY type DESC, name",
  ).all({});
  if (known.some(({ name }) => name === view)) return view;
  throw new MirrorError('usage', `The mirror has no view ${view}; it has ${known.map(({ name }) => name).join(', ')}.`);
}
