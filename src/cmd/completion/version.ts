/** `version`: which vendor-mirror this is. */
import { exitStatus } from '../../domain/errors.ts';
import type { CommandHandler } from '../process/command.ts';
import { packageVersion } from '../process/package-version.ts';
import { print, printJson } from '../terminal/print.ts';

export const version: CommandHandler = ({ context, options }) => {
  const text = packageVersion(context.packageRoot);
  if (options.json)
    printJson(context, {
      ok: true,
      version: text,
      node: process.versions.node,
      platform: `${process.platform} ${process.arch}`,
    });
  else print(context, text);
  return Promise.resolve(exitStatus.done);
};
