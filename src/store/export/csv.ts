/** Rows as a CSV file for spreadsheets. */
import { stringify } from 'csv-stringify';
import { pipeline, Readable } from 'node:stream';
import type { Cell, ExportedRows } from './export-rows.ts';

/**
 * The rows as RFC 4180 wants them, with a heading, in UTF-8 with a byte order mark: without one Excel takes it for another encoding. A text
 * that a spreadsheet would take for a formula gets a leading apostrophe.
 */
export function csvOf({ columns, rows }: ExportedRows): Readable {
  const lines = stringify({
    bom: true,
    record_delimiter: 'windows',
    quote_record_delimiter: true,
    cast: { string: (text) => ({ value: escapedFormula(text), quoted: /^'?\+/.test(text) }), bigint: String },
  });
  const named = lists(
    columns.map(({ name }) => name),
    rows,
  );
  // What fails in the rows ends the lines, and is told by them.
  return pipeline(Readable.from(named), lines, () => undefined);
}

async function* lists(names: readonly string[], rows: AsyncIterable<readonly Cell[]>): AsyncGenerator<readonly Cell[]> {
  yield names;
  yield* rows;
}

/** What a spreadsheet reads as a formula, also behind spaces and line breaks, and with wide signs. */
const formula = /^[\s\ufeff]*[=+\-@＝＋－＠]|^[\t\r]/;
/** Numbers and telephone numbers in which nothing can be computed: `-5.00`, `+49 (30) 1234`. */
const harmless = /^(?:[+-]?\d+(?:\.\d+)?|\+[\d ().]+)$/;

function escapedFormula(text: string): string {
  return formula.test(text) && !harmless.test(text) ? `'${text}` : text;
}
