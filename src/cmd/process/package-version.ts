/** The version of this program, as its package.json names it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export function packageVersion(packageRoot: string): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  return version;
}
