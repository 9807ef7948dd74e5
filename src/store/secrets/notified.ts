/** Up to which change webhooks may have left, noted outside of the mirror: a mirror that is put back from a copy is known by it. */
import type { Database } from '../sqlite/database.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';

export interface NotifiedPlaces {
  /** The cursor noted for a target; undefined where there is none. */
  find(target: string): Promise<string | undefined>;
  /** Notes a cursor; on disk when this resolves. */
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
