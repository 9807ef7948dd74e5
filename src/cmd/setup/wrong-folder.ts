/** Finds a command that was started in another folder than usual, where it would begin a second mirror. */
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { MirrorError } from '../../domain/errors.ts';

/**
 * A relative path starts at the working directory. Where no mirror is there, but one is at that path beside the settings file, the command
 * was meant for that one.
 * @param workingDirectory absolute
 * @throws MirrorError `settings_invalid`
 */
export function refuseWrongFolder(settingsFile: string, database: string, workingDirectory: string): void {
  if (isAbsolute(database)) return;
  const folder = dirname(resolve(workingDirectory, settingsFile));
  const [here, besideSettings] = [resolve(workingDirectory, database), resolve(folder, database)];
  if (relative(here, besideSettings) === '' || existsSync(here) || !existsSync(besideSettings)) return;
  throw new MirrorError(
    'settings_invalid',
    `There is no mirror ${here}, but there is one beside the settings file: ${besideSettings}. Relative paths start at the working directory: run the command in ${folder}, or name absolute paths in ${settingsFile}.`,
  );
}
