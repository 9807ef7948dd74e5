/**
 * Copies and exports in a separate process: SQLite may be busy for hours, only ending its process interrupts it, and in the daemon's process all
 * deliveries would wait.
 */
import { Worker } from 'node:worker_threads';
import { systemClock } from '../../domain/clock.ts';
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import { readBack } from '../files/replace-file.ts';
import { cellsWithoutBlobs } from '../sqlite/blobs.ts';
import { connectReader } from '../sqlite/driver.ts';
import { defaultLockWait } from '../sql/database.ts';
import { readOnlyStatement } from '../sqlite/user-query.ts';
import { parentGuard, type ExportJob, type JobAnswer, type JobFault } from './export-process.ts';
import type { Cell } from './export-rows.ts';
import { inFormat, type Exported } from './formats.ts';
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

async function rows({ path, query, columns, format }: Extract<ExportJob, { do: 'rows' }>): Promise<Exported> {
  const found = readOnlyStatement(connectReader(path, defaultLockWait), query).raw(true).safeIntegers(true).iterate();
  const { bytes, exported } = inFormat({ columns, rows: cells(found as Iterable<(Cell | Buffer)[]>) }, format);
  for await (const piece of bytes) await written(piece as Uint8Array | string);
  return exported;
}

function written(piece: Uint8Array | string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(piece, () => resolve()));
}

/** Rows that are searched for longer than this are written before the search for the next one begins, in milliseconds. */
const longSearch = 5;

/** The first ones too, however fast they were found. */
const firstRows = 16;

async function* cells(found: Iterable<(Cell | Buffer)[]>): AsyncGenerator<readonly Cell[]> {
  let [count, begun] = [0, systemClock.monotonic()];
  for (const row of found) {
    yield cellsWithoutBlobs(row);
    count += 1;
    if (count > firstRows && systemClock.monotonic() - begun < longSearch) continue;
    await systemClock.yield();
    begun = systemClock.monotonic();
  }
}

function faultOf(error: unknown): JobFault {
  const { message } = asMirrorError(error);
  if (error instanceof MirrorError) return { of: 'mirror', code: error.code, message };
  // Some come of the driver with a code of Node.js, such as that of a text that is too long.
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? { of: 'sqlite', code, message } : { of: 'other', code: '', message };
}

async function answer(job: ExportJob): Promise<void> {
  let answered: JobAnswer;
  try {
    answered = { done: job.do === 'copy' ? copy(job) : await rows(job) };
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
