/** Runs checkpoints in a separate thread with its own connection, so that no delivery waits for the disk. */
import { sql } from 'kysely';
import { parentPort, workerData } from 'node:worker_threads';
import { connectWriter, SqliteError, type Sqlite } from './driver.ts';
import { numbersOf, type CheckpointAnswer, type CheckpointParams } from './journal.ts';
import { type None } from '../sql/statement.ts';
import { fileStatement } from './connection.ts';

const none: None = {};

/** @throws Error where the files were replaced by others. */
function open(): Sqlite {
  const { path, files } = workerData as CheckpointParams;
  const sqlite = connectWriter(path);
  // The journal is opened with the first read.
  fileStatement(sqlite, () => sql`SELECT count(*) FROM sqlite_schema`).get(none);
  const found = numbersOf(path);
  if (found.database === files.database && found.journal === files.journal) return sqlite;
  sqlite.close();
  throw new Error(`${path} or its journal was replaced while it was in use.`);
}

function opened(): () => void {
  const checkpoint = fileStatement(open(), () => sql`PRAGMA wal_checkpoint(PASSIVE)`);
  return () => void checkpoint.get(none);
}

let checkpoint: (() => void) | undefined;

parentPort?.on('message', () => {
  let answer: CheckpointAnswer;
  try {
    checkpoint ??= opened();
    checkpoint();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    answer = { message, code: error instanceof SqliteError ? error.code : undefined };
  }
  parentPort?.postMessage(answer);
});
