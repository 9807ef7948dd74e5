/** Which rows are exported: those of a view, or of a query that only reads. */
import { MirrorError } from '../../domain/errors.ts';
import { withoutBlobs } from '../sqlite/blobs.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';
import { readingStatement, type ReadingStatement } from '../sqlite/reading-statement.ts';

/** A view or table of the mirror, or a query; the view `vendor_overview` where neither is named. */
export interface RowSource {
  readonly view?: string | undefined;
  readonly query?: string | undefined;
}

export type Cell = string | number | bigint | null;

export interface ExportedRows {
  readonly columns: readonly { readonly name: string; readonly type: string | null }[];
  /** Read while they are taken, against one state of the mirror. */
  readonly rows: Iterable<readonly Cell[]>;
  /** Lets go of the mirror, wherever the reading stopped. */
  close(): void;
}

/** @throws MirrorError `usage` where there is no such view, or the query does not only read. */
export function exportedRows(sqlite: Sqlite, { view, query }: RowSource): ExportedRows {
  const text = query ?? `SELECT * FROM "${knownView(sqlite, view ?? 'vendor_overview')}"`;
  const statement = readingStatement(sqlite, text);
  const rows = cellsOf(statement);
  return {
    columns: statement.columns().map(({ name, type }) => ({ name, type })),
    rows,
    close: () => void rows.return(undefined),
  };
}

/** The connection is busy from the first row on. */
function* cellsOf(statement: ReadingStatement): Generator<readonly Cell[]> {
  const rows: Iterable<unknown> = statement.raw(true).safeIntegers(true).iterate();
  for (const row of rows) yield Object.values(withoutBlobs(Object.fromEntries(Object.entries(row as Cell[]))));
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
