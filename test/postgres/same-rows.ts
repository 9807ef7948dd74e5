/** Rows of both engines, to be compared. */

type Row = Record<string, unknown>;

/** Rows with the same values for the same things, in one order. */
export function sorted(rows: readonly Row[]): Row[] {
  const texts = rows.map((row) =>
    JSON.stringify(Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value, name)]))),
  );
  return texts.sort().map((text) => JSON.parse(text) as Row);
}

function plain(value: unknown, column: string): unknown {
  if (value instanceof Date) return value.toISOString().replace('T', ' ').slice(0, -1);
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'number')
    return Math.abs(value) < 1e9 ? Math.round(value * 1e6) / 1e6 + 0 : Number(value.toPrecision(12));
  if (typeof value !== 'string' || (column !== 'old' && column !== 'new')) return value;
  // SQLite gives the character NUL and half of a pair, in three bytes; and numbers with a fraction or an exponent, or beyond 64 bits, in its own words.
  return value
    .replaceAll(/[\0\ufffd]+/g, '\ufffd')
    .replaceAll(/-?\d+(\.\d+)?(e[+-]?\d+)?/gi, (number) => String(Number(Number(number).toPrecision(12))));
}
