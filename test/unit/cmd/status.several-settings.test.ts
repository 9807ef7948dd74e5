/** Several settings files on one mirror, each with accounts of its own. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ask } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const served = ({ database }: Testbed<'command'>): unknown[] =>
  ask(database, 'SELECT account_id FROM _accounts WHERE not_served_since IS NULL ORDER BY 1').map(
    ({ account_id }) => account_id,
  );

/** A second file beside the usual one, which names these accounts. */
function settingsFor(line: Testbed<'command'>, accounts: string): string {
  const path = join(line.folder, 'second.yaml');
  writeFileSync(path, readFileSync(line.settings, 'utf8').replace(/^accounts: .*$/m, `accounts: [${accounts}]`));
  return path;
}

it('K12 an account of another settings file is still served, and only its own file can remove it', async () => {
  const line = await testbed({ level: 'command', service: { account: ['6BApk', 'other', 'third', 'fourth'] } });
  const second = settingsFor(line, 'third, fourth');
  for (const file of [line.settings, second, line.settings])
    expect((await line.runBare('sync', '-c', file)).stderr).not.toContain('any more');
  expect(served(line)).toEqual(['6BApk', 'fourth', 'other', 'third']);
  for (const file of [line.settings, second])
    expect((await line.runBare('status', '-c', file)).stdout).not.toContain('any more');

  settingsFor(line, 'fourth');
  expect((await line.runBare('status', '-c', second)).stdout).toContain('third: It is no longer in the settings');
  expect((await line.run('sync')).stderr).not.toContain('any more');
  expect(served(line)).toEqual(['6BApk', 'fourth', 'other', 'third']);
  expect((await line.runBare('sync', '-c', second)).stderr).toContain('third is no longer in the settings');
  expect(served(line)).toEqual(['6BApk', 'fourth', 'other']);
  for (const file of [line.settings, second])
    expect((await line.runBare('status', '-c', file)).stdout).toContain('third: It is no longer in the settings');
});

it('K12 an account that moves to another settings file belongs to that one', async () => {
  const line = await testbed({ level: 'command', service: { account: ['6BApk', 'other'] } });
  await line.run('sync');
  const second = settingsFor(line, 'other');
  await line.runBare('sync', '-c', second);
  writeFileSync(line.settings, readFileSync(line.settings, 'utf8').replace('[6BApk, other]', '[6BApk]'));
  expect((await line.run('sync')).stderr).not.toContain('any more');
  expect(served(line)).toEqual(['6BApk', 'other']);
});
