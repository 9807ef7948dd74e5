/** A mirror, or its secrets, as operations use it, whichever engine holds it. */
import { MirrorError } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { Clock } from '../../domain/clock.ts';
import { Operations, type Connection } from './statement.ts';

export interface Database {
  /** Where it is, as messages say it. */
  readonly path: string;
  /** Statements are prepared on it, and run inside the transactions below. */
  readonly connection: Connection;
  /**
   * Runs `work` in one transaction, beside which nobody else writes. Only SQL belongs inside. On disk when this resolves: whoever is told of
   * it may rely on it.
   * @param lockWait milliseconds to wait for other writers, for callers that cannot wait as long as usual
   * @throws MirrorError `database_locked` after that time, and of the engine.
   */
  write<T>(work: () => T | Promise<T>, lockWait?: number): Promise<T>;
  /** As `write`, without waiting for the disk. Only for writes that are harmless to lose in a power cut. */
  writeWithoutSync<T>(work: () => T | Promise<T>, lockWait?: number): Promise<T>;
  /** Runs `queries` on one consistent state. */
  read<T>(queries: () => T | Promise<T>): Promise<T>;
  /** Runs one statement, which is consistent in itself. */
  readOne<T>(query: () => T | Promise<T>): Promise<T>;
  /** Makes what was written last longer than whatever overwrites the store in place. */
  checkpoint(): Promise<void>;
  close(): Promise<void>;
}

/** How long to wait for other writers by default, in milliseconds. */
export const defaultLockWait = limits.lockWait;

/** How long to wait where the service waits for an answer, in milliseconds. */
export const shortLockWait = 2_000;

/** A column did not take a value: where it came with a record, the record cannot be stored, and all others can. */
export class RefusedValue extends MirrorError {}

/** Operations of which each is a transaction of its own. */
export abstract class Transacted extends Operations {
  protected readonly database: Database;
  protected readonly clock: Clock;

  constructor(database: Database, clock: Clock) {
    super(database.connection);
    this.database = database;
    this.clock = clock;
  }
}
