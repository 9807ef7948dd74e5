/**
 * One database file with one connection: durable, migrated, and written in short transactions that never block for long.
 *
 * Commits wait for the disk, with three exceptions: the number taken for a request, a page that showed nothing new, and a mark that is
 * settled or deferred. A power cut may undo those, but only together with everything written after them, and the cost is at most one more
 * reading. Killing the process undoes nothing. The first page of a new file is synced before its journal is relied on, because SQLite
 * discards a journal beside an empty file.
 *
 * The write lock is never waited for on the event loop: it is tried again after 1 to 3 ms, and after a hundred attempts less often. One-shot
 * commands and the daemon switch the file back from WAL when they end, so that it can be opened without write access to its folder. A reader
 * without a busy timeout can fail at that instant; but left in place, the WAL files would lock out readers without write access once anybody
 * with it had opened and closed the file.
 */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { sleep, type Clock, type Random } from '../../domain/clock.ts';
import { Turns } from '../../domain/concurrency.ts';
import { exitStatus, MirrorError } from '../../domain/errors.ts';
import { defaultLockWait, shortLockWait, type Database } from '../sql/database.ts';
import { SqliteConnection } from './connection.ts';
import { connectReader, connectWriter, enterWal, leaveWal, Transactions, type Sqlite } from './driver.ts';
import { notWritable, prepareFile, refuseWithoutRoom } from './file-systems.ts';
import { lockHolder } from './lock-holder.ts';
import { isBehind, migrate, type Migration, type OnMigration } from './migrate.ts';
import { catalogued, endsTrust, isBusy } from './sqlite-errors.ts';

export interface DatabaseOptions {
  readonly path: string;
  /** Permissions of a new file. */
  readonly mode: number;
  readonly migrations: readonly Migration[];
  readonly clock: Clock;
  readonly random: Random;
  /** How long to retry while another process holds the lock, in milliseconds; 30 s by default. */
  readonly lockWait?: number;
  /** Whether commits need not wait for the disk, because the file is put in its place, and synced, when it is complete. */
  readonly isDraft?: boolean | undefined;
  /** Called once when the file can no longer be trusted: it is damaged, or what is on disk is unknown. */
  readonly onDistrust?: ((error: MirrorError) => void) | undefined;
  /** Called once in each wait that has lasted a while, with who holds the lock. */
  readonly onLocked?: ((holder: string) => void) | undefined;
  /** Called before a file of an older version is migrated. @throws MirrorError where it must not be. */
  readonly mayMigrate?: (() => void) | undefined;
  readonly onMigration?: OnMigration | undefined;
}

/** The daemon's mark in its file. Each check returns an error where it is no longer there. */
export interface Claim {
  /** Checks through this connection, inside a transaction. */
  check(): MirrorError | undefined;
  /** Checks the file that is at the path now, through a new connection. */
  checkAtPath(): MirrorError | undefined;
}

export class SqliteDatabase implements Database {
  readonly path: string;
  readonly sqlite: Sqlite;
  readonly connection: SqliteConnection;
  readonly #transactions: Transactions;
  readonly #turns = new Turns();
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #onLocked: DatabaseOptions['onLocked'];
  readonly #lockWait: number;
  readonly #isDraft: boolean;
  /** What this connection has open, by path: the file and, of a writer, its journal and the index of that. Others make none anew while it is open. */
  readonly #inodes = new Map<string, number | undefined>();
  readonly #onDistrust: DatabaseOptions['onDistrust'];
  #distrust: MirrorError | undefined;
  #claim: Claim | undefined;
  /** Whether the row of the claim is in the file itself, not only in the journal. */
  #isClaimCopied = true;
  /** The error of the last write; undefined where it succeeded. */
  #refused: MirrorError | undefined;

  private constructor(
    sqlite: Sqlite,
    options: Pick<DatabaseOptions, 'clock' | 'random' | 'lockWait' | 'isDraft' | 'onDistrust' | 'onLocked'>,
  ) {
    this.sqlite = sqlite;
    this.connection = new SqliteConnection(sqlite);
    this.#transactions = new Transactions(sqlite);
    this.path = sqlite.name;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#lockWait = options.lockWait ?? defaultLockWait;
    this.#onLocked = options.onLocked;
    this.#isDraft = options.isDraft ?? false;
    this.#onDistrust = options.onDistrust;
    this.#noteOpened(this.path);
  }

