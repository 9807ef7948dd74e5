/**
 * Watches every transaction of every connection in this process, from outside of the program: where a process dies between
 * two statements, where the disk is full, and where somebody else holds the lock.
 */
import type BetterSqlite3 from 'better-sqlite3';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import type { Sqlite } from '../../../src/store/sqlite/driver.ts';

/** What a simulation does at the transactions of one folder's files. */
export interface Tap {
  /** A connection that was not seen before. */
  opened(sqlite: Sqlite): void;
  /** May throw, and then nothing is begun. */
  before(sqlite: Sqlite, writes: boolean): void;
  /** A transaction was committed; may throw, and then the program does not learn of it. */
  after(sqlite: Sqlite, writes: boolean): void;
}

const taps = new Map<string, Tap>();
const seen = new WeakMap<Sqlite, Tap>();

/** Taps all files whose path begins with `folder`. */
export function tapInto(folder: string, tap: Tap): () => void {
  taps.set(folder, tap);
  return () => taps.delete(folder);
}

/** The error that makes the program wait and try again: for somebody whose clock has ended, for ever. */
export const busy: Error = new Driver.SqliteError('database is locked', 'SQLITE_BUSY');
export const full: Error = new Driver.SqliteError('database or disk is full', 'SQLITE_FULL');

function tapOf(sqlite: Sqlite): Tap | undefined {
  const known = seen.get(sqlite);
  if (known || sqlite.readonly) return known;
  for (const [folder, tap] of taps)
    if (sqlite.name.startsWith(folder)) {
      seen.set(sqlite, tap);
      tap.opened(sqlite);
      return tap;
    }
  return undefined;
}

/* The driver's methods are replaced once for the whole process; files of no simulated process pass through unchanged. */
const prototype = Driver.prototype as Pick<Sqlite, 'transaction' | 'pragma' | 'exec'>;
const { transaction, pragma, exec } = prototype;

prototype.pragma = function (this: Sqlite, source, options) {
  // A lock is waited for in virtual time only.
  const waits = source.startsWith('busy_timeout') && tapOf(this) !== undefined;
  return pragma.call(this, waits ? 'busy_timeout = 0' : source, options);
};

/** Pragmas around every commit that need not wait for the disk. Power is never lost here, so they would only cost time. */
const easing = new Set(['PRAGMA synchronous = NORMAL', 'PRAGMA synchronous = FULL']);

prototype.exec = function (this: Sqlite, source) {
  return easing.has(source) && tapOf(this) ? this : exec.call(this, source);
};

prototype.transaction = function (this: Sqlite, work: (...values: unknown[]) => unknown) {
  const tap = tapOf(this);
  if (!tap) return transaction.call(this, work);
  const carryOut =
    (how: 'immediate' | 'deferred') =>
    (...values: unknown[]): unknown => {
      const writes = how === 'immediate';
      tap.before(this, writes);
      const result = within(this, how, () => work(...values));
      tap.after(this, writes);
      return result;
    };
  return { immediate: carryOut('immediate'), deferred: carryOut('deferred') };
} as typeof transaction;

type Edges = Readonly<Record<'immediate' | 'deferred' | 'commit' | 'rollback', BetterSqlite3.Statement>>;
const edges = new WeakMap<Sqlite, Edges>();

/** What the driver's own transactions do. */
function within(sqlite: Sqlite, how: 'immediate' | 'deferred', work: () => unknown): unknown {
  const known = edges.get(sqlite) ?? {
    immediate: sqlite.prepare('BEGIN IMMEDIATE'),
    deferred: sqlite.prepare('BEGIN DEFERRED'),
    commit: sqlite.prepare('COMMIT'),
    rollback: sqlite.prepare('ROLLBACK'),
  };
  edges.set(sqlite, known);
  known[how].run();
  try {
    const result = work();
    known.commit.run();
    return result;
  } catch (error) {
    if (sqlite.inTransaction) known.rollback.run();
    throw error;
  }
}
