/**
 * Decides when the checkpoint thread of a daemon runs. By default the commit that fills the journal (WAL) runs the checkpoint itself, and
 * the whole process waits for the disk.
 *
 * The journal restarts with the first transaction that finds it completely copied and without readers. While sweeps write continuously, a
 * checkpoint never catches up, so sweeps wait for it from time to time. Where a reader holds the journal, waiting would not help, and they
 * continue.
 *
 * Sweeps pause while the journal is above 32 MB. If a sync fails in the thread, the process ends as it does for any failed sync: the
 * operating system reports it to each open file, so the next commit on the main connection would get it too. If the thread ends, commits run
 * the checkpoints again. Commands have no such thread, because nothing waits for their commits.
 */
import { sql } from 'kysely';
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Checkpoints, SqliteDatabase } from './database.ts';
import { SqliteError } from './driver.ts';
import { type None } from '../sql/statement.ts';
import { fileStatement, type FileStatement } from './connection.ts';

/** A checkpoint is due at this many pages that are not copied yet: SQLite's own default. */
const due = 1_000;

/** Bytes that sweeps may add to the journal before they wait, and how many checkpoints they then wait for at most. */
const most = 32 * 2 ** 20;
const maxPasses = 8;

/** Pages in the journal, and how many of them are copied. */
interface Extent {
  readonly log: number;
  readonly checkpointed: number;
}

const none: None = {};

export class Journal implements Checkpoints {
  readonly #database: SqliteDatabase;
  readonly #thread: Pick<CheckpointThread, 'checkpoint' | 'stop'>;
  readonly #checkNothing: FileStatement<None, Extent>;
  readonly #maxPages: number;
  /** The next checkpoint is tried at this many pages, because the last one copied nothing. */
  #restUntil = 0;
  /** Sweeps wait at this many pages. */
  #pauseAt: number;
  #pass: Promise<boolean> | undefined;
  #pause: Promise<void> | undefined;
  #ended = false;

  constructor(database: SqliteDatabase, thread: Pick<CheckpointThread, 'checkpoint' | 'stop'>) {
    const { sqlite } = database;
    this.#database = database;
    this.#thread = thread;
    this.#checkNothing = fileStatement(sqlite, () => sql`PRAGMA wal_checkpoint(NOOP)`);
    this.#maxPages = most / (sqlite.pragma('page_size', { simple: true }) as number);
    this.#pauseAt = this.#maxPages;
    sqlite.pragma('wal_autocheckpoint = 0');
  }

  committed(): void {
    if (this.#ended || this.#pass) return;
    const { log, checkpointed } = this.#readExtent();
    if (log - checkpointed >= due && log >= this.#restUntil)
      // Whatever it failed of, the database knows.
      this.#checkpoint().catch(() => undefined);
  }

  async waitForRoom(): Promise<void> {
    const { log } = await this.#extent();
    if (!this.#ended && !this.#pause && log >= this.#pauseAt) {
      // Whatever the result, the next pause comes only after as much again.
      this.#pauseAt = log + this.#maxPages;
      this.#pause = this.#catchUp().finally(() => (this.#pause = undefined));
    }
    await this.#pause;
  }

  async copyAll(): Promise<void> {
    const { log, checkpointed } = await this.#extent();
    if (!this.#ended && checkpointed < log) await this.#catchUp();
  }

  async stop(): Promise<void> {
    this.#ended = true;
    await this.#thread.stop();
  }

  /** Runs checkpoints until everything is copied, or one copies nothing. Deliveries continue to write meanwhile. */
  async #catchUp(): Promise<void> {
    for (let passes = 0; passes < maxPasses; passes++) {
      if (!(await this.#checkpoint())) return;
      const { log, checkpointed } = await this.#extent();
      if (checkpointed >= log) return;
    }
  }

  /** @returns whether anything was copied. */
  #checkpoint(): Promise<boolean> {
    this.#pass ??= this.#runCheckpoint().finally(() => {
      this.#pass = undefined;
      // Commits during the checkpoint may have filled the journal again, and no other may follow.
      this.#database.retryWhileLocked(() => this.committed()).catch(() => undefined);
    });
    return this.#pass;
  }

  async #runCheckpoint(): Promise<boolean> {
    const before = await this.#extent();
    try {
      const fault = await this.#thread.checkpoint();
      if (fault?.code !== undefined) this.#database.reportError(new SqliteError(fault.message, fault.code));
    } catch {
      this.#restoreAutocheckpoint();
      return false;
    }
    if (this.#ended) return false;
    const after = await this.#extent();
    const isAnew = after.log < before.log;
    const helped = isAnew || after.checkpointed > before.checkpointed;
    this.#restUntil = helped ? 0 : after.log + due;
    return helped;
  }

  /** Without the thread, commits run checkpoints again. */
  #restoreAutocheckpoint(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#database.sqlite.pragma(`wal_autocheckpoint = ${due}`);
  }

