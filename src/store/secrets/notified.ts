/**
 * The positions up to which webhooks may have been sent, saved outside the mirror, so that a mirror that was restored from a copy is
 * recognised.
 */
import type { Database } from '../sqlite/database.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';

export interface NotifiedPlaces {
  /** The saved cursor of a target; undefined where there is none. */
  find(target: string): Promise<string | undefined>;
  /** Saves a cursor; on disk when this resolves. */
  note(target: string, place: string): Promise<void>;
}

export function notifiedPlaces(database: Database): NotifiedPlaces {
  const { sqlite } = database;
  const find = plainStatement<{ target: string }, { place: string }>(
    sqlite,
    'SELECT place FROM notified WHERE target = :target',
  );
  const note = plainStatement<{ target: string; place: string }>(
    sqlite,
    'INSERT INTO notified (target, place) VALUES (:target, :place) ON CONFLICT (target) DO UPDATE SET place = excluded.place',
  );
  return {
    find: (target) => database.read(() => find.get({ target })?.place),
    note: (target, place) => database.write(() => void note.run({ target, place })),
  };
}
