/** Options for opening the mirror, for writing or reading. */
import { join } from 'node:path';
import type { Clock, Random } from '../../domain/clock.ts';
import type { DatabaseOptions } from '../sqlite/database.ts';
import { noteDamage } from './damage-note.ts';
import { readMigrations, type Migration } from '../sqlite/migrate.ts';
import { resolvedPath } from './own-files.ts';
import { isCausedByDamage } from '../sqlite/sqlite-errors.ts';

export interface MirrorFileOptions {
  readonly path: string;
  /** The folder with the migrations, `mirror/` and `secrets/`. */
  readonly migrations: string;
  readonly clock: Clock;
  readonly random: Random;
  /** How long to retry while another process holds the lock, in milliseconds. */
  readonly lockWait?: number;
  /** As in `DatabaseOptions`. */
  readonly isDraft?: DatabaseOptions['isDraft'];
  /** As in `DatabaseOptions`. */
  readonly onDistrust?: DatabaseOptions['onDistrust'];
  /** As in `DatabaseOptions`. */
  readonly onMigration?: DatabaseOptions['onMigration'];
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
