/**
 * Copies and exports in a separate process: SQLite may be busy for hours, only ending its process interrupts it, and in the daemon's process all
 * deliveries would wait.
 */
import { Worker } from 'node:worker_threads';
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import { readBack } from '../files/replace-file.ts';
import { cellsWithoutBlobs } from '../sqlite/blobs.ts';
import { connectReader, type Sqlite } from '../sqlite/driver.ts';
import { defaultLockWait } from '../sql/database.ts';
import { readOnlyStatement } from '../sqlite/user-query.ts';
import {
  parentGuard,
  type Exported,
  type ExportJob,
  type JobAnswer,
  type JobFault,
  type RawRow,
  type RowAnswer,
} from './export-process.ts';
import type { Cell } from './export-rows.ts';
import { parquetOf } from './formats.ts';
import { fileStatement } from '../sqlite/connection.ts';

function copy({ path, to }: Extract<ExportJob, { do: 'copy' }>): Exported {
  const sqlite = connectReader(path, defaultLockWait);
  try {
    fileStatement(sqlite)<{ to: string }>`VACUUM INTO ${'to'}`.run({ to });
  } finally {
    sqlite.close();
  }
  readBack(to);
  return { noTimes: 0 };
}

async function parquet({ path, query, columns }: Extract<ExportJob, { do: 'parquet' }>): Promise<Exported> {
  const sqlite = connectReader(path, defaultLockWait);
  try {
    const pieces = parquetOf(columns, cells(rowsOf(sqlite, query) as Iterable<(Cell | Buffer)[]>));
    for (;;) {
      const { value, done } = await pieces.next();
      if (done) return value;
      await written(value);
    }
  } finally {
    sqlite.close();
  }
}

/** Sends as many rows as each message asks for. */
function serveRows({ path, query }: Extract<ExportJob, { do: 'rows' }>): void {
  let rows: Iterator<RawRow> | undefined;
  process.on('message', (most: number) => {
    let answer: RowAnswer;
    try {
      rows ??= rowsOf(connectReader(path, defaultLockWait), query);
      const found: RawRow[] = [];
      for (let next; found.length < most && !(next = rows.next()).done;) found.push(next.value);
      answer = { rows: found, isLast: found.length < most };
    } catch (error) {
      answer = { fault: faultOf(error) };
    }
    process.send?.(answer);
  });
}

function rowsOf(sqlite: Sqlite, query: string): IterableIterator<RawRow> {
  return readOnlyStatement(sqlite, query).raw(true).safeIntegers(true).iterate();
}

function written(piece: Uint8Array): Promise<void> {
  return new Promise((resolve) => process.stdout.write(piece, () => resolve()));
}

function* cells(rows: Iterable<(Cell | Buffer)[]>): Generator<readonly Cell[]> {
  for (const row of rows) yield cellsWithoutBlobs(row);
}

function faultOf(error: unknown): JobFault {
  const { message } = asMirrorError(error);
  if (error instanceof MirrorError) return { of: 'mirror', code: error.code, message };
  // Some come of the driver with a code of Node.js, such as that of a text that is too long.
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? { of: 'sqlite', code, message } : { of: 'other', code: '', message };
}

async function answer(job: Exclude<ExportJob, { do: 'rows' }>): Promise<void> {
  let answered: JobAnswer;
  try {
    answered = { done: job.do === 'copy' ? copy(job) : await parquet(job) };
  } catch (error) {
    answered = { fault: faultOf(error) };
  }
  process.send?.(answered, () => process.disconnect());
}

new Worker(parentGuard, { eval: true, workerData: Number(process.argv[2]), env: {} }).unref();
// A terminal sends Ctrl-C to all of its processes; the parent decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit());
// The rows are no longer read.
process.stdout.on('error', () => process.exit());
process.once('message', (job: ExportJob) => {
  if (job.do === 'rows') serveRows(job);
  else void answer(job);
});
