/** The forms in which the mirror is handed on. */
import { createWriteStream } from 'node:fs';
import { extname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { formatByEnding, type ExportFormat } from '../../settings/export-format.ts';
import type { Database } from '../sqlite/database.ts';
import { csvOf } from './csv.ts';
import { copyMirror, swapIn, type CopyOptions } from '../files/export.ts';
import { exportedRows, type ExportedRows, type RowSource } from './export-rows.ts';
import { jsonOf, ndjsonOf } from './json-rows.ts';

const streams: Readonly<Record<Exclude<ExportFormat, 'db'>, (rows: ExportedRows) => Readable>> = {
  csv: csvOf,
  json: jsonOf,
  ndjson: ndjsonOf,
};

export interface Export extends RowSource {
  /** That of the file's ending unless told. */
  readonly format?: ExportFormat | undefined;
}

/** The form of a file by its ending. @throws MirrorError `usage` for another one. */
function formatOf(file: string): ExportFormat {
  const format = formatByEnding(file);
  if (format) return format;
  const ending = extname(file).toLowerCase();
  const told = ending === '' ? 'has no ending' : `ends in ${ending}`;
  throw new MirrorError('usage', `${file} ${told}; a file is .db, .csv, .json or .ndjson, or its --format is told.`);
}

/**
 * Writes the mirror, or rows of it, to a file, and swaps it in whole.
 * @throws MirrorError as `copyMirror` and `exportedRows`; `usage` for an ending of no known form, and for rows as a `.db`.
 */
export async function exportToFile(
  mirror: Database,
  file: string,
  what: Export,
  options: CopyOptions & { readonly signal?: AbortSignal },
): Promise<void> {
  const format = what.format ?? formatOf(file);
  if (format === 'db') {
    if (what.view !== undefined || what.query !== undefined)
      throw new MirrorError(
        'usage',
        'A .db holds the whole mirror: a view or a query goes into a .csv, .json or .ndjson.',
      );
    await copyMirror(mirror, file, options);
    return;
  }
  const { signal } = options;
  const rows = exportedRows(mirror, what, signal);
  try {
    await swapIn(mirror, file, options, (draft) =>
      pipeline(streams[format](rows), createWriteStream(draft), signal ? { signal } : {}),
    );
  } finally {
    await rows.close();
  }
}

export interface StreamOptions {
  readonly clock: Pick<Clock, 'yield'>;
  readonly signal: AbortSignal;
}

/** Writes rows of the mirror to a stream, as CSV unless told, and leaves it open. @throws MirrorError as `exportedRows`, `usage` for a `.db`. */
export async function exportToStream(
  mirror: Database,
  stream: Writable | NodeJS.WritableStream,
  what: Export,
  { clock, signal }: StreamOptions,
): Promise<void> {
  const format = what.format ?? 'csv';
  if (format === 'db') throw new MirrorError('usage', 'A .db cannot go to standard output: name a file.');
  const rows = exportedRows(mirror, what, signal);
  try {
    const readable = streams[format](rows);
    await pipeline(readable, (chunks: AsyncIterable<unknown>) => inTurns(chunks, clock), stream, {
      end: false,
      signal,
    });
  } finally {
    await rows.close();
  }
}

/** Pieces that are written in one turn of the event loop. */
const atOnce = 100;

/** Terminals and pipes are written to at once: without a pause no signal would be heard before the end. */
async function* inTurns(chunks: AsyncIterable<unknown>, clock: Pick<Clock, 'yield'>): AsyncGenerator {
  let written = 0;
  for await (const chunk of chunks) {
    yield chunk;
    written += 1;
    if (written % atOnce === 0) await clock.yield();
  }
}
