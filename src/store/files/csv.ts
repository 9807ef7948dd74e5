/** The view `vendor_overview` as a CSV file. By `prepare` itself: rows are streamed, and the statement names the columns. */
import { stringify } from 'csv-stringify';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { withoutBlobs } from '../sqlite/blobs.ts';
import type { Sqlite } from '../sqlite/driver.ts';

/**
 * Writes the overview to `path` as RFC 4180 wants it, in UTF-8, with a heading. A cell that a spreadsheet would take
 * for a formula (it begins with = + - @, tab or return) gets a leading apostrophe.
 */
export async function writeOverview(sqlite: Sqlite, path: string): Promise<void> {
  const overview = sqlite.prepare<[], Record<string, unknown>>(
    'SELECT * FROM vendor_overview ORDER BY account_id, vendorid',
  );
  await pipeline(
    Readable.from(shownRows(overview.iterate())),
    stringify({
      header: true,
      columns: overview.columns().map(({ name }) => name),
      record_delimiter: 'windows',
      quote_record_delimiter: true,
      escape_formulas: true,
    }),
    createWriteStream(path),
  );
}

function* shownRows<Row>(rows: Iterable<Row>): Generator<Row> {
  for (const row of rows) yield withoutBlobs(row);
}
