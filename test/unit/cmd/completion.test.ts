import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/mirror-file.ts';
import { testbed } from '../../support/testbed.ts';

async function script(shell: string): Promise<string> {
  const { status, stdout } = await (await testbed({ level: 'command' })).runBare('completion', shell);
  expect(status).toBe(0);
  return stdout;
}

function isInstalled(shell: string): boolean {
  return spawnSync(shell, ['-c', 'true']).status === 0;
}

/** What bash offers for the last of these words. */
async function offered(...words: string[]): Promise<string[]> {
  const file = join(temporaryFolder(), 'completion.bash');
  writeFileSync(
    file,
    `${await script('bash')}COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _vendor_mirror 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`,
  );
  const text = execFileSync('bash', ['--norc', file, 'vendor-mirror', ...words], { encoding: 'utf8' });
  return text.split('\n').filter((word) => word !== '');
}

describe('completion in bash', () => {
  it.each([
    [['ver'], ['verify', 'version']],
    [
      ['vendors', ''],
      ['list', 'show', 'create', 'edit', 'delete', 'archive', 'restore'],
    ],
    [['-c', 'vendors', 'vendors', 'list', '--st'], ['--state']],
    [
      ['vendors', 'list', '--state', 'a'],
      ['active', 'archived', 'all'],
    ],
    [['vendors', 'list', '--state', '=', 'd'], ['deleted']],
    [['deliveries', 'list', '--outcome', '=', 'pa'], ['parked']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['status', '--log-level', 'w'], ['warn']],
    [['-V'], ['-V']],
  ])('offers after %j: %j', async (words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });

  it.each([[['-c', '']], [['export', '']], [['vendors', 'show', '']], [['vendors', 'list', '--search', '']]])(
    'leaves files, and values that cannot be known, to the shell: %j',
    async (words) => {
      expect(await offered(...words)).toEqual([]);
    },
  );
});

describe.each(['bash', 'zsh', 'fish'])('the script for %s', (shell) => {
  it('names every command and its own options', async () => {
    const text = await script(shell);
    for (const word of ['vendors', 'restore', 'sandbox', 'refresh-token', 'approve-absences', 'not_found'])
      expect(text).toContain(word);
  });

  it('is accepted by the shell, if that is installed', async () => {
    const file = join(temporaryFolder(), 'script');
    writeFileSync(file, await script(shell));
    const { status, stderr } = isInstalled(shell) ? spawnSync(shell, ['-n', file]) : { status: 0, stderr: '' };
    expect([status, String(stderr)]).toEqual([0, '']);
  });
});

it('completion refuses a shell that it does not know, and says which it does', async () => {
  const { status, stdout, stderr } = await (await testbed({ level: 'command' })).runBare('completion', 'tcsh');
  expect([status, stdout]).toEqual([64, '']);
  expect(stderr).toContain('Allowed choices are bash, zsh, fish.');
});

it('version, -V and --version print the same; with --json also the platform', async () => {
  const told = await Promise.all(
    [['version'], ['-V'], ['--version']].map(async (argv) => (await testbed({ level: 'command' })).runBare(...argv)),
  );
  expect(new Set(told.map(({ status, stdout }) => `${status} ${stdout}`)).size).toBe(1);
  expect(told[0]?.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(JSON.parse((await (await testbed({ level: 'command' })).runBare('version', '--json')).stdout)).toMatchObject({
    ok: true,
    version: told[0]?.stdout.trim(),
    node: process.versions.node,
  });
});
