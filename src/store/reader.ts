/** The mirror, opened read-only: answers reports and makes copies, without exposing its connection. */
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import type { Exported } from './export/export-process.ts';
import type { Export, ProcessOptions, StreamOptions } from './export/write-export.ts';
import { noteDamage, resolvedPath } from './files/own-files.ts';
import { SqliteDatabase, type DatabaseOptions } from './sqlite/database.ts';
import { readMigrations, type Migration } from './sqlite/migrate.ts';
import { faultsOf, isCausedByDamage } from './sqlite/sqlite-errors.ts';
import type { Query } from './sql/statement.ts';

export class Reader {
  readonly #database: SqliteDatabase;

  private constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  /** @returns undefined where there is no mirror yet. @throws MirrorError as `Database.openToRead`. */
  static open(options: DatabaseOptions): Reader | undefined {
    const database = SqliteDatabase.openToRead(options);
    return database && new Reader(database);
  }

  /** Runs a report on one consistent state. */
  readonly query: Query = (report) => this.#database.read(() => report(this.#database.connection));

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
    const { exportToFile } = await import('./export/write-export.ts');
    return await exportToFile(this.#database, file, what, options);
  }

  /** Like `exportToStream`, which is loaded only when needed. */
  async exportToStream(
    stream: Writable | NodeJS.WritableStream,
    what: Export,
    options: StreamOptions,
  ): Promise<Exported> {
    const { exportToStream } = await import('./export/write-export.ts');
    return await exportToStream(this.#database, stream, what, options);
  }

  /** Closes the file. May be called more than once. */
  close(): Promise<void> {
    return this.#database.close();
  }
}

/** Options for opening the mirror, for writing or reading. */
export interface MirrorFileOptions extends Pick<
  DatabaseOptions,
  'path' | 'clock' | 'random' | 'lockWait' | 'isDraft' | 'onDistrust' | 'onMigration'
> {
  /** The folder with the migrations, `mirror/` and `secrets/`. */
  readonly migrations: string;
}

/** Permissions of a new mirror. */
export const mirrorMode = 0o640;

/** The migrations of the mirror, from the folder with those of both files. */
export function mirrorMigrations(folder: string): Migration[] {
  return readMigrations(join(folder, 'mirror'));
}

/** The options of the mirror. Damage leaves a marker for the next daemon. */
export function mirrorOptions(place: MirrorFileOptions): DatabaseOptions {
  return {
    ...place,
    mode: mirrorMode,
    migrations: mirrorMigrations(place.migrations),
    onDistrust(error) {
      if (isCausedByDamage(error)) noteDamage(resolvedPath(place.path));
      place.onDistrust?.(error);
    },
  };
}
