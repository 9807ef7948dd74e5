/** How the mirror file is opened, to write or to read. */
import { join } from 'node:path';
import type { Clock, Random } from '../../domain/clock.ts';
import type { DatabaseOptions } from '../sqlite/database.ts';
import { noteDamage } from './damage-note.ts';
import { readMigrations, type Migration } from '../sqlite/migrate.ts';
import { resolvedPath } from './own-files.ts';
import { isCausedByDamage } from '../sqlite/sqlite-errors.ts';

export interface MirrorFileOptions {
  readonly path: string;
  /** The folder that holds `mirror/` and `secrets/`, the migrations. */
  readonly migrations: string;
  readonly clock: Clock;
  readonly random: Random;
  /** How long to try while another process holds the lock, in milliseconds. */
  readonly lockWait?: number;
  /** Hears that the file is not to be trusted any more, as in `DatabaseOptions`. */
  readonly onDistrust?: DatabaseOptions['onDistrust'];
  /** Hears how far a long migration has come, as in `DatabaseOptions`. */
  readonly onMigration?: DatabaseOptions['onMigration'];
}

/** Permissions of a new mirror. */
export const mirrorMode = 0o640;

/** The migrations of the mirror, in the folder that holds those of both files. */
export function mirrorMigrations(folder: string): Migration[] {
  return readMigrations(join(folder, 'mirror'));
}

/** Damage that is met leaves a note for the next daemon. */
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
