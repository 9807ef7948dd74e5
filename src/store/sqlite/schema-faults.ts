/**
 * Checks that a file still has the tables, indexes, triggers and views of its migrations: SQLite's own check does not compare their SQL.
 */
import { connectMemory, type Sqlite } from './driver.ts';
import { heldBy, migrate, type Migration } from './migrate.ts';
import { plainStatement, type None } from './plain-statement.ts';

interface Entry {
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
}

/** What is missing or changed, as text; additions by others do not count. @throws SqliteError, MirrorError as `heldBy`. */
export function schemaFaults(sqlite: Sqlite, migrations: readonly Migration[]): string[] {
  const there = new Map(entriesOf(sqlite).map((entry) => [keyOf(entry), entry.sql]));
  if (!there.has('table migrations')) return ['table migrations is missing'];
  const held = heldBy(sqlite, migrations);
  const fresh = connectMemory();
  try {
    migrate(fresh, held, 0);
    return entriesOf(fresh)
      .filter((entry) => there.get(keyOf(entry)) !== entry.sql)
      .map((entry) => `${keyOf(entry)} is missing or was changed`);
  } finally {
    fresh.close();
  }
}

const keyOf = ({ type, name }: Entry): string => `${type} ${name}`;

function entriesOf(sqlite: Sqlite): Entry[] {
  return plainStatement<None, Entry>(sqlite, 'SELECT type, name, sql FROM sqlite_schema').all({});
}
