/** A mirror that is kept in a schema of PostgreSQL; below, the same for who only reads it. */
import type { MirrorError } from '../../domain/errors.ts';
import type { Roles, ServingProcess, Work, ProcessesThere } from '../../domain/processes.ts';
import { formatByEnding, type Publication } from '../../settings/export-format.ts';
import type { Exported } from '../export/formats.ts';
import { refuseLostColumns } from '../export/export-rows.ts';
import { postgresRows } from '../export/postgres-rows.ts';
import { exportToFile, type ProcessOptions, type RowsElsewhere, type ExportedMirror } from '../export/write-export.ts';
import type { DaemonEpoch, LeftRecord } from '../files/identity.ts';
import type { MirrorSizes, Place, ReadPlace } from './place.ts';
import { mirrorSql, runQuery } from '../sql/statement.ts';
import { PostgresDatabase } from '../postgres/database.ts';
import { schemaBytes } from '../postgres/size.ts';
import { type PostgresProcess, type Standby, processesThere } from '../postgres/processes.ts';
import { join } from 'node:path';
import type { Clock } from '../../domain/clock.ts';
import type { PostgresStore } from '../../settings/parse.ts';
import { mirrorServer } from '../postgres/server.ts';
import { readMigrations } from '../sqlite/migrate.ts';

export class PostgresPlace implements Place {
  readonly database: PostgresDatabase;
  readonly process: PostgresProcess;
  readonly #exported: RowsElsewhere;
  #bytes = 0;
  #isMeasuring = false;

  constructor(database: PostgresDatabase, process: PostgresProcess) {
    this.database = database;
    this.#exported = postgresRows(database.server, database.path);
    this.process = process;
  }

  /** As they were when they were asked for last: whoever asks now and then sees them grow. */
  sizes(): MirrorSizes {
    if (!this.#isMeasuring) void this.#measure();
    return { databaseBytes: this.#bytes, walBytes: 0, freeBytes: Infinity };
  }

  assertOurs(): void {
    // A server has one database of a name.
  }

  async beginDaemon(_: string, standby?: Standby): Promise<{ epoch: DaemonEpoch; left: LeftRecord }> {
    await this.process.beDaemon(standby);
    const epoch = await this.database.write(async () => {
      const raised = mirrorSql
        .updateTable('mirror_identity')
        .set((row) => ({ daemon_epoch: row('daemon_epoch', '+', 1) }))
        .returning(['mirror_id', 'daemon_epoch']);
      const [row] = await runQuery(this.database.connection, raised);
      if (!row) throw new Error('The mirror has no identity.');
      return row;
    });
    return { epoch, left: { isThere: false, isOfAnother: false } };
  }

  serve(roles: Roles): Promise<void> {
    return this.process.serve(roles);
  }

  work(): Work {
    return this.process.work;
  }

  serving(): Promise<readonly ServingProcess[]> {
    return this.process.serving();
  }

  isThere(process: string): Promise<boolean> {
    return this.process.isThere(process);
  }

  endDaemon(): Promise<void> {
    return this.process.endDaemon();
  }

  copyJournal(): Promise<void> {
    return Promise.resolve();
  }

  trouble(): MirrorError | undefined {
    return this.database.trouble();
  }

  noSpaceForSweep(): undefined {
    return undefined;
  }

  async assertPublishable({ path, format, view, query }: Publication): Promise<void> {
    const opened = await this.#exported.rows({ view, query }, undefined);
    try {
      refuseLostColumns(opened.columns, format ?? formatByEnding(path));
    } finally {
      await opened.close();
    }
  }

  publish(publication: Publication, options: ProcessOptions): Promise<Exported> {
    return exportToFile(this.#exported, publication.path, publication, options);
  }

  async close(): Promise<void> {
    await this.process.stop();
    await this.database.close();
  }

  async #measure(): Promise<void> {
    this.#isMeasuring = true;
    try {
      this.#bytes = await schemaBytes(this.database);
    } catch {
      // A server that cannot be asked is reported by everything else.
    } finally {
      this.#isMeasuring = false;
    }
  }
}

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

  heldLock(): undefined {
    return undefined;
  }

  processes(): Promise<ProcessesThere> {
    return this.database.readOne(() => processesThere(this.database.connection));
  }
}
