/**
 * How far a daemon's journal (WAL) has grown past the file, and when its thread brings it over. By default the commit that fills the
 * journal does that itself, and everything else in the process waits for the disk along with it.
 *
 * The journal begins anew with the first transaction that finds all of it in the file and no reader in it. While sweeps write
 * without a pause, a checkpoint never catches up: so sweeps wait for it now and then. Where a reader is what keeps the journal, waiting
 * would not help, and they go on.
 */
import { SqliteError } from '../sqlite/driver.ts';
import type { Database } from '../sqlite/database.ts';
import type { Checkpoints } from '../sqlite/lock-wait.ts';
import { plainStatement, type None, type Statement } from '../sqlite/plain-statement.ts';
import type { CheckpointThread } from './checkpoint-thread.ts';

/** Pages in the journal that are not in the file yet, from which on they are brought over: SQLite's own measure. */
const due = 1_000;

/** Bytes that sweeps may add to the journal before they wait, and how often they wait for one more checkpoint then. */
const most = 32 * 2 ** 20;
const mostPasses = 8;

/** Pages in the journal, and how many of them are in the file. */
interface Extent {
  readonly log: number;
  readonly checkpointed: number;
}

const none: None = {};

export class Journal implements Checkpoints {
  readonly #database: Database;
  readonly #thread: Pick<CheckpointThread, 'checkpoint' | 'stop'>;
  readonly #look: Statement<None, Extent>;
  readonly #mostPages: number;
  /** Until the journal has so many pages, no checkpoint is tried again, because the last one did not help. */
  #restUntil = 0;
  /** Sweeps wait at so many pages. */
  #pauseAt: number;
  #pass: Promise<boolean> | undefined;
  #pause: Promise<void> | undefined;
  #ended = false;

  constructor(database: Database, thread: Pick<CheckpointThread, 'checkpoint' | 'stop'>) {
    const { sqlite } = database;
    this.#database = database;
    this.#thread = thread;
    this.#look = plainStatement(sqlite, 'PRAGMA wal_checkpoint(NOOP)');
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
    // Whatever comes of it, the next pause is only after as much again.
    this.#pauseAt = log + this.#mostPages;
    this.#pause = this.#catchUp().finally(() => (this.#pause = undefined));
    return this.#pause;
  }

  async stop(): Promise<void> {
    this.#ended = true;
    await this.#thread.stop();
  }

  /** Checkpoints until nothing is left to bring over, or one brings nothing. Deliveries go on writing meanwhile. */
  async #catchUp(): Promise<void> {
    for (let passes = 0; passes < mostPasses; passes++) {
      if (!(await this.#checkpoint())) return;
      const { log, checkpointed } = this.#extent();
      if (checkpointed >= log) return;
    }
  }

  /** @returns whether that brought anything into the file. */
  #checkpoint(): Promise<boolean> {
    this.#pass ??= this.runCheckpoint().finally(() => (this.#pass = undefined));
    return this.#pass;
  }

  async runCheckpoint(): Promise<boolean> {
    const before = this.#extent();
    try {
      const fault = await this.#thread.checkpoint();
      if (fault?.code !== undefined) this.#database.reportError(new SqliteError(fault.message, fault.code));
    } catch {
      this.restoreAutocheckpoint();
      return false;
    }
    if (this.#ended) return false;
    const after = this.#extent();
    const isAnew = after.log < before.log;
    const helped = isAnew || after.checkpointed > before.checkpointed;
    this.#restUntil = helped ? 0 : after.log + due;
    return helped;
  }

  /** Without its thread, the commit that fills the journal empties it again. */
  restoreAutocheckpoint(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#database.sqlite.pragma(`wal_autocheckpoint = ${due}`);
  }

  #extent(): Extent {
    const extent = this.#look.get(none) ?? { log: 0, checkpointed: 0 };
    // A journal that began anew is far from the next pause, whatever came before.
    this.#pauseAt = Math.min(this.#pauseAt, extent.log + this.#mostPages);
    this.#restUntil = Math.min(this.#restUntil, extent.log + due);
    return extent;
  }
}
