/** A mirror in a schema of PostgreSQL, for who only reads it. */
import { join } from 'node:path';
import type { Clock } from '../../domain/clock.ts';
import type { ProcessesThere } from '../../domain/processes.ts';
import type { PostgresStore } from '../../settings/parse.ts';
import { postgresRows } from '../export/postgres-rows.ts';
import type { ExportedMirror } from '../export/write-export.ts';
import { PostgresDatabase } from '../postgres/database.ts';
import { processesThere } from '../postgres/processes.ts';
import { schemaBytes } from '../postgres/size.ts';
import { mirrorServer } from '../postgres/server.ts';
import { readMigrations } from '../sqlite/migrate.ts';
import type { ReadPlace } from './place.ts';

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
    });
    return database && new PostgresReadPlace(database);
  }

  moved(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async sizes(): Promise<{ databaseBytes: number; walBytes: number }> {
    return { databaseBytes: await schemaBytes(this.database), walBytes: 0 };
  }

  /** The server checks its pages itself, if at all. */
  faults(): Promise<string[]> {
    return Promise.resolve([]);
  }

  processes(): Promise<ProcessesThere> {
    return this.database.readOne(() => processesThere(this.database.connection));
  }
}