  /**
   * Opens the file for writing; creates and migrates it as needed.
   * @throws MirrorError `database_unusable`, `database_newer`, `database_corrupt`, `migration_failed`, `database_locked`, `disk_full`.
   */
  static async open(options: DatabaseOptions): Promise<SqliteDatabase> {
    const path = prepareFile(options.path, options.mode);
    refuseWithoutRoom(path);
    let sqlite: Sqlite;
    try {
      sqlite = connectWriter(path);
    } catch (error) {
      throw catalogued(error, path);
    }
    const database = new SqliteDatabase(sqlite, options);
    try {
      const { mayMigrate, migrations } = options;
      if (mayMigrate && (await database.retryWhileLocked(() => isOlder(sqlite, migrations)))) mayMigrate();
      await database.retryWhileLocked(() => enterWal(sqlite));
      await database.retryWhileLocked(() =>
        migrate(sqlite, options.migrations, options.clock.now(), options.onMigration),
      );
      for (const end of journalEnds) database.#noteOpened(path + end);
      return database;
    } catch (error) {
      sqlite.close();
      throw error;
    }
  }

  /**
   * Opens an existing file for reading.
   * @returns undefined where there is no such file yet, or one that holds nothing: another process may be making it.
   * @throws MirrorError as `open`, and `database_older`.
   */
  static openToRead(options: DatabaseOptions): SqliteDatabase | undefined {
    if (!existsSync(options.path) || statSync(options.path).size === 0) return undefined;
    let sqlite: Sqlite | undefined;
    try {
      sqlite = connectReader(realpathSync(options.path), shortLockWait);
      if (isOlder(sqlite, options.migrations))
        throw new MirrorError('database_older', `${options.path} was written by an older version of vendor-mirror.`);
      if (isBehind(sqlite, options.migrations)) {
        sqlite.close();
        return undefined;
      }
      return new SqliteDatabase(sqlite, options);
    } catch (error) {
      sqlite?.close();
      throw catalogued(error, options.path);
    }
  }

