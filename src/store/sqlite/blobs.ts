/** Shows blobs in text columns, which other programs may have written. */

/** The row with each blob as SQLite writes it: `x'c3a9'`. */
export function withoutBlobs<Row>(row: Row): Row {
  if (typeof row !== 'object' || row === null || !Object.values(row).some(isBlob)) return row;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isBlob(value) ? literal(value) : value]),
  ) as Row;
}

/** The values, with blobs in the same form. */
export function cellsWithoutBlobs<Cell>(cells: readonly (Cell | Buffer)[]): (Cell | string)[] {
  return cells.map((cell) => (isBlob(cell) ? literal(cell) : cell));
}

function isBlob(value: unknown): value is Buffer {
  return Buffer.isBuffer(value);
}

function literal(blob: Buffer): string {
  return `x'${blob.toString('hex')}'`;
}
