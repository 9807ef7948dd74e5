/** `move DIR`: the files of the installation go to another folder; the settings are a person's to change. */
import { basename, join } from 'node:path';
import { exitStatus, MirrorError } from '../../domain/errors.ts';
import { resolvedPath, settingsFileOf } from '../../store/files/own-files.ts';
import { moveInstallation } from '../../store/moving/move.ts';
import type { CommandHandler } from '../process/command.ts';
import { settingsOfMove } from '../setup/load-settings.ts';
import { print, printJson, printNotice } from '../terminal/print.ts';

export const move: CommandHandler = async (call) => {
  const { context, options } = call;
  const [folder = ''] = call.args;
  const settings = settingsOfMove(call);
  const file = settingsFileOf(settings);
  if (file === resolvedPath(join(context.packageRoot, 'config/sandbox.yaml')))
    throw new MirrorError(
      'usage',
      'The files of the built-in sandbox stay where they are: name settings with -c FILE.',
    );
  const { folder: place, files } = await moveInstallation(settings, folder, context.clock);
  // What is not there yet is to be made in the new folder too.
  const newPlace = (path: string): string => join(place, basename(resolvedPath(path)));
  const paths = { database: newPlace(settings.database), secrets: newPlace(settings.secrets) };
  if (options.json) {
    const moved = files.map(({ from, to }) => ({ from, to }));
    printJson(context, { ok: true, moved, settings: { file, ...paths } });
    return exitStatus.done;
  }
  for (const { from, to } of files) print(context, `${from} is now ${to}`);
  printNotice(context, `Before you run anything else, change in ${file}:`);
  print(context, `database: ${paths.database}\nsecrets: ${paths.secrets}`);
  return exitStatus.done;
};
