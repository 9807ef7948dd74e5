/** `doctor` on the files: the mirror, the secrets, and the disk that they are on. */
import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Settings } from '../../settings/parse.ts';
import { asMirrorError, catalogue, MirrorError } from '../../domain/errors.ts';
import { vendorFields } from '../../domain/vendor.ts';
import { storedFields } from '../../store/privacy/stored-fields.ts';
import { refuseOtherFiles } from '../../store/files/daemon-files.ts';
import { freeBytes, spaceForDeliveries } from '../../store/sqlite/file-systems.ts';
import { fine, problem, warning, type Checkup } from './checkup.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { openMirror } from '../setup/open-mirror.ts';

export async function* fileCheckups(context: ProcessContext, settings: Settings): AsyncGenerator<Checkup> {
  yield await database(context, settings);
  yield secrets(settings);
  yield disk(settings);
  yield await privacy(context, settings);
}

async function database(context: ProcessContext, settings: Settings): Promise<Checkup> {
  const check = 'database';
  const path = settings.database;
  try {
    const mirror = openMirror(context, settings);
    if (!mirror) return warning(check, `${path} does not exist: nothing is mirrored yet.`, 'Run `vendor-mirror sync`.');
    try {
      const faults = await mirror.faults();
      const journal = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
      if (faults.length === 0 && journal > largeJournal)
        return warning(
          check,
          `${path} is in order, but its journal has grown to ${megabytes(journal)}.`,
          'Another program keeps a query open: end it, and run long reports on a copy (`publish`).',
        );
      if (faults.length === 0) return fine(check, `${path} is in order, ${megabytes(mirror.sizes.databaseBytes)}.`);
      return problem(check, new MirrorError('database_corrupt', `${path} is damaged: ${faults.join('; ')}.`));
    } finally {
      await mirror.close();
    }
  } catch (error) {
    return problem(check, asMirrorError(error));
  }
}

/** The daemon's log warns of it too, in bytes. */
const largeJournal = 64 * 1024 ** 2;

function secrets(settings: Settings): Checkup {
  const check = 'secrets';
  const path = settings.secrets;
  try {
    refuseOtherFiles(settings);
  } catch (error) {
    return problem(check, asMirrorError(error));
  }
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined) return fine(check, `${path} does not exist yet; it is created when it is needed.`);
  if ((mode & 0o077) === 0) return fine(check, `${path} can be read only by its owner.`);
  const { exit } = catalogue.database_unusable;
  return problem(check, { message: `${path} can be read by others.`, hint: `Run: chmod 600 ${path}`, exit });
}

/** What should not be in the mirror, and is. */
async function privacy(context: ProcessContext, settings: Settings): Promise<Checkup> {
  const check = 'privacy';
  const { exclude } = settings.vendors;
  const unknown = exclude.filter((name) => !vendorFields.some((field) => field === name));
  try {
    const mirror = openMirror(context, settings);
    const held = mirror
      ? await mirror.query((sqlite) => storedFields(sqlite, exclude)).finally(() => mirror.close())
      : [];
    if (held.length > 0)
      return warning(
        check,
        `The mirror holds ${held.join(', ')} from before it was excluded (vendors.exclude).`,
        `Stop the daemon and run \`vendor-mirror forget --field ${held.join(' ')}\`.`,
      );
  } catch {
    return fine(check, 'This cannot be checked while the database cannot be opened.');
  }
  if (unknown.length > 0)
    return warning(
      check,
      `vendors.exclude names ${unknown.join(', ')}, which vendor-mirror does not know.`,
      'Check the spelling; if the service has this field, ignore this warning.',
    );
  return fine(check, exclude.length > 0 ? `Excluded: ${exclude.join(', ')}.` : 'No field is excluded.');
}

/** Less than this should be watched, in bytes. */
const little = 1024 ** 3;

function disk({ database: path }: Settings): Checkup {
  const check = 'disk';
  const free = freeBytes(nearestFolder(resolve(path)));
  const message = `${megabytes(free)} are free beside the database.`;
  if (free < spaceForDeliveries) return problem(check, new MirrorError('disk_full', message));
  return free < little ? warning(check, message, catalogue.disk_full.hint) : fine(check, message);
}

function nearestFolder(path: string): string {
  const folder = dirname(path);
  return existsSync(folder) || folder === path ? folder : nearestFolder(folder);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;
}
