/** Values that are no text where texts belong: other programs may write any bytes to the file, and a person must see that. */
/** The row with each blob in it as SQLite writes one: `x'c3a9'`. */
export function withoutBlobs<Row>(row: Row): Row {
  if (typeof row !== 'object' || row === null || !Object.values(row).some(isBlob)) return row;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isBlob(value) ? literal(value) : value]),
  ) as Row;
}

function isBlob(value: unknown): value is Buffer {
  return Buffer.isBuffer(value);
}

function literal(blob: Buffer): string {
  return `x'${blob.toString('hex')}'`;
}
