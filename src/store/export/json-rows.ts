/** Rows as JSON: one document, or one object a line. */
import { Readable } from 'node:stream';
import type { Cell, ExportedRows } from './export-rows.ts';

/** One array, an object a line. */
export function jsonOf(exported: ExportedRows): Readable {
  return Readable.from(inArray(objects(exported)));
}

/** An object a line. */
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

/** Truth values are what their columns say they are; a whole number that JSON's readers would round is a text. */
function jsonValue(cell: Cell, type: string | null): unknown {
  if (type === 'BOOLEAN' && (cell === 0n || cell === 1n)) return cell === 1n;
  if (typeof cell !== 'bigint') return cell;
  return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell);
}
