/** Rows as JSON: one array, or one object on each line. */
import { Readable } from 'node:stream';
import type { Cell, ExportedRows } from './export-rows.ts';

/** One array, with one object on each line. */
export function jsonOf(exported: ExportedRows): Readable {
  return Readable.from(inArray(objects(exported)));
}

/** One object on each line. */
export function ndjsonOf(exported: ExportedRows): Readable {
  return Readable.from(eachOnALine(objects(exported)));
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

async function* objects({ columns, rows }: ExportedRows): AsyncGenerator<string> {
  for await (const row of rows)
    yield JSON.stringify(
      Object.fromEntries(columns.map(({ name, type }, at) => [name, jsonValue(row[at] ?? null, type)])),
    );
}

/** BOOLEAN columns become true or false; integers that a number would round become text. */
function jsonValue(cell: Cell, type: string | null): unknown {
  if (type === 'BOOLEAN' && (cell === 0n || cell === 1n)) return cell === 1n;
  if (typeof cell !== 'bigint') return cell;
  return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell);
}
