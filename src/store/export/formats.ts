/**
 * Rows as CSV, JSON and Parquet; for the latter, the types of columns.
 *
 * Types of a `.parquet` are those that columns are declared with, or for a view those in the data dictionary; a computed column gets its
 * type from its values in the first row group (25,000 rows at most). Times have no zone, as in the mirror. Text in a time column that is not
 * a time is left empty, and counted on standard error or in the log; any other value of the wrong type is refused, because it comes from the
 * query. `hyparquet-writer` writes the file: JavaScript only, MIT, one dependency, 1 MB together. A million rows of fifteen columns took 18
 * s of processor time and at most 298 MB.
 *
 * What a spreadsheet would take for a formula in a `.csv` begins with an apostrophe, at the beginning of a text, and after what separates cells
 * in some country: most of Europe imports with semicolons, and then a comma or a quote inside a cell means nothing. Every other text is written as
 * it is: a spreadsheet reads `0042` as 42 and rounds a number of 20 digits unless that column is imported as text, but quotes would not change
 * that, and an apostrophe would make it another value for every other reader.
 */
import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import type { ColumnSource, ParquetWriter as Writer } from 'hyparquet-writer';
import { parseInstant, timestamp } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { jsonText } from '../../domain/steering.ts';
import type { ExportFormat } from '../../settings/export-format.ts';
import type { Cell, ExportedRows } from './export-rows.ts';

/** The type of a column in a typed format. */
export type ColumnKind = 'integer' | 'real' | 'boolean' | 'time' | 'text';

export interface TypedColumn {
  readonly name: string;
  /** Undefined where it is not declared; then the first values decide. */
  readonly kind: ColumnKind | undefined;
}

/** The result of a successful export. */
export interface Exported {
  /** Number of texts in time columns that are not times; a typed format leaves them empty. */
  readonly noTimes: number;
}

export type RowFormat = Exclude<ExportFormat, 'db'>;

type Rows = Pick<ExportedRows, 'columns' | 'rows'>;

const streams: Readonly<Record<Exclude<RowFormat, 'parquet'>, (rows: Rows) => Readable>> = {
  csv: csvOf,
  json: jsonOf,
  ndjson: ndjsonOf,
};

/** The rows in a format; the result is known once the bytes were read to their end. */
export function inFormat(rows: Rows, format: RowFormat): { readonly bytes: Readable; readonly exported: Exported } {
  const exported = { noTimes: 0 };
  if (format !== 'parquet') return { bytes: streams[format](rows), exported };
  const typed = rows.columns.map(({ name, type }) => ({ name, kind: kindOf(type) }));
  async function* pieces(): AsyncGenerator<Uint8Array> {
    Object.assign(exported, yield* parquetOf(typed, rows.rows));
  }
  return { bytes: Readable.from(pieces()), exported };
}

/** Rows as a CSV file for spreadsheets. */

/**
 * The rows as CSV (RFC 4180) with a header, in UTF-8 with a byte order mark, which Excel needs. Text that a spreadsheet would read as a
 * formula gets an apostrophe before it.
 */
