/** Prepares the place of a database file: its folder, its permissions, and that it has only one name. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import { refuseNetwork } from './file-systems.ts';

/**
 * Creates the folder and an empty file with its final permissions, so that it is never readable by others.
 * @returns the file's real path.
 * @throws MirrorError `database_unusable`.
 */
export function prepareFile(path: string, mode: number): string {
  try {
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path)) {
      closeSync(openSync(path, 'a', mode));
      chmodSync(path, mode);
    }
    const real = realpathSync(path);
    if (statSync(real).nlink > 1)
      throw new MirrorError(
        'database_unusable',
        `${path} has a second name (a hard link), under which its journal would be missed.`,
      );
    refuseNetwork(path, real);
    return real;
  } catch (error) {
    if (error instanceof MirrorError) throw error;
    throw new MirrorError('database_unusable', `${path} cannot be created or opened: ${asMirrorError(error).message}`, {
      cause: error,
    });
  }
}
