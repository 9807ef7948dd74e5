/** What the tools of this folder say to a command line that they cannot take. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { packageRoot } from './support/mirror-file.ts';

it.each([
  ['simulation', '--seeds', 'many', 'It must be a whole number from 1.'],
  ['simulation', '--jobs', '0', 'It must be a whole number from 1.'],
  ['simulation', '--knobs', 'luck=good', 'There is no “luck=good” among the knobs.'],
  ['simulation', '--fault', 'rain', 'Allowed choices are unreadable is left out'],
  ['bench', '--samples', '0', 'It must be a whole number from 1.'],
  ['bench', '--only', 'frist', 'Allowed choices are first, unchanged'],
])('%s refuses %s %s, and does nothing', (tool, option, value, why) => {
  const args = ['--import', './.config/typescript-loader.js', `test/${tool}/main.ts`, option, value];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: packageRoot, encoding: 'utf8' });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toContain(why);
});
