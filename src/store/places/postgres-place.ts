/** A mirror that is kept in a schema of PostgreSQL. */
import type { MirrorError } from '../../domain/errors.ts';
import type { Roles, ServingProcess, Work } from '../../domain/processes.ts';
import { formatByEnding, type Publication } from '../../settings/export-format.ts';
import type { Exported } from '../export/export-process.ts';
import { refuseLostColumns } from '../export/export-rows.ts';
import { postgresRows } from '../export/postgres-rows.ts';
import { exportToFile, type ProcessOptions, type RowsElsewhere } from '../export/write-export.ts';
import type { DaemonEpoch, LeftRecord } from '../files/identity.ts';
import type { MirrorSizes, Place } from './place.ts';
import { mirrorSql, runQuery } from '../sql/statement.ts';
import type { PostgresDatabase } from '../postgres/database.ts';
import { schemaBytes } from '../postgres/size.ts';
import type { PostgresProcess, Standby } from '../postgres/processes.ts';

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
