/**
 * Decides when the checkpoint thread of a daemon runs. By default the commit that fills the journal (WAL) runs the checkpoint itself, and
 * the whole process waits for the disk.
 *
 * The journal restarts with the first transaction that finds it completely copied and without readers. While sweeps write continuously, a
 * checkpoint never catches up, so sweeps wait for it from time to time. Where a reader holds the journal, waiting would not help, and they
 * continue.
 */
import { SqliteError } from '../sqlite/driver.ts';
import type { Database } from '../sqlite/database.ts';
import type { Checkpoints } from '../sqlite/lock-wait.ts';
import { plainStatement, type None, type Statement } from '../sqlite/plain-statement.ts';
import type { CheckpointThread } from './checkpoint-thread.ts';

/** A checkpoint is due at this many pages that are not copied yet: SQLite's own default. */
const due = 1_000;

/** Bytes that sweeps may add to the journal before they wait, and how many checkpoints they then wait for at most. */
const most = 32 * 2 ** 20;
const mostPasses = 8;

/** Pages in the journal, and how many of them are copied. */
interface Extent {
  readonly log: number;
  readonly checkpointed: number;
}

const none: None = {};

export class Journal implements Checkpoints {
  readonly #database: Database;
  readonly #thread: Pick<CheckpointThread, 'checkpoint' | 'stop'>;
  readonly #readExtent: Statement<None, Extent>;
  readonly #mostPages: number;
  /** The next checkpoint is tried at this many pages, because the last one copied nothing. */
  #restUntil = 0;
  /** Sweeps wait at this many pages. */
  #pauseAt: number;
  #pass: Promise<boolean> | undefined;
  #pause: Promise<void> | undefined;
  #ended = false;

  constructor(database: Database, thread: Pick<CheckpointThread, 'checkpoint' | 'stop'>) {
    const { sqlite } = database;
    this.#database = database;
    this.#thread = thread;
    this.#readExtent = plainStatement(sqlite, 'PRAGMA wal_checkpoint(NOOP)');
    this.#mostPages = most / (sqlite.pragma('page_size', { simple: true }) as number);
    this.#pauseAt = this.#mostPages;
    sqlite.pragma('wal_autocheckpoint = 0');
  }

  committed(): void {
    if (this.#ended || this.#pass) return;
    const { log, checkpointed } = this.#extent();
    if (log - checkpointed >= due && log >= this.#restUntil) void this.#checkpoint();
  }

  waitForRoom(): Promise<void> {
    if (this.#pause) return this.#pause;
    const { log } = this.#extent();
    if (this.#ended || log < this.#pauseAt) return Promise.resolve();
    // Whatever the result, the next pause comes only after as much again.
    this.#pauseAt = log + this.#mostPages;
    this.#pause = this.#catchUp().finally(() => (this.#pause = undefined));
    return this.#pause;
  }

  async stop(): Promise<void> {
    this.#ended = true;
    await this.#thread.stop();
  }

  /** Runs checkpoints until everything is copied, or one copies nothing. Deliveries continue to write meanwhile. */
  async #catchUp(): Promise<void> {
    for (let passes = 0; passes < mostPasses; passes++) {
      if (!(await this.#checkpoint())) return;
      const { log, checkpointed } = this.#extent();
      if (checkpointed >= log) return;
    }
  }

  /** @returns whether anything was copied. */
  #checkpoint(): Promise<boolean> {
    this.#pass ??= this.#runCheckpoint().finally(() => (this.#pass = undefined));
    return this.#pass;
  }

  async #runCheckpoint(): Promise<boolean> {
    const before = this.#extent();
    try {
      const fault = await this.#thread.checkpoint();
      if (fault?.code !== undefined) this.#database.reportError(new SqliteError(fault.message, fault.code));
    } catch {
      this.#restoreAutocheckpoint();
      return false;
    }
    if (this.#ended) return false;
    const after = this.#extent();
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

  #extent(): Extent {
    const extent = this.#readExtent.get(none) ?? { log: 0, checkpointed: 0 };
    // After a restart of the journal, the next pause is far away.
    this.#pauseAt = Math.min(this.#pauseAt, extent.log + this.#mostPages);
    this.#restUntil = Math.min(this.#restUntil, extent.log + due);
    return extent;
  }
}