  /**
   * Runs `work` in one transaction that holds the write lock from its start. Only SQL belongs inside. On disk when this resolves, in the file
   * that is at the path: whoever is told of it may rely on it.
   * @param lockWait milliseconds, for callers that cannot wait as long as usual
   */
  async write<T>(work: () => T | Promise<T>, lockWait = this.#lockWait): Promise<T> {
    if (this.#isDraft) return this.writeWithoutSync(work, lockWait);
    const claimed = this.#claimed(work);
    const result = await this.#written(() => this.#transactions.run('immediate', claimed), lockWait);
    this.#assertInPlace();
    return result;
  }

  /** As `write`, without waiting for the disk. Only for writes that are harmless to lose in a power cut. */
  async writeWithoutSync<T>(work: () => T | Promise<T>, lockWait = this.#lockWait): Promise<T> {
    const claimed = this.#claimed(work);
    return this.#written(() => this.#transactions.withoutSync(claimed), lockWait);
  }

  async read<T>(queries: () => T | Promise<T>): Promise<T> {
    return this.retryWhileLocked(() => this.#transactions.run('deferred', queries));
  }

  /** From now on every write requires this claim. */
  requireClaim(claim: Claim): Promise<void> {
    this.#claim = claim;
    return this.checkpoint();
  }

  readOne<T>(query: () => T | Promise<T>): Promise<T> {
    return this.retryWhileLocked(query);
  }

  /**
   * Copies the journal into the file. Due after each write to the row of the claim: `assertOurs` would find it in the journal, whatever the
   * file was overwritten with; and once a minute, so that the file alone is not far behind. Does not wait for other connections: what a reader
   * holds is copied by a later `assertOurs`. In between, the commit that fills the journal copies it; where that fails, the journal stays whole,
   * and the next one copies the same again.
   */
  async checkpoint(): Promise<void> {
    this.#isClaimCopied = false;
    const rows = await this.retryWhileLocked(() => this.sqlite.pragma('wal_checkpoint(PASSIVE)'));
    const [done] = rows as [{ busy: number; log: number; checkpointed: number }];
    this.#isClaimCopied = done.busy === 0 && done.log === done.checkpointed;
  }

  /**
   * Checks that the file at the path is the one that was opened, with the claim in it; otherwise it is no longer trusted.
   * @throws MirrorError `database_unusable`, `already_running`.
   */
  assertOurs(): void {
    const lost = this.#distrust ?? this.whyLost() ?? this.#claim?.checkAtPath();
    if (lost) throw this.#distrusted(lost);
    // A failure that matters is reported by `retryWhileLocked`; any other leaves it to the next check.
    if (!this.#isClaimCopied) this.checkpoint().catch(() => undefined);
  }

  #noteOpened(path: string): void {
    this.#inodes.set(path, inodeAt(path));
  }

  /** Why what is written would not be in the file at the path: it, its journal or the index of that was taken away. Costs little. */
  whyLost(): MirrorError | undefined {
    const lost = [...this.#inodes].find(([path, inode]) => inodeAt(path) !== inode);
    return lost && movedError(lost[0]);
  }

  /** @throws MirrorError `database_unusable`, and the file is no longer trusted. */
  #assertInPlace(): void {
    const lost = this.whyLost();
    if (lost) throw this.#distrusted(lost);
  }

  /** Sizes in bytes; undefined where the path no longer leads to the opened file. */
  fileSizes(): { databaseBytes: number; walBytes: number } | undefined {
    const file = statSync(this.path, { throwIfNoEntry: false });
    if (!file || file.ino !== this.#inodes.get(this.path)) return undefined;
    const wal = statSync(`${this.path}-wal`, { throwIfNoEntry: false });
    return { databaseBytes: file.size, walBytes: wal?.size ?? 0 };
  }

  /**
   * Why the file cannot be written now, as far as can be checked without writing; undefined while it can. A lock of another program counts once
   * a write has met it.
   */
  whyNotWritable(): MirrorError | undefined {
    const lost = this.whyLost();
    if (lost) return lost;
    if (this.#refused?.code === 'database_locked' && this.#isUnlocked()) this.#refused = undefined;
    return notWritable(this.path) ?? this.#distrust ?? this.#refused;
  }

  /** Whether another program that kept the file locked has let go of it; false while that cannot be tried. */
  #isUnlocked(): boolean {
    if (this.sqlite.inTransaction) return false;
    try {
      this.sqlite.exec('BEGIN IMMEDIATE; ROLLBACK');
      return true;
    } catch {
      return false;
    }
  }

  /** The lock is held when `work` begins, so the claim cannot change before the commit. */
  #claimed<T>(work: () => T): () => T {
    return () => {
      this.#assertInPlace();
      const lost = this.#claim?.check();
      if (lost) throw this.#distrusted(lost);
      return work();
    };
  }

  async #written<T>(transaction: () => Promise<T>, lockWait: number): Promise<T> {
    try {
      const result = await this.retryWhileLocked(transaction, lockWait);
      this.#refused = undefined;
      return result;
    } catch (error) {
      if (error instanceof MirrorError && (error.exit === exitStatus.file || error.code === 'database_locked'))
        this.#refused = error;
      throw error;
    }
  }

  /**
   * Closes the file and leaves it so that anyone with read access can open it. Where others keep it open, the last of our processes does
   * so.
   */
  async close(): Promise<void> {
    await this.#turns.take(() => this.#close());
  }

  async #close(): Promise<void> {
    if (!this.sqlite.open) return;
    const isOurs = !this.#distrust && !this.whyLost();
    for (const end of journalEnds) this.#inodes.delete(this.path + end);
    try {
      // Where another file is at our path now, the journal of that name is not ours to remove.
      if (!this.sqlite.readonly && isOurs) await leaveWalWhenIdle(this.sqlite, this.#clock, this.#random);
    } catch (error) {
      throw catalogued(error, this.path);
    } finally {
      this.sqlite.close();
    }
  }

  /**
   * Gives the connection to `attempt` alone, and again while another process holds the lock; others have it in between. Once the file is no longer trusted, every call fails with the original error: a later
   * success would promise what may not be on disk.
   * @throws MirrorError `database_locked` after `lockWait` milliseconds, and as `reportError`.
   */
  async retryWhileLocked<T>(attempt: () => T | Promise<T>, lockWait = this.#lockWait): Promise<T> {
    const begun = this.#clock.monotonic();
    const deadline = begun + lockWait;
    let isTold = false;
    for (let tries = 1; ; tries++) {
      if (this.#distrust) throw this.#distrust;
      try {
        return await this.#turns.take(() => {
          if (this.sqlite.open) return attempt();
          throw new MirrorError('interrupted', `${this.path} was closed meanwhile.`);
        });
      } catch (error) {
        const now = this.#clock.monotonic();
        if (!isBusy(error) || now >= deadline) throw this.reportError(error);
        if (!isTold && now - begun >= toldAfter) {
          isTold = true;
          this.#onLocked?.(lockHolder(this.path)?.who ?? 'another program');
        }
        await sleep(this.#clock, lockRetryDelay(tries, this.#random));
      }
    }
  }

  /** Converts an error of SQLite, also of another connection, to a catalogued one; some end the trust in the file. */
  reportError(error: unknown): unknown {
    const converted = catalogued(error, this.path);
    return converted instanceof MirrorError && endsTrust(error) ? this.#distrusted(converted) : converted;
  }

  #distrusted(error: MirrorError): MirrorError {
    if (this.#distrust) return this.#distrust;
    this.#distrust = error;
    this.#onDistrust?.(error);
    return error;
  }
}

/** The endings of the journal and of its index. */
const journalEnds = ['-wal', '-shm'];

function inodeAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** The error for a path that leads to another file than the opened one. */
export function movedError(path: string): MirrorError {
  return new MirrorError('database_unusable', `${path} was moved or deleted while it was in use.`);
}

/**
 * Waits of writers: for the lock of another process, or a moment without readers. The driver itself never waits,
 * because it would block the event loop.
 */

const quickTries = 100;

/** After so many milliseconds a wait is told. */
const toldAfter = 1_500;

/**
 * Milliseconds until the next try. Most transactions are short, and another process may leave only moments between two of its own; a lock
 * that is held for longer is tried less often.
 */
function lockRetryDelay(tries: number, random: Random): number {
  return tries <= quickTries ? 1 + 2 * random.fraction() : 10 + 40 * random.fraction();
}

/**
 * The error of a write at `path` that another program keeps from beginning; undefined where it can begin, where this user may not write, and
 * where a process of this program writes, which ends by itself. Asks by a connection of its own, which changes nothing.
 */
export function lockHeldAt(path: string): MirrorError | undefined {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectWriter(path, shortLockWait);
    sqlite.exec('BEGIN IMMEDIATE; ROLLBACK');
    return undefined;
  } catch (error) {
    const met = catalogued(error, path);
    return met instanceof MirrorError && met.code === 'database_locked' && lockHolder(path)?.isOurs !== true
      ? met
      : undefined;
  } finally {
    sqlite?.close();
  }
}

/** Whether an earlier version made the file. */
function isOlder(sqlite: Sqlite, migrations: readonly Migration[]): boolean {
  return sqlite.pragma('user_version', { simple: true }) !== 0 && isBehind(sqlite, migrations);
}

/** How often closing tries to find a moment without readers. */
const restAttempts = 20;

/** Leaves WAL in a moment without readers; stays in WAL where there is none. @throws SqliteError. */
async function leaveWalWhenIdle(sqlite: Sqlite, clock: Clock, random: Random): Promise<void> {
  for (let attempt = 0; attempt < restAttempts; attempt++) {
    try {
      leaveWal(sqlite);
      return;
    } catch (error) {
      if (!isBusy(error)) throw error;
      await sleep(clock, 5 + 45 * random.fraction());
    }
  }
}
