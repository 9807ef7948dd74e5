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
import { ExportProcess } from './export-process.ts';
import { ofQuery, refuseLostColumns, rowQuery, type ExportedRows, type RowSource } from './export-rows.ts';
import { inFormat, type Exported, type RowFormat } from './formats.ts';

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

type Rows = Export & { readonly format: RowFormat };

async function streamElsewhere(mirror: RowsElsewhere, what: Rows, signal: AbortSignal | undefined): Promise<RowStream> {
  const rows = await mirror.rows(what, signal);
  const close = (): Promise<void> => rows.close();
  try {
    refuseLostColumns(rows.columns, what.format);
  } catch (error) {
    await close();
    throw error;
  }
  const { bytes, exported } = inFormat(rows, what.format);
  return { bytes, exported: () => Promise.resolve(exported), close };
}

/** @throws MirrorError as `rowQuery`. */
function streamOf(
  mirror: ExportedMirror,
  what: Rows,
  { program, signal }: Pick<ProcessOptions, 'program' | 'signal'>,
): RowStream | Promise<RowStream> {
  if ('rows' in mirror) return streamElsewhere(mirror, what, signal);
  const asked = rowQuery(mirror, what);
  refuseLostColumns(asked.columns, what.format);
  const writing = new ExportProcess(program, { do: 'rows', format: what.format, ...asked }, signal);
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
    await pipeline(rows.bytes, (pieces: AsyncIterable<string | Uint8Array>) => inTurns(pieces, clock), stream, {
      end: false,
      signal,
    });
    return await rows.exported();
  } finally {
    await rows.close();
  }
}

/** So many characters or bytes are written in one turn of the event loop. */
const sizePerTurn = 65_536;

/** Writes to terminals and pipes are synchronous: without a pause no signal would be handled before the end. */
async function* inTurns(
  pieces: AsyncIterable<string | Uint8Array>,
  clock: Pick<Clock, 'yield'>,
): AsyncGenerator<string | Uint8Array> {
  let written = 0;
  for await (const piece of pieces) {
    yield piece;
    written += piece.length;
    if (written < sizePerTurn) continue;
    await clock.yield();
    written = 0;
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
