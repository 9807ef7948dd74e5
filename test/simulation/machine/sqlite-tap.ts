/**
 * Watches every transaction of every connection in this process, from outside of the program: where a process dies between
 * two statements, where the disk is full, and where somebody else holds the lock.
 */
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { Transactions, type Sqlite } from '../../../src/store/sqlite/driver.ts';

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
const prototype = Driver.prototype as Pick<Sqlite, 'pragma' | 'exec'>;
const { pragma, exec } = prototype;

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

const run = Reflect.get(Transactions.prototype, 'run');

Transactions.prototype.run = async function (beginning, body) {
  const { sqlite } = this;
  const tap = tapOf(sqlite);
  if (!tap) return run.call(this, beginning, body) as never;
  const writes = beginning === 'immediate';
  tap.before(sqlite, writes);
  const passed = { turns: 0 };
  const turn = setImmediate(() => (passed.turns += 1));
  const result = await run.call(this, beginning, body);
  clearImmediate(turn);
  if (passed.turns > 0) throw new Error('A transaction waited for something else than its statements.');
  tap.after(sqlite, writes);
  return result as never;
};
