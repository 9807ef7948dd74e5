/** A mirror that is kept in a schema of PostgreSQL. */
import { MirrorError } from '../../domain/errors.ts';
import type { DaemonEpoch, LeftRecord } from '../files/identity.ts';
import type { MirrorSizes, Place } from './place.ts';
import { mirrorSql, runQuery } from '../sql/statement.ts';
import type { PostgresDatabase } from '../postgres/database.ts';
import type { PostgresProcess } from '../postgres/processes.ts';

export class PostgresPlace implements Place {
  readonly database: PostgresDatabase;
  readonly process: PostgresProcess;

  constructor(database: PostgresDatabase, process: PostgresProcess) {
    this.database = database;
    this.process = process;
  }

  sizes(): MirrorSizes {
    return { databaseBytes: 0, walBytes: 0, freeBytes: Infinity };
  }

  assertOurs(): void {
    // A server has one database of a name.
  }

  async beginDaemon(): Promise<{ epoch: DaemonEpoch; left: LeftRecord }> {
    await this.process.beDaemon();
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

  endDaemon(): Promise<void> {
    return Promise.resolve();
  }

  copyJournal(): Promise<void> {
    return Promise.resolve();
  }

  checkpointIn(): void {
    // The server has checkpoints of its own.
  }

  trouble(): MirrorError | undefined {
    return this.database.trouble();
  }

  noSpaceForSweep(): undefined {
    return undefined;
  }

  publish(): Promise<never> {
    throw new MirrorError('usage', 'Copies are written of a mirror in a file only.');
  }

  async close(): Promise<void> {
    await this.process.stop();
    await this.database.close();
  }
}
