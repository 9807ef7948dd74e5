/** Shows blobs in text columns, which other programs may have written. */
import { constants } from 'node:buffer';
import { MirrorError } from '../../domain/errors.ts';

/** As many bytes as the longest text can show. */
const largest = (constants.MAX_STRING_LENGTH - "x''".length) / 2;

/** The row with each blob as SQLite writes it: `x'c3a9'`. */
export function withoutBlobs<Row>(row: Row): Row {
  if (typeof row !== 'object' || row === null || !hasBlob(row)) return row;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isBlob(value) ? literal(value) : value]),
  ) as Row;
}

/** Asked of every row that is shown, so without an array of its values. */
function hasBlob(row: object): boolean {
  for (const name in row) if (isBlob((row as Record<string, unknown>)[name])) return true;
  return false;
}

/** The values, with blobs in the same form. */
export function cellsWithoutBlobs<Cell>(cells: readonly (Cell | Buffer)[]): (Cell | string)[] {
  return cells.map((cell) => (isBlob(cell) ? literal(cell) : cell));
}

function isBlob(value: unknown): value is Buffer {
  return typeof value === 'object' && Buffer.isBuffer(value);
}

function literal(blob: Buffer): string {
  if (blob.length > largest) throw new MirrorError('usage', 'The query cannot be used: a value of it is too large.');
  return `x'${blob.toString('hex')}'`;
}
