/** The formats of exports: a whole copy, or rows. */
import { extname } from 'node:path';

export const exportFormats = ['db', 'csv', 'json', 'ndjson', 'parquet'] as const;
export type ExportFormat = (typeof exportFormats)[number];

const endings: Readonly<Record<string, ExportFormat>> = {
  '.db': 'db',
  '.sqlite': 'db',
  '.sqlite3': 'db',
  '.csv': 'csv',
  '.json': 'json',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.parquet': 'parquet',
};

/** The format of a file by its ending; undefined for an unknown ending. */
export function formatByEnding(file: string): ExportFormat | undefined {
  return endings[extname(file).toLowerCase()];
}

/** A file for others, and what goes into it: the whole mirror as a `.db`; else a view or table, or a query's rows. */
export interface Publication {
  readonly path: string;
  /** Default: that of the file's ending. */
  readonly format?: ExportFormat | undefined;
  readonly view?: string | undefined;
  readonly query?: string | undefined;
}
