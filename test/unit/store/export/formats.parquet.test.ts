import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import type { ColumnKind } from '../../../../src/store/export/formats.ts';
import type { Cell } from '../../../../src/store/export/export-rows.ts';
import { parquetOf } from '../../../../src/store/export/formats.ts';

interface Written {
  readonly file: ArrayBuffer;
  readonly pieces: readonly Uint8Array[];
  readonly noTimes: number;
}

async function written(
  columns: Readonly<Record<string, ColumnKind | undefined>>,
  rows: Iterable<readonly Cell[]>,
): Promise<Written> {
  const writing = parquetOf(
    Object.entries(columns).map(([name, kind]) => ({ name, kind })),
    rows,
  );
  const pieces: Uint8Array[] = [];
  for (;;) {
    const { value, done } = await writing.next();
    if (done) return { file: new Uint8Array(Buffer.concat(pieces)).buffer, pieces, noTimes: value.noTimes };
    pieces.push(value);
  }
}

const rowsOf = ({ file }: Written): Promise<Record<string, unknown>[]> => parquetReadObjects({ file });

/** Names and types, as the file says them. */
const typesOf = ({ file }: Written): Record<string, string> =>
  Object.fromEntries(
    parquetMetadata(file)
      .schema.slice(1)
      .map(({ name, type, logical_type }) => [name, [type, logical_type?.type].filter(Boolean).join(' ')]),
  );

describe('rows as Parquet', () => {
  it('have the types of their columns, with 64-bit integers unchanged', async () => {
    const file = await written({ id: 'integer', owed: 'real', is: 'boolean', at: 'time', name: 'text' }, [
      [9_223_372_036_854_775_807n, 0.1, 1n, '2026-11-20 18:17:00.123', 'Müller 🧾'],
      [-9_223_372_036_854_775_808n, 5n, 0n, '2026-11-20T18:17:00+01:00', ''],
      [null, null, null, null, null],
    ]);
    expect(typesOf(file)).toEqual({
      id: 'INT64',
      owed: 'DOUBLE',
      is: 'BOOLEAN',
      at: 'INT64 TIMESTAMP',
      name: 'BYTE_ARRAY STRING',
    });
    expect(await rowsOf(file)).toEqual([
      {
        ...{ id: 9_223_372_036_854_775_807n, owed: 0.1, is: true, name: 'Müller 🧾' },
        at: new Date('2026-11-20T18:17:00.123Z'),
      },
      {
        ...{ id: -9_223_372_036_854_775_808n, owed: 5, is: false, name: '' },
        at: new Date('2026-11-20T17:17:00Z'),
      },
      { id: null, owed: null, is: null, at: null, name: null },
    ]);
  });

  it('have times without a zone, in microseconds', async () => {
    const { schema } = parquetMetadata((await written({ at: 'time' }, [])).file);
    expect(schema[1]?.logical_type).toEqual({ type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MICROS' });
  });

  it.each(['', 'soon', '0000-00-00 00:00:00', '2026-02-30 00:00:00', '2026-11-20 25:00:00', '2026', 'May 5 2026'])(
    'keep %j as null in a column of times, and count it',
    async (text) => {
      const file = await written({ at: 'time' }, [['2026-02-28 00:00:00'], [text]]);
      expect(await rowsOf(file)).toEqual([{ at: new Date('2026-02-28T00:00:00Z') }, { at: null }]);
      expect(file.noTimes).toBe(1);
    },
  );

  it.each<[string, readonly Cell[], string, readonly unknown[]]>([
    ['whole numbers', [null, 1n, 2n], 'INT64', [null, 1n, 2n]],
    ['numbers', [1n, 0.5], 'DOUBLE', [1, 0.5]],
    ['texts where one is a text', [1n, 'x', 0.5], 'BYTE_ARRAY STRING', ['1', 'x', '0.5']],
    ['texts where all is empty', [null], 'BYTE_ARRAY STRING', [null]],
  ])('use %s for a column without a declared type', async (_, cells, type, values) => {
    const file = await written(
      { computed: undefined },
      cells.map((cell) => [cell]),
    );
    expect(typesOf(file)).toEqual({ computed: type });
    expect((await rowsOf(file)).map(({ computed }) => computed)).toEqual(values);
  });

  it.each<[ColumnKind, Cell]>([
    ['integer', 'x'],
    ['integer', 0.5],
    ['real', 'x'],
    ['real', 9_007_199_254_740_993n],
    ['boolean', 2n],
    ['time', 5n],
  ])('are refused if a column of kind %s contains %s, with a remedy', async (kind, cell) => {
    await expect(written({ odd: kind }, [[cell]])).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/^The column odd has values of several types: .*CAST\(… AS TEXT\)/) as unknown,
    });
  });

  it('are a complete file even without rows', async () => {
    const file = await written({ id: 'integer', computed: undefined }, []);
    expect(await rowsOf(file)).toEqual([]);
    expect(typesOf(file)).toEqual({ id: 'INT64', computed: 'BYTE_ARRAY STRING' });
  });

  it('are written in groups, so that few are in memory at once', async () => {
    let taken = 0;
    function* rows(): Generator<readonly Cell[]> {
      for (; taken < 60_000; taken++) yield [BigInt(taken)];
    }
    const writing = parquetOf([{ name: 'id', kind: 'integer' }], rows());
    await writing.next();
    expect(taken).toBeLessThanOrEqual(25_000);
    await writing.next();
    expect(taken).toBeLessThanOrEqual(50_000);
    function* large(): Generator<readonly Cell[]> {
      for (taken = 0; taken < 100; taken++) yield ['x'.repeat(1_000_000)];
    }
    await parquetOf([{ name: 'raw', kind: 'text' }], large()).next();
    expect(taken).toBeLessThanOrEqual(8);
  });

  it('are read back unchanged across the bounds of groups', async () => {
    const rows = Array.from({ length: 25_003 }, (_, at) => [BigInt(at), at % 7 === 0 ? null : `name ${at % 100}`]);
    const file = await written({ id: 'integer', name: undefined }, rows);
    expect(parquetMetadata(file.file).row_groups.map(({ num_rows }) => num_rows)).toEqual([25_000n, 3n]);
    const read = await rowsOf(file);
    expect(read).toHaveLength(rows.length);
    expect(read.every(({ id, name }, at) => id === rows[at]![0] && name === rows[at]![1])).toBe(true);
  });

  it('are read back unchanged, whatever they contain', async () => {
    const integer = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const text = fc.string({ unit: 'grapheme' }).map((value) => value.toWellFormed());
    const row = fc.tuple(fc.option(integer), fc.option(fc.double({ noNaN: true })), fc.option(text));
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 30 }), async (rows) => {
        const read = await rowsOf(await written({ a: 'integer', b: 'real', c: 'text' }, rows));
        expect(read).toEqual(rows.map(([a, b, c]) => ({ a, b, c })));
      }),
      { numRuns: 100 },
    );
  });
});
