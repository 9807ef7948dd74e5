/** A database that is being moved: no other process can open it meanwhile. */
import { MirrorError } from '../../domain/errors.ts';
import { lockedWithoutJournal } from '../files/copy-state.ts';
import { sync } from '../files/durable.ts';
import { connectReader, type Sqlite } from '../sqlite/driver.ts';
import { faultsOf } from '../sqlite/integrity.ts';
import { plainStatement, type None } from '../sqlite/plain-statement.ts';
import { catalogued, isBusy } from '../sqlite/sqlite-errors.ts';

export class LockedSource {
  readonly path: string;
  readonly #sqlite: Sqlite;

  private constructor(path: string, sqlite: Sqlite) {
    this.path = path;
    this.#sqlite = sqlite;
  }

  /**
   * Locks all others out, and copies the journal into the file.
   * @throws MirrorError `database_locked` where another program has the file open, `database_corrupt`, and of files.
   */
  static take(path: string): LockedSource {
    let sqlite: Sqlite | undefined;
    try {
      sqlite = lockedWithoutJournal(path);
      // An exclusive connection keeps its lock between transactions, and cannot be copied inside one.
      sqlite?.exec('COMMIT');
    } catch (error) {
      sqlite?.close();
      if (isBusy(error))
        throw new MirrorError('database_locked', `${path} is open in another program: end it first.`, { cause: error });
      throw catalogued(error, path);
    }
    if (!sqlite) throw new MirrorError('database_corrupt', `${path} is damaged, and cannot be moved as it is.`);
    return new LockedSource(path, sqlite);
  }

  /**
   * Copies the file into an empty one, and checks the copy.
   * @throws MirrorError `database_corrupt` where the copy, and so the file, is damaged; `disk_full`, and of files.
   */
  async copyTo(draft: string): Promise<void> {
    try {
      await this.#sqlite.backup(draft);
      sync(draft);
      const faults = this.#faultsOf(draft);
      if (faults.length > 0)
        throw new MirrorError('database_corrupt', `${this.path} is damaged: ${faults.join('; ')}. Nothing was moved.`);
    } catch (error) {
      throw catalogued(error, draft);
    }
  }

  close(): void {
    this.#sqlite.close();
  }

  #faultsOf(draft: string): string[] {
    const copy = connectReader(draft);
    try {
      const faults = faultsOf(copy);
      if (faults.length > 0) return faults;
      const [here, there] = [rowCounts(this.#sqlite), rowCounts(copy)];
      return here === there ? [] : ['the copy has a different number of rows'];
    } finally {
      copy.close();
    }
  }
}

/** How many rows each table has. */
function rowCounts(sqlite: Sqlite): string {
  const tables = plainStatement<None, { name: string }>(
    sqlite,
    "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
  ).all({});
  return JSON.stringify(tables.map(({ name }) => [name, plainStatement<None>(sqlite, countRows(name)).get({})]));
}

function countRows(table: string): string {
  return `SELECT count(*) AS rows FROM "${table.replaceAll('"', '""')}"`;
}