function csvOf({ columns, rows }: Rows): Readable {
  const lines = stringify({
    bom: true,
    record_delimiter: 'windows',
    quote_record_delimiter: true,
    cast: {
      string: (text) => ({
        value: withoutFormulas(text),
        quoted: text.startsWith('+') || text.startsWith("'+") || separator.test(text),
      }),
      bigint: String,
    },
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

/** What shows nothing. Programs that drop it move a sign that stands behind it to the beginning. */
const invisible = '\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}';
const invisibleCharacters = new RegExp(`[${invisible}]`, 'gu');
/** What separates cells, or lines, for some reader. */
const separators = ';,\\t-\\r\\x85\\u2028\\u2029';
const separator = new RegExp(`[${separators}]`);
const afterSeparators = new RegExp(`(?<=[${separators}])(?<!\\r(?=\\n))`);

/** What spreadsheets calculate: signs, full-width ones too, at the beginning or behind spaces, line breaks and what is invisible. */
const formula = new RegExp(`^[\\s${invisible}]*[=+\\-@＝＋－＠]|^[${invisible}]*[\\t\\r]`, 'u');
/** A quote behind a separator may end at once. */
const laterFormula = new RegExp(`^["\\s${invisible}]*[=+\\-@＝＋－＠]`, 'u');
const anySign = /[=+\-@＝＋－＠\t\r]/;

/** `-5.00`, `-1,234.50`, `-1.5e-7`, and amounts as in `outstanding_text`: `-5.00 EUR; 3.10 USD`. */
const amount = /^ *[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?: [A-Za-z]{3})? *$/;
/** `+49 (30) 1234-5`, with an extension: nothing in it can name a cell or a function. */
const telephone = /^ *[+＋][\s()./–-]*\d[\d\s()./–-]*(?:(?:x|ext\.?) ?\d+ *)?$/;
/** Digits alone, or with a blank or a bracket between two: a spreadsheet would show the result of `+1-555-0100` instead. */
const notArithmetic = /^\D*\d+$|\d\s+\d|\d\s*\(|\)\s*\d/;

/**
 * A cell begins with the text, or behind a separator in it, and ends at any later one or at the end of a line: `-5` is no formula, but behind a
 * semicolon `-5,5*A1` is one where numbers have decimal commas.
 */
function withoutFormulas(text: string): string {
  if (!anySign.test(text)) return text;
  const parts = text.split(afterSeparators);
  let harmless = true;
  for (let nth = parts.length - 1; nth >= 0; nth--) {
    const part = parts[nth] ?? '';
    harmless = isNoFormula(part) && (harmless || part.endsWith('\n'));
    if (nth > 0 && !harmless && laterFormula.test(part)) parts[nth] = `'${part}`;
  }
  const written = parts.join('');
  return formula.test(text) && (!harmless || text.includes('\n')) ? `'${written}` : written;
}

function isNoFormula(part: string): boolean {
  const cell = part.replace(/\r?\n$|[,;]$/, '');
  if (separator.test(cell)) return false;
  const shown = cell.replace(invisibleCharacters, '');
  return /^\s*$/.test(shown) || amount.test(shown) || (telephone.test(shown) && notArithmetic.test(shown));
}

/** Rows as JSON: one array, or one object on each line. */

/** One array, with one object on each line. */
function jsonOf(rows: Rows): Readable {
  return Readable.from(inArray(objects(rows)));
}

/** One object on each line. */
function ndjsonOf(rows: Rows): Readable {
  return Readable.from(eachOnALine(objects(rows)));
}

async function* inArray(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let before = '[\n';
  for await (const text of texts) {
    yield before + text;
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

async function* eachOnALine(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) yield `${text}\n`;
}

async function* objects({ columns, rows }: Rows): AsyncGenerator<string> {
  for await (const row of rows)
    yield jsonText(Object.fromEntries(columns.map(({ name, type }, at) => [name, jsonValue(row[at] ?? null, type)])));
}

/** BOOLEAN columns become true or false; integers that a number would round become text. */
function jsonValue(cell: Cell, type: string | null): unknown {
  if (type === 'BOOLEAN' && (cell === 0n || cell === 1n)) return cell === 1n;
  if (typeof cell !== 'bigint') return cell;
  return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell);
}

/** Rows as a Parquet file, which keeps the types of its columns. */

type SchemaElement = Writer['schema'][number];

/** The Parquet type of each kind. Times have no zone, as in the mirror: ours are UTC, the service's are as it sent them. */
const elements: Readonly<Record<ColumnKind, Omit<SchemaElement, 'name'>>> = {
  integer: { type: 'INT64' },
  real: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  time: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MICROS' } },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
};

type SomeRows = Iterable<readonly Cell[]> | AsyncIterable<readonly Cell[]>;

/** A row group is written when it has this many rows or characters, so that memory is bounded. */
const maxRows = 25_000;
const maxCharacters = 8_000_000;

/** The pieces of the file, a group of rows at a time, then its end. @throws MirrorError `usage` for values of several kinds in a column. */
export async function* parquetOf(
  columns: readonly TypedColumn[],
  rows: SomeRows,
): AsyncGenerator<Uint8Array, Exported> {
  // Few exports need it.
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const bytes = new ByteWriter();
  const written = (): Uint8Array => {
    const piece = bytes.getBytes().slice();
    bytes.index = 0;
    return piece;
  };
  let file: { readonly known: readonly KnownColumn[]; readonly writer: Writer } | undefined;
  let noTimes = 0;
  const begun = (group: readonly (readonly Cell[])[]): NonNullable<typeof file> => {
    const known = columns.map(({ name, kind }, at) => ({
      name,
      kind: kind ?? kindOfValues(group.map((row) => row[at] ?? null)),
    }));
    const leaves = known.map(({ name, kind }) => ({ name, repetition_type: 'OPTIONAL', ...elements[kind] }) as const);
    const schema = [{ name: 'rows', num_children: leaves.length }, ...leaves];
    return { known, writer: new ParquetWriter({ writer: bytes, schema, createdBy: 'vendor-mirror' }) };
  };
  const write = (group: readonly (readonly Cell[])[]): void => {
    const { known, writer } = (file ??= begun(group));
    const columnData = known.map((column, at): ColumnSource => {
      const cells = group.map((row) => typed(row[at] ?? null, column));
      noTimes += cells.filter((cell) => cell === undefined).length;
      return { name: column.name, data: cells.map((cell): TypedCell => cell ?? null) };
    });
    void writer.write({ columnData, rowGroupSize: group.length });
  };
  for await (const group of inGroups(rows)) {
    write(group);
    yield written();
  }
  file ??= begun([]);
  void file.writer.finish();
  yield written();
  return { noTimes };
}

async function* inGroups(rows: SomeRows): AsyncGenerator<readonly (readonly Cell[])[]> {
  let group: (readonly Cell[])[] = [];
  let characters = 0;
  for await (const row of rows) {
    group.push(row);
    for (const cell of row) if (typeof cell === 'string') characters += cell.length;
    if (group.length < maxRows && characters < maxCharacters) continue;
    yield group;
    [group, characters] = [[], 0];
  }
  if (group.length > 0) yield group;
}

/** Types of columns in typed formats, and conversion of values. */

const declared: Readonly<Record<string, ColumnKind>> = {
  INTEGER: 'integer',
  REAL: 'real',
  BOOLEAN: 'boolean',
  TIMESTAMP: 'time',
  TEXT: 'text',
};

/** The kind of a declared type; undefined for a column that a query computes. */
function kindOf(type: string | null): ColumnKind | undefined {
  return type === null ? undefined : declared[type.toUpperCase()];
}

/** The kind that holds all of these values; text where there is none. */
function kindOfValues(values: readonly Cell[]): ColumnKind {
  const known = values.filter((value) => value !== null);
  if (known.length === 0 || known.some((value) => typeof value === 'string')) return 'text';
  return known.every((value) => typeof value === 'bigint') ? 'integer' : 'real';
}

/** A column whose kind is known by now. */
interface KnownColumn {
  readonly name: string;
  readonly kind: ColumnKind;
}

/** A converted value: times are microseconds since 1970. */
type TypedCell = string | number | bigint | boolean | null;

type Typing = (value: Exclude<Cell, null>) => TypedCell | undefined;

/** Each is undefined for a value that the kind cannot hold. */
const typings: Readonly<Record<ColumnKind, Typing>> = {
  integer: (value) => (typeof value === 'bigint' ? value : undefined),
  real(value) {
    if (typeof value === 'number') return value;
    return typeof value === 'bigint' && BigInt(Number(value)) === value ? Number(value) : undefined;
  },
  boolean: (value) => (value === 0n || value === 1n ? value === 1n : undefined),
  time: (value) => (typeof value === 'string' ? microseconds(value) : undefined),
  text: String,
};

/**
 * Converts a value to the type of its column.
 * @returns undefined for a text in a time column that is not a time, because the service's times are stored as it sent them.
 * @throws MirrorError `usage` where the value has another type than its column, which a query can cause.
 */
function typed(value: Cell, { name, kind }: KnownColumn): TypedCell | undefined {
  if (value === null) return null;
  const cell = typings[kind](value);
  if (cell === undefined && !(kind === 'time' && typeof value === 'string'))
    throw new MirrorError(
      'usage',
      `The column ${name} has values of several types: ${kindNames[kind]}, and ${String(value)}. Convert them in the query with CAST(… AS TEXT).`,
    );
  return cell;
}

const kindNames: Readonly<Record<ColumnKind, string>> = {
  integer: 'whole numbers',
  real: 'numbers',
  boolean: 'truth values',
  time: 'times',
  text: 'texts',
};

/** A date and a time; the parser would also accept texts that are not times. */
const moment = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}/;
const hasZone = /(?:Z|[+-]\d{2}:?\d{2})$/;

function microseconds(text: string): bigint | undefined {
  const ms = moment.test(text) ? parseInstant(text) : undefined;
  if (ms === undefined) return undefined;
  // The parser takes 30 February for a day in March.
  if (!hasZone.test(text) && timestamp(ms).slice(0, 16) !== text.slice(0, 16).replace('T', ' ')) return undefined;
  return BigInt(ms) * 1_000n;
}
