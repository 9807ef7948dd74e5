/** A new file with the mirror's tables, as durable as the mirror, and nothing between it and its driver. */
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import { migrate, readMigrations } from '../../src/store/sqlite/migrate.ts';
import { migrations } from './installation.ts';

export function bareMirror(folder: string): Driver.Database {
  const sqlite = new Driver(join(folder, 'bare.db'));
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('synchronous = FULL');
  sqlite.pragma('foreign_keys = ON');
  migrate(sqlite, readMigrations(join(migrations, 'mirror')), Date.now());
  return sqlite;
}
