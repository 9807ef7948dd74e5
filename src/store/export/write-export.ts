/** Exports of the mirror in all formats. */
import { extname } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../domain/clock.ts';
import { MirrorError, errorSentence } from '../../domain/errors.ts';
import { formatByEnding, type ExportFormat } from '../../settings/export-format.ts';
import { replaceDatabase, replaceFile, replacementFor, writerTo, type CopyOptions } from '../files/replace-file.ts';
import type { SqliteDatabase } from '../sqlite/database.ts';
import { isFailedSync } from '../sqlite/sqlite-errors.ts';
import { ExportProcess, type Exported } from './export-process.ts';
import {
  exportedRows,
  ofQuery,
  refuseLostColumns,
  rowQuery,
  type ExportedRows,
  type RowSource,
} from './export-rows.ts';
import { csvOf, jsonOf, kindOf, ndjsonOf, parquetOf } from './formats.ts';

const streams: Readonly<Record<Exclude<ExportFormat, 'db' | 'parquet'>, (rows: ExportedRows) => Readable>> = {
  csv: csvOf,
  json: jsonOf,
  ndjson: ndjsonOf,
};

export interface Export extends RowSource {
  /** The format; by default that of the file's extension. */
  readonly format?: ExportFormat | undefined;
}

/** The format of a file by its extension. @throws MirrorError `usage` for an unknown one. */
function formatOf(file: string): ExportFormat {
  const format = formatByEnding(file);
  if (format) return format;
  const ending = extname(file).toLowerCase();
  const problem = ending === '' ? 'has no extension' : `has the unknown extension ${ending}`;
  throw new MirrorError('usage', `${file} ${problem}; use .db, .csv, .json, .ndjson or .parquet, or set --format.`);
}

/** A mirror that is no file, whose rows are read by whoever knows its engine. */
export interface RowsElsewhere {
  /** Where it is, as messages say it. */
  readonly path: string;
  /** As `rowQuery` and `exportedRows` of a file. */
  rows(what: RowSource, signal: AbortSignal | undefined): Promise<ExportedRows>;
}

/** A mirror, whichever engine holds it. */
export type ExportedMirror = SqliteDatabase | RowsElsewhere;

/** Rows in a format, as a stream. */
interface RowStream {
  readonly bytes: Readable;
  /** The result, once the stream was read to its end. */
  exported(): Promise<Exported>;
  /** Stops reading, and closes the mirror. */
  close(): Promise<void>;
}

type Rows = Export & { readonly format: Exclude<ExportFormat, 'db'> };

async function streamElsewhere(mirror: RowsElsewhere, what: Rows, signal: AbortSignal | undefined): Promise<RowStream> {
  const rows = await mirror.rows(what, signal);
  const close = (): Promise<void> => rows.close();
  try {
    refuseLostColumns(rows.columns, what.format);
  } catch (error) {
    await close();
    throw error;
  }
  if (what.format !== 'parquet')
    return { bytes: streams[what.format](rows), exported: () => Promise.resolve({ noTimes: 0 }), close };
  const written = { noTimes: 0 };
  const typed = rows.columns.map(({ name, type }) => ({ name, kind: kindOf(type) }));
  async function* pieces(): AsyncGenerator<Uint8Array> {
    Object.assign(written, yield* parquetOf(typed, rows.rows));
  }
  return { bytes: Readable.from(pieces()), exported: () => Promise.resolve(written), close };
}

/** @throws MirrorError as `rowQuery`. */
function streamOf(
  mirror: ExportedMirror,
  what: Rows,
  { program, signal }: Pick<ProcessOptions, 'program' | 'signal'>,
): RowStream | Promise<RowStream> {
  if ('rows' in mirror) return streamElsewhere(mirror, what, signal);
  const { path, text: query, columns } = rowQuery(mirror, what);
  refuseLostColumns(columns, what.format);
  if (what.format !== 'parquet') {
    const rows = exportedRows({ path, text: query, columns }, program, signal);
    const exported = (): Promise<Exported> => Promise.resolve({ noTimes: 0 });
    return { bytes: streams[what.format](rows), exported, close: () => rows.close() };
  }
  const typed = columns.map(({ name, type }) => ({ name, kind: kindOf(type) }));
  const writing = new ExportProcess(program, { do: 'parquet', path, query, columns: typed }, signal);
  const exported = (): Promise<Exported> =>
    writing.done().catch((error: unknown) => {
      throw ofQuery(error);
    });
  async function* pieces(): AsyncGenerator<Buffer> {
    yield* writing.output;
    await exported();
  }
  return { bytes: Readable.from(pieces()), exported, close: () => writing.close() };
}

