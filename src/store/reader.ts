/** The mirror, opened read-only: answers reports and makes copies, without exposing its connection. */
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import type { Clock } from '../domain/clock.ts';
import type { MirrorError } from '../domain/errors.ts';
import type { ProcessesThere } from '../domain/processes.ts';
import type { PostgresStore } from '../settings/parse.ts';
import type { Exported } from './export/formats.ts';
import type { Export, ProcessOptions, StreamOptions } from './export/write-export.ts';
import { processesAt } from './files/locks.ts';
import { moveOf, type Move } from './files/moved.ts';
import { noteDamage, resolvedPath } from './files/own-files.ts';
import type { ReadPlace } from './places/place.ts';
import { lockHeldAt, SqliteDatabase, type DatabaseOptions } from './sqlite/database.ts';
import { readMigrations, type Migration } from './sqlite/migrate.ts';
import { faultsOf, isCausedByDamage } from './sqlite/sqlite-errors.ts';
import type { Query } from './sql/statement.ts';

export class Reader {
  /** What depends on where the mirror is kept. */
  readonly place: Omit<ReadPlace, 'database' | 'exported'>;
  readonly #place: ReadPlace;

  private constructor(place: ReadPlace) {
    this.place = place;
    this.#place = place;
  }

  /** Opens a file. @returns undefined where there is no mirror yet. @throws MirrorError as `SqliteDatabase.openToRead`. */
  static open(options: DatabaseOptions): Promise<Reader | undefined> {
    return Promise.resolve().then(() => {
      const database = SqliteDatabase.openToRead(options);
      return database && new Reader(new FileReadPlace(database));
    });
  }

  /** Opens a schema of PostgreSQL. @returns undefined where there is no mirror yet. @throws MirrorError as `PostgresDatabase.openToRead`. */
  static async openPostgres(
    store: PostgresStore,
    options: { readonly migrations: string; readonly clock: Clock },
  ): Promise<Reader | undefined> {
    const { PostgresReadPlace } = await import('./places/postgres-place.ts');
    const place = await PostgresReadPlace.open(store, options);
    return place && new Reader(place);
  }

  /** Runs a report on one consistent state. */
  readonly query: Query = (report) => {
    const { database } = this.#place;
    return database.read(() => report(database.connection));
  };

  /** Like `exportToFile`, which is loaded only when needed. */
  async exportToFile(file: string, what: Export, options: ProcessOptions): Promise<Exported> {
    const { exportToFile } = await import('./export/write-export.ts');
    return await exportToFile(this.#place.exported, file, what, options);
  }

  /** Like `exportToStream`, which is loaded only when needed. */
  async exportToStream(
    stream: Writable | NodeJS.WritableStream,
    what: Export,
    options: StreamOptions,
  ): Promise<Exported> {
    const { exportToStream } = await import('./export/write-export.ts');
    return await exportToStream(this.#place.exported, stream, what, options);
  }

  /** May be called more than once. */
  close(): Promise<void> {
    return this.#place.database.close();
  }
}

/** A mirror in a file. */
class FileReadPlace implements ReadPlace {
  readonly database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.database = database;
  }

  get exported(): SqliteDatabase {
    return this.database;
  }

  moved(): Promise<Move | undefined> {
    return this.database.read(() => moveOf(this.database.connection));
  }

  sizes(): Promise<{ databaseBytes: number; walBytes: number }> {
    return Promise.resolve(this.database.fileSizes() ?? { databaseBytes: 0, walBytes: 0 });
  }

  faults(): Promise<string[]> {
    return this.database.read(() => faultsOf(this.database.sqlite));
  }

  heldLock(): MirrorError | undefined {
    return lockHeldAt(this.database.path);
  }

  processes(): Promise<ProcessesThere> {
    return Promise.resolve(processesAt(this.database.path));
  }
}

/** Options for opening the mirror, for writing or reading. */
export interface MirrorFileOptions extends Pick<
  DatabaseOptions,
  'path' | 'clock' | 'random' | 'lockWait' | 'isDraft' | 'onDistrust' | 'onLocked' | 'onMigration'
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