  /** Waits until nobody else has the connection. */
  #extent(): Promise<Extent> {
    return this.#database.retryWhileLocked(() => this.#readExtent());
  }

  #readExtent(): Extent {
    const extent = this.#checkNothing.get(none) ?? { log: 0, checkpointed: 0 };
    // After a restart of the journal, the next pause is far away.
    this.#pauseAt = Math.min(this.#pauseAt, extent.log + this.#maxPages);
    this.#restUntil = Math.min(this.#restUntil, extent.log + due);
    return extent;
  }
}

export interface CheckpointParams {
  readonly path: string;
  readonly files: FileNumbers;
}

/** SQLite's error of a failed checkpoint. */
export interface CheckpointFault {
  readonly message: string;
  readonly code: string | undefined;
}

/** undefined where as much was copied as readers allow. */
export type CheckpointAnswer = CheckpointFault | undefined;

/** The inodes of the file and its journal, to detect that either was replaced. */
export interface FileNumbers {
  readonly database: number | undefined;
  readonly journal: number | undefined;
}

export function numbersOf(path: string): FileNumbers {
  const inode = (name: string): number | undefined => statSync(name, { throwIfNoEntry: false })?.ino;
  return { database: inode(path), journal: inode(`${path}-wal`) };
}

/**
 * The thread that runs checkpoints, which copy the journal (WAL) into the database file: started when first needed, ended with the daemon.
 */
export class CheckpointThread {
  readonly #program: string;
  readonly #params: CheckpointParams;
  #worker: Worker | undefined;
  #ended = false;

  /** `program` is the path of the compiled thread, `path` that of a mirror which this process has open and has read. */
  constructor(program: string, path: string) {
    this.#program = program;
    this.#params = { path, files: numbersOf(path) };
  }

  /** Runs one checkpoint. Call it one at a time. @throws Error where the thread cannot work, or ends. */
  checkpoint(): Promise<CheckpointAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#ended) throw new Error('The checkpoint thread ended.');
      const worker = this.#begun();
      const settled = (): void => {
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      };
      const onMessage = (answer: CheckpointAnswer): void => {
        settled();
        resolve(answer);
      };
      const onError = (error: Error): void => {
        settled();
        reject(error);
      };
      const onExit = (): void => onError(new Error('The checkpoint thread ended.'));
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      worker.postMessage('checkpoint');
    });
  }

  /** Ends the thread. May be called more than once. */
  async stop(): Promise<void> {
    this.#ended = true;
    await this.#worker?.terminate();
  }

  #begun(): Worker {
    if (this.#worker) return this.#worker;
    // The environment may contain secrets.
    const worker = new Worker(this.#program, { workerData: this.#params, env: {} });
    this.#worker = worker;
    worker.unref();
    // `checkpoint` reports errors; without any listener an error would end the process.
    worker.on('error', () => undefined);
    worker.on('exit', () => (this.#ended = true));
    return worker;
  }
}
