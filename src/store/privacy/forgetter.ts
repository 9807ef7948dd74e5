/**
 * Forgets fields or a vendor: removes all their data and overwrites the pages of the file. No daemon may run meanwhile, because the file is
 * rebuilt and deliveries would wait.
 */
import { timestamp, type Clock } from '../../domain/clock.ts';
import { takeSideLock, type SideLock } from '../files/side-lock.ts';
import { mirrorOptions, type MirrorFileOptions } from '../files/mirror-options.ts';
import { Database } from '../sqlite/database.ts';
import { forgetFields, type ForgottenFields } from './forget-fields.ts';
import { forgetVendor } from './forget-vendor.ts';
import { assertRoom, overwriteDeleted, rebuild } from './overwrite.ts';

export class Forgetter {
  readonly #database: Database;
  readonly #lock: SideLock;
  readonly #clock: Clock;

  private constructor(database: Database, lock: SideLock, clock: Clock) {
    this.#database = database;
    this.#lock = lock;
    this.#clock = clock;
  }

  /**
   * Opens the mirror exclusively; the caller closes it.
   * @throws MirrorError `already_running` while a daemon uses the mirror, `disk_full` where there is no room, and as `Database.open`.
   */
  static async open(file: MirrorFileOptions): Promise<Forgetter> {
    const lock = takeSideLock(file.path, file.clock.now());
    try {
      const database = await Database.open(mirrorOptions(file));
      try {
        assertRoom(database);
        overwriteDeleted(database.sqlite);
        return new Forgetter(database, lock, file.clock);
      } catch (error) {
        await database.close();
        throw error;
      }
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /**
   * Forgets fields of all vendors, or of one account's. Repeating the call completes one that was killed.
   * @throws MirrorError `database_locked` where another program holds the journal.
   */
  async fields(names: readonly string[], accountId?: string): Promise<ForgottenFields> {
    const forgotten = await this.#database.write(() => forgetFields(this.#database.sqlite, new Set(names), accountId));
    await rebuild(this.#database);
    return forgotten;
  }

  /**
   * Forgets a vendor; no reading stores it again.
   * @returns whether it was stored, or forgotten before; otherwise nothing is done.
   * @throws MirrorError as `fields`.
   */
  async vendor(account_id: string, vendorid: number): Promise<boolean> {
    const { sqlite } = this.#database;
    const now = timestamp(this.#clock.now());
    const known = await this.#database.write(() => forgetVendor(sqlite, { account_id, vendorid }, now));
    if (known) await rebuild(this.#database);
    return known;
  }

  async close(): Promise<void> {
    try {
      await this.#database.close();
    } finally {
      this.#lock.release();
    }
  }
}
