/**
 * Copies and exports in a separate process: SQLite may be busy for hours, only ending its process interrupts it, and in the daemon's process all
 * deliveries would wait.
 */
import { sql } from 'kysely';
import { Worker } from 'node:worker_threads';
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import { readBack } from '../files/replace-file.ts';
import { cellsWithoutBlobs } from '../sqlite/blobs.ts';
import { connectReader, SqliteError } from '../sqlite/driver.ts';
import { defaultLockWait } from '../sql/database.ts';
import { readOnlyStatement } from '../sqlite/user-query.ts';
import { parentGuard, type Exported, type ExportJob, type JobAnswer, type JobFault } from './export-process.ts';
import type { Cell } from './export-rows.ts';
import { parquetOf } from './formats.ts';
import { fileStatement } from '../sqlite/connection.ts';

function copy({ path, to }: Extract<ExportJob, { do: 'copy' }>): Exported {
  const sqlite = connectReader(path, defaultLockWait);
  try {
    fileStatement<{ to: string }>(sqlite, (at) => sql`VACUUM INTO ${at('to')}`).run({ to });
  } finally {
    sqlite.close();
  }
  readBack(to);
  return { noTimes: 0 };
}

async function parquet({ path, query, columns }: Extract<ExportJob, { do: 'parquet' }>): Promise<Exported> {
  const sqlite = connectReader(path, defaultLockWait);
  try {
    const rows = readOnlyStatement(sqlite, query).raw(true).safeIntegers(true).iterate() as Iterable<(Cell | Buffer)[]>;
    const pieces = parquetOf(columns, cells(rows));
    for (;;) {
      const { value, done } = await pieces.next();
      if (done) return value;
      await written(value);
    }
  } finally {
    sqlite.close();
  }
}

function written(piece: Uint8Array): Promise<void> {
  return new Promise((resolve) => process.stdout.write(piece, () => resolve()));
}

function* cells(rows: Iterable<(Cell | Buffer)[]>): Generator<readonly Cell[]> {
  for (const row of rows) yield cellsWithoutBlobs(row);
}

function carriedOut(job: ExportJob): Exported | Promise<Exported> {
  return job.do === 'copy' ? copy(job) : parquet(job);
}

function faultOf(error: unknown): JobFault {
  const { message } = asMirrorError(error);
  if (error instanceof SqliteError) return { of: 'sqlite', code: error.code, message };
  if (error instanceof MirrorError) return { of: 'mirror', code: error.code, message };
  return { of: 'other', code: '', message };
}

async function answer(job: ExportJob): Promise<void> {
  let answered: JobAnswer;
  try {
    answered = { done: await carriedOut(job) };
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
process.once('message', (job: ExportJob) => void answer(job));