/**
 * Writes the mirror, or rows of it, to a file, which is replaced atomically.
 * @throws MirrorError as `copyMirror` and `exportedRows`; `usage` for an unknown extension, and for rows as a `.db`.
 */
export async function exportToFile(
  mirror: ExportedMirror,
  file: string,
  what: Export,
  options: ProcessOptions,
): Promise<Exported> {
  const format = what.format ?? formatOf(file);
  if (format === 'db') {
    if ('rows' in mirror) throw noFile(mirror);
    if (what.view !== undefined || what.query !== undefined)
      throw new MirrorError(
        'usage',
        'A .db holds the whole mirror: a view or a query goes into a .csv, .json, .ndjson or .parquet.',
      );
    if (what.account !== undefined)
      throw new MirrorError('usage', 'A .db holds the whole mirror, with all accounts: leave --account out.');
    await copyMirror(mirror, file, options);
    return { noTimes: 0 };
  }
  const { signal } = options;
  const rows = await streamOf(mirror, { ...what, format }, options);
  try {
    await replaceFile(file, replacementFor(mirror, file, options), (handle) =>
      pipeline(rows.bytes, writerTo(handle), signal ? { signal } : {}),
    );
    return await rows.exported();
  } finally {
    await rows.close();
  }
}

function noFile({ path }: RowsElsewhere): MirrorError {
  return new MirrorError(
    'usage',
    `A .db is a copy of a mirror in a file, and the mirror is in ${path}: copy that with pg_dump, or export to .csv, .json, .ndjson or .parquet.`,
  );
}

export interface StreamOptions extends Pick<ProcessOptions, 'program'> {
  readonly clock: Pick<Clock, 'yield'>;
  readonly signal: AbortSignal;
}

/**
 * Writes rows of the mirror to a stream, as CSV by default, and leaves it open.
 * @throws MirrorError as `exportedRows`, `usage` for a `.db`.
 */
export async function exportToStream(
  mirror: ExportedMirror,
  stream: Writable | NodeJS.WritableStream,
  what: Export,
  options: StreamOptions,
): Promise<Exported> {
  const { clock, signal } = options;
  const format = what.format ?? 'csv';
  if (format === 'db') throw new MirrorError('usage', 'A .db cannot go to standard output: name a file.');
  const rows = await streamOf(mirror, { ...what, format }, options);
  try {
    await pipeline(rows.bytes, (chunks: AsyncIterable<unknown>) => inTurns(chunks, clock), stream, {
      end: false,
      signal,
    });
    return await rows.exported();
  } finally {
    await rows.close();
  }
}

/** Chunks that are written in one turn of the event loop. */
const chunksPerTurn = 100;

/** Writes to terminals and pipes are synchronous: without a pause no signal would be handled before the end. */
async function* inTurns(chunks: AsyncIterable<unknown>, clock: Pick<Clock, 'yield'>): AsyncGenerator {
  let written = 0;
  for await (const chunk of chunks) {
    yield chunk;
    written += 1;
    if (written % chunksPerTurn === 0) await clock.yield();
  }
}

/** Copies the whole mirror to another file. */
export interface ProcessOptions extends CopyOptions {
  /** The compiled process that copies and exports. */
  readonly program: string;
}

/**
 * Puts a consistent, self-contained copy of the mirror (one file, no WAL beside it) at `target`, once it could be read back.
 * @throws MirrorError `file_unwritable`, `disk_full`; `database_locked` where another program holds the mirror, or uses the copy that
 * is at `target`; `usage` where `target` cannot be replaced; `interrupted` by the signal.
 */
export async function copyMirror(mirror: SqliteDatabase, target: string, options: ProcessOptions): Promise<void> {
  const { program, signal } = options;
  await replaceDatabase(target, replacementFor(mirror, target, options), async (draft) => {
    try {
      await new ExportProcess(program, { do: 'copy', path: mirror.path, to: draft }, signal).done();
    } catch (error) {
      // The copy was not synced; the mirror itself is sound.
      if (isFailedSync(error)) throw new MirrorError('file_unwritable', `${draft}: ${errorSentence(error)}`);
      throw mirror.reportError(error);
    }
  });
}
