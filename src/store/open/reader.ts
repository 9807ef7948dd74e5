/** The mirror, opened read-only: answers reports and makes copies, without exposing its connection. */
import type { Writable } from 'node:stream';
import type { Export, StreamOptions } from '../export/write-export.ts';
import type { ProcessOptions } from '../export/copy-mirror.ts';
import type { Exported } from '../export/export-job.ts';
import { Database, type DatabaseOptions } from '../sqlite/database.ts';
import { faultsOf } from '../sqlite/integrity.ts';
import type { Query } from '../sqlite/query.ts';

export class Reader {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** @returns undefined where there is no mirror yet. @throws MirrorError as `Database.openToRead`. */
  static open(options: DatabaseOptions): Reader | undefined {
    const database = Database.openToRead(options);
    return database && new Reader(database);
  }

  /** Runs a report on one consistent state. */
  readonly query: Query = (report) => this.#database.read(() => report(this.#database.sqlite));

  get isOpen(): boolean {
    return this.#database.sqlite.open;
  }

  /** Sizes in bytes. */
  get sizes(): { databaseBytes: number; walBytes: number } {
    return this.#database.fileSizes() ?? { databaseBytes: 0, walBytes: 0 };
  }

  /** The result of SQLite's integrity check; empty where the file is sound. */
  faults(): Promise<string[]> {
    return this.#database.read(() => faultsOf(this.#database.sqlite));
  }

  /** Like `exportToFile`, which is loaded only when needed. */
  async exportToFile(file: string, what: Export, options: ProcessOptions): Promise<Exported> {
    const { exportToFile } = await import('../export/write-export.ts');
    return await exportToFile(this.#database, file, what, options);
  }

  /** Like `exportToStream`, which is loaded only when needed. */
  async exportToStream(
    stream: Writable | NodeJS.WritableStream,
    what: Export,
    options: StreamOptions,
  ): Promise<Exported> {
    const { exportToStream } = await import('../export/write-export.ts');
    return await exportToStream(this.#database, stream, what, options);
  }

  /** Closes the file. May be called more than once. */
  close(): Promise<void> {
    return this.#database.close();
  }
}
