/** `version`: which vendor-mirror this is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitStatus } from '../domain/errors.ts';
import type { CommandHandler } from './process/command.ts';
import { print, printJson } from './terminal/print.ts';

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

export function packageVersion(packageRoot: string): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  return version;
}
