/** Rows as a CSV file for spreadsheets. */
import { stringify } from 'csv-stringify';
import { pipeline, Readable } from 'node:stream';
import type { Cell, ExportedRows } from './export-rows.ts';

/**
 * The rows as CSV (RFC 4180) with a header, in UTF-8 with a byte order mark, which Excel needs. Text that a spreadsheet would read as a
 * formula gets a leading apostrophe.
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
  // An error of the rows ends the stream, and is reported by it.
  return pipeline(Readable.from(named), lines, () => undefined);
}

async function* lists(names: readonly string[], rows: AsyncIterable<readonly Cell[]>): AsyncGenerator<readonly Cell[]> {
  yield names;
  yield* rows;
}

/** What spreadsheets read as a formula, also after spaces and line breaks, and with full-width signs. */
const formula = /^[\s\ufeff]*[=+\-@＝＋－＠]|^[\t\r]/;
/** Numbers and telephone numbers, which are not formulas: `-5.00`, `+49 (30) 1234`. */
const harmless = /^(?:[+-]?\d+(?:\.\d+)?|\+[\d ().]+)$/;

function escapedFormula(text: string): string {
  return formula.test(text) && !harmless.test(text) ? `'${text}` : text;
}
