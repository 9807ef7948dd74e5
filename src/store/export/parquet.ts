/** Rows as a Parquet file, which keeps the types of its columns. */
import type { ColumnSource, ParquetWriter as Writer } from 'hyparquet-writer';
import type { Cell } from './export-rows.ts';
import type { ColumnKind, Exported, TypedColumn } from './export-job.ts';
import { kindOfValues, typed, type KnownColumn, type TypedCell } from './column-kinds.ts';

type SchemaElement = Writer['schema'][number];

/** The Parquet type of each kind. Times have no zone, as in the mirror: ours are UTC, the service's are as it sent them. */
const elements: Readonly<Record<ColumnKind, Omit<SchemaElement, 'name'>>> = {
  integer: { type: 'INT64' },
  real: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  time: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MICROS' } },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
};

/** A row group is written when it has this many rows or characters, so that memory is bounded. */
const mostRows = 25_000;
const mostCharacters = 8_000_000;

/** The pieces of the file, a group of rows at a time, then its end. @throws MirrorError `usage` for values of several kinds in a column. */
export async function* parquetOf(
  columns: readonly TypedColumn[],
  rows: Iterable<readonly Cell[]>,
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
  for (const group of inGroups(rows)) {
    write(group);
    yield written();
  }
  file ??= begun([]);
  void file.writer.finish();
  yield written();
  return { noTimes };
}

function* inGroups(rows: Iterable<readonly Cell[]>): Generator<readonly (readonly Cell[])[]> {
  let group: (readonly Cell[])[] = [];
  let characters = 0;
  for (const row of rows) {
    group.push(row);
    for (const cell of row) if (typeof cell === 'string') characters += cell.length;
    if (group.length < mostRows && characters < mostCharacters) continue;
    yield group;
    [group, characters] = [[], 0];
  }
  if (group.length > 0) yield group;
}
