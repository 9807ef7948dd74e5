/** A mirror in a schema of PostgreSQL, for who only reads it. */
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Clock } from '../../domain/clock.ts';
import type { PostgresStore } from '../../settings/parse.ts';
import { postgresRows } from '../export/postgres-rows.ts';
import type { ProcessesThere } from '../files/locks.ts';
import type { ExportedMirror } from '../export/write-export.ts';
import { PostgresDatabase } from '../postgres/database.ts';
import { processesThere } from '../postgres/processes.ts';
import { mirrorServer } from '../postgres/server.ts';
import { statement } from '../sql/statement.ts';
import { readMigrations } from '../sqlite/migrate.ts';
import type { ReadPlace } from './read-place.ts';

export class PostgresReadPlace implements ReadPlace {
  readonly database: PostgresDatabase;
  readonly exported: ExportedMirror;

  private constructor(database: PostgresDatabase) {
    this.database = database;
    this.exported = postgresRows(database.server, database.path);
  }

  /**
   * @param migrations the folder with all migrations
   * @returns undefined where there is no mirror yet. @throws MirrorError as `PostgresDatabase.openToRead`.
   */
  static async open(
    store: PostgresStore,
    { migrations, clock }: { readonly migrations: string; readonly clock: Clock },
  ): Promise<PostgresReadPlace | undefined> {
    const database = await PostgresDatabase.openToRead({
      ...{ server: mirrorServer(store), clock },
      migrations: readMigrations(join(migrations, 'postgres')),
      // A command asks most statements once; and behind a pooler the next transaction may have another session.
      prepares: false,
    });
    return database && new PostgresReadPlace(database);
  }

  async sizes(): Promise<{ databaseBytes: number; walBytes: number }> {
    const asked = statement<object, { bytes: number }>(
      this.database.connection,
      () => sql`
        SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bigint) AS bytes FROM pg_class c
        WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind = 'r'`,
    );
    const row = await this.database.readOne(() => asked.get({}));
    return { databaseBytes: row?.bytes ?? 0, walBytes: 0 };
  }

  /** The server checks its pages itself, if at all. */
  faults(): Promise<string[]> {
    return Promise.resolve([]);
  }

  processes(): Promise<ProcessesThere> {
    return this.database.readOne(() => processesThere(this.database.connection));
  }
}
