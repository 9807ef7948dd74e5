/** A mirror that is kept in a file. */
import { dirname } from 'node:path';
import type { MirrorError } from '../../domain/errors.ts';
import type { ProcessLock } from '../../domain/processes.ts';
import type { Publication } from '../../settings/export-format.ts';
import type { Exported } from '../export/formats.ts';
import { assertPublishable } from '../export/export-rows.ts';
import { exportToFile, type ProcessOptions } from '../export/write-export.ts';
import type { MirrorSizes, Place } from './place.ts';
import { shortLockWait } from '../sql/database.ts';
import type { SqliteDatabase } from '../sqlite/database.ts';
import { freeBytes, noSpaceForDelivery, noSpaceForSweep } from '../sqlite/file-systems.ts';
import {
  forgetDaemonFiles,
  mirrorClaim,
  nextEpoch,
  rememberDaemonFiles,
  type DaemonEpoch,
  type LeftRecord,
} from '../files/identity.ts';

/**
 * When a commit of the daemon copies the journal: after twice as many pages as a commit of a command, so that deliveries do not wait for what a
 * command beside it has written.
 */
const journalPages = 2_000;

export class FilePlace implements Place {
  readonly database: SqliteDatabase;
  readonly process: ProcessLock;

  constructor(database: SqliteDatabase, process: ProcessLock) {
    this.database = database;
    this.process = process;
  }

  sizes(): MirrorSizes {
    const { databaseBytes, walBytes } = this.database.fileSizes() ?? { databaseBytes: 0, walBytes: 0 };
    return { databaseBytes, walBytes, freeBytes: this.#freeBytes() };
  }

  assertOurs(): void {
    this.database.assertOurs();
  }

  async beginDaemon(secrets: string): Promise<{ epoch: DaemonEpoch; left: LeftRecord }> {
    const { sqlite, path } = this.database;
    const begun = await this.database.write(() => ({
      epoch: nextEpoch(sqlite),
      left: rememberDaemonFiles(sqlite, { database: path, secrets }),
    }));
    await this.database.requireClaim(mirrorClaim(sqlite, begun.epoch));
    sqlite.pragma(`wal_autocheckpoint = ${journalPages}`);
    return begun;
  }

  serve(): Promise<void> {
    return Promise.resolve();
  }

  work(): null {
    return null;
  }

  serving(): Promise<null> {
    return Promise.resolve(null);
  }

  isThere(process: string): Promise<boolean> {
    return Promise.resolve(process === this.process.name);
  }

  endDaemon(): Promise<void> {
    return this.database.write(() => forgetDaemonFiles(this.database.sqlite), shortLockWait);
  }

  copyJournal(): Promise<void> {
    return this.database.checkpoint();
  }

  trouble(): MirrorError | undefined {
    return this.database.whyNotWritable() ?? noSpaceForDelivery(this.#freeBytes());
  }

  noSpaceForSweep(): MirrorError | undefined {
    return noSpaceForSweep(this.#freeBytes(), this.database.path);
  }

  assertPublishable(publication: Publication): Promise<void> {
    const { connection } = this.database;
    return this.database.read(() => assertPublishable(connection, publication));
  }

  publish(publication: Publication, options: ProcessOptions): Promise<Exported> {
    return exportToFile(this.database, publication.path, publication, options);
  }

  async close(): Promise<void> {
    try {
      await this.database.close();
    } finally {
      this.process.release();
    }
  }

  #freeBytes(): number {
    return freeBytes(dirname(this.database.path));
  }
}
