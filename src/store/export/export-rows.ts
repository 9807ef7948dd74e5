/** Which rows are exported: those of a view, or of a query that only reads. */
import { MirrorError } from '../../domain/errors.ts';
import { withoutBlobs } from '../sqlite/blobs.ts';
import type { Database } from '../sqlite/database.ts';
import { SqliteError, type Sqlite } from '../sqlite/driver.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';
import { queryRefused, readingStatement } from '../sqlite/reading-statement.ts';
import { RowProcess } from './row-process.ts';

/** A view or table of the mirror, or a query; the view `vendor_overview` where neither is named. */
export interface RowSource {
  readonly view?: string | undefined;
  readonly query?: string | undefined;
}

export type Cell = string | number | bigint | null;

export interface ExportedRows {
  readonly columns: readonly { readonly name: string; readonly type: string | null }[];
  /** Read while they are taken, against one state of the mirror. */
  readonly rows: AsyncIterable<readonly Cell[]>;
  /** Lets go of the mirror, wherever the reading stopped. */
  close(): Promise<void>;
}

/** Rows that end with the `signal`. @throws MirrorError `usage` where there is no such view, or the query does not only read. */
export function exportedRows(
  { sqlite, path }: Database,
  { view, query }: RowSource,
  signal?: AbortSignal,
): ExportedRows {
  const text = query ?? `SELECT * FROM "${knownView(sqlite, view ?? 'vendor_overview')}"`;
  const statement = readingStatement(sqlite, text);
  const reading = new RowProcess(path, text, signal);
  return {
    columns: statement.columns().map(({ name, type }) => ({ name, type })),
    rows: cellsOf(reading),
    close: () => reading.close(),
  };
}

/** @throws MirrorError `usage` as `exportedRows`, without reading any. */
export function assertRowSource(sqlite: Sqlite, { view, query }: RowSource): void {
  if (view !== undefined) knownView(sqlite, view);
  if (query !== undefined) readingStatement(sqlite, query);
}

async function* cellsOf(reading: RowProcess): AsyncGenerator<readonly Cell[]> {
  try {
    for await (const row of reading.rows())
      yield Object.values(withoutBlobs(Object.fromEntries(Object.entries(row as Cell[]))));
  } catch (error) {
    const isOfQuery = error instanceof SqliteError && error.code === 'SQLITE_ERROR';
    throw isOfQuery ? queryRefused(error.message) : error;
  }
}

function knownView(sqlite: Sqlite, view: string): string {
  const known = plainStatement<object, { name: string }>(
    sqlite,
    "SELECT name FROM sqlite_schema WHERE type IN ('view', 'table') AND name NOT GLOB '[_]*' AND name NOT GLOB 'sqlite_*' ORDER BY type DESC, name",
  ).all({});
  if (known.some(({ name }) => name === view)) return view;
  throw new MirrorError(
    'usage',
    `The mirror has no view ${view}; there are ${known.map(({ name }) => name).join(', ')}.`,
  );
}
