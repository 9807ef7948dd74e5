/**
 * Connections of better-sqlite3: durable, with short waits, and of a version without known faults. The version is read by `prepare` itself,
 * because statements are built on what this file opens.
 */
import type BetterSqlite3 from 'better-sqlite3';
import { MirrorError } from '../../domain/errors.ts';
import { Driver, driverFolder } from './driver-package.ts';

export const SqliteError = Driver.SqliteError;
export type Sqlite = BetterSqlite3.Database;

/** How long opening a file may block the event loop while another connection holds the lock, in milliseconds. */
const lockWait = 100;

/** In older versions, concurrent checkpoints can corrupt the file. */
const oldestSqlite = '3.51.3';

/** @throws MirrorError `driver_unusable` where the driver is refused, or its native part cannot be loaded, which happens with the first connection. */
function connect(path: string, options: BetterSqlite3.Options): Sqlite {
  // The driver would open the file without them.
  if (path.trim() !== path)
    throw new MirrorError('database_unusable', `The path "${path}" has blanks at its beginning or its end.`);
  try {
    return new Driver(path, options);
  } catch (error) {
    if (!(error instanceof Error) || !isOfLoading(error)) throw error;
    throw new MirrorError(
      'driver_unusable',
      `The SQLite driver in ${driverFolder} cannot be loaded by Node.js ${process.version} on this system: ${error.message.split('\n', 1).join()}`,
      { cause: error },
    );
  }
}

function isOfLoading(error: Error): boolean {
  const code = 'code' in error ? error.code : undefined;
  const isMissing = code === 'MODULE_NOT_FOUND' || error.message.startsWith('Could not locate the bindings file');
  return code === 'ERR_DLOPEN_FAILED' || isMissing;
}

/** Opens a writing connection that waits `wait` milliseconds for a lock. Reads nothing yet. @throws SqliteError. */
export function connectWriter(path: string, wait = lockWait): Sqlite {
  return connect(path, { timeout: wait });
}

/**
 * Opens a connection that excludes all others, without reading what may be damaged.
 * @throws SqliteError where another connection is open, even an idle one in WAL.
 */
export function connectAlone(path: string): Sqlite {
  const sqlite = connect(path, { timeout: lockWait });
  try {
    sqlite.pragma('locking_mode = EXCLUSIVE');
    sqlite.exec('BEGIN EXCLUSIVE');
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

export function connectMemory(): Sqlite {
  return connect(':memory:', {});
}

/** Opens a read-only connection to an existing file, which waits `wait` milliseconds for a lock. @throws SqliteError. */
export function connectReader(path: string, wait = lockWait): Sqlite {
  return connect(path, { timeout: wait, readonly: true, fileMustExist: true });
}

/**
 * Leaves WAL, so that users without write access to the folder can open the file when no process of ours runs. Readers are excluded as
 * briefly as possible: only one page is left to write.
 * @throws SqliteError where another connection is open.
 */
export function leaveWal(sqlite: Sqlite): void {
  sqlite.pragma('busy_timeout = 0');
  sqlite.pragma('wal_checkpoint(TRUNCATE)');
  sqlite.pragma('synchronous = OFF');
  sqlite.pragma('journal_mode = MEMORY');
}

/**
 * Enters WAL, with every commit on disk before it returns. From now on no statement waits for a lock, because the driver would block the
 * event loop.
 * @throws SqliteError, also where another connection is in the way; MirrorError `database_unusable` where SQLite is too old, or the disk
 * offers no such journal.
 */
export function enterWal(sqlite: Sqlite): void {
  sqlite.pragma('busy_timeout = 0');
  assertVersion(sqlite);
  sqlite.pragma('synchronous = FULL');
  // A new file is synced at the start, because SQLite discards a journal beside an empty file. In an older file the switch changes a few
  // bytes of one sector, which reach the disk together or not at all; both states are valid.
  const isNew = sqlite.pragma('page_count', { simple: true }) === 0;
  if (!isNew && sqlite.pragma('journal_mode', { simple: true }) !== 'wal') {
    sqlite.pragma('journal_mode = MEMORY');
    sqlite.pragma('synchronous = OFF');
  }
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('synchronous = FULL');
  sqlite.pragma('foreign_keys = ON');
  const mode = sqlite.pragma('journal_mode', { simple: true });
  const synchronous = sqlite.pragma('synchronous', { simple: true });
  if (mode !== 'wal' || synchronous !== 2)
    throw new MirrorError(
      'database_unusable',
      `${sqlite.name}: the disk does not offer a durable journal (journal_mode ${String(mode)}, synchronous ${String(synchronous)}).`,
    );
}

/** How a transaction begins: `immediate` holds the write lock from the start, `deferred` is for reading. */
export type Beginning = 'immediate' | 'deferred';

type Edge = Beginning | 'commit' | 'rollback';

/** The transactions of a connection, of which one may be open at a time. */
export class Transactions {
  readonly sqlite: Sqlite;
  readonly #edges: Readonly<Record<Edge, Pick<BetterSqlite3.Statement, 'run'>>>;

  constructor(sqlite: Sqlite) {
    this.sqlite = sqlite;
    this.#edges = {
      immediate: sqlite.prepare('BEGIN IMMEDIATE'),
      deferred: sqlite.prepare('BEGIN DEFERRED'),
      commit: sqlite.prepare('COMMIT'),
      rollback: sqlite.prepare('ROLLBACK'),
    };
  }

  /** Runs `body`, which waits for nothing but statements, and commits; where it fails, nothing of it stays. @throws SqliteError. */
  async run<T>(beginning: Beginning, body: () => T | Promise<T>): Promise<T> {
    this.#edges[beginning].run();
    try {
      const result = await body();
      this.#edges.commit.run();
      return result;
    } catch (error) {
      if (this.sqlite.inTransaction) this.#edges.rollback.run();
      throw error;
    }
  }

  /**
   * As `run`, without waiting for the commit to reach the disk. A power cut may undo it, but only together with all commits after it: the
   * journal is written in order, and the next durable commit includes it. Killing the process undoes nothing.
   */
  async withoutSync<T>(body: () => T | Promise<T>): Promise<T> {
    // The driver's `pragma` method reads a result, which costs several times the pragma itself.
    this.sqlite.exec('PRAGMA synchronous = NORMAL');
    try {
      return await this.run('immediate', body);
    } finally {
      this.sqlite.exec('PRAGMA synchronous = FULL');
    }
  }
}

/** Runs `body` inside a transaction; where it fails, nothing of it stays, and the transaction goes on. @throws what `body` throws. */
export async function savepoint<T>(sqlite: Sqlite, body: () => T | Promise<T>): Promise<T> {
  sqlite.exec('SAVEPOINT part');
  try {
    const result = await body();
    sqlite.exec('RELEASE part');
    return result;
  } catch (error) {
    // Some errors have ended the transaction.
    if (sqlite.inTransaction) sqlite.exec('ROLLBACK TO part; RELEASE part');
    throw error;
  }
}

function assertVersion(sqlite: Sqlite): void {
  const version = sqlite.prepare<[], string>('SELECT sqlite_version()').pluck().get() ?? '0';
  if (compareVersions(version, oldestSqlite) < 0)
    throw new MirrorError('database_unusable', `SQLite ${version} is too old; ${oldestSqlite} or newer is needed.`);
}

export function compareVersions(left: string, right: string): number {
  const [a, b] = [left, right].map((version) => version.split('.').map(Number)) as [number[], number[]];
  const at = a.findIndex((part, index) => part !== (b[index] ?? 0));
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}
