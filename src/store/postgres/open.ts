/** A mirror in PostgreSQL, opened to write, with this process among those that use it. */
import { join } from 'node:path';
import type { Clock, Random } from '../../domain/clock.ts';
import type { PostgresStore } from '../../settings/parse.ts';
import { readMigrations } from '../sqlite/migrate.ts';
import { PostgresDatabase } from './database.ts';
import { PostgresProcess } from './processes.ts';
import { mirrorServer } from './server.ts';

export interface PostgresMirror {
  readonly store: PostgresStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly migrations: string;
}

/** The caller stops the process, and closes the database. @throws MirrorError as `PostgresDatabase.open`. */
export async function openPostgres(
  options: PostgresMirror,
): Promise<{ readonly database: PostgresDatabase; readonly process: PostgresProcess }> {
  const migrations = readMigrations(join(options.migrations, 'postgres'));
  const program = migrations.at(-1)?.program ?? 'unknown';
  const server = mirrorServer(options.store);
  const database = await PostgresDatabase.open({ ...options, server, migrations });
  try {
    const process = new PostgresProcess({ ...options, program, database });
    await process.start();
    return { database, process };
  } catch (error) {
    await database.close();
    throw error;
  }
}
