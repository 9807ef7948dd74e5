/**
 * The positions up to which webhooks may have been sent, saved outside the mirror, so that a mirror that was restored from a copy is
 * recognised.
 */
import type { Database } from '../sqlite/database.ts';
import { plainStatement, type Statement } from '../sqlite/plain-statement.ts';

export class NotifiedPositions {
  readonly #database: Database;
  readonly #find: Statement<{ target: string }, { place: string }>;
  readonly #save: Statement<{ target: string; place: string }>;

  constructor(database: Database) {
    const { sqlite } = database;
    this.#database = database;
    this.#find = plainStatement(sqlite, 'SELECT place FROM notified WHERE target = :target');
    this.#save = plainStatement(
      sqlite,
      'INSERT INTO notified (target, place) VALUES (:target, :place) ON CONFLICT (target) DO UPDATE SET place = excluded.place',
    );
  }

  /** The saved cursor of a target; undefined where there is none. */
  find(target: string): Promise<string | undefined> {
    return this.#database.read(() => this.#find.get({ target })?.place);
  }

  /** Saves a cursor; on disk when this resolves. */
  save(target: string, position: string): Promise<void> {
    return this.#database.write(() => void this.#save.run({ target, place: position }));
  }
}
