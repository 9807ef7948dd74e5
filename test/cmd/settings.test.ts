import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../mirror-file.ts';
import { commandLine } from './command-line.ts';

function settingsFile(account: string): string {
  const folder = temporaryFolder();
  const path = join(folder, 'other.yaml');
  writeFileSync(
    path,
    `accounts: [${account}]\ndatabase: ${folder}/${account}.db\nsandbox: { vendors: 1, seed: 1, churn: 0 }\n`,
  );
  return path;
}

async function databaseInForce(env: Record<string, string>, ...argv: string[]): Promise<string> {
  const { stdout } = await commandLine({ env }).runBare('status', '--json', ...argv);
  return (JSON.parse(stdout) as { database: string }).database;
}

describe('the settings in force', () => {
  it('are those of -c, before or after the command, rather than of VENDOR_MIRROR_CONFIG', async () => {
    const [flag, env] = [settingsFile('flag'), { VENDOR_MIRROR_CONFIG: settingsFile('env') }];
    expect(await databaseInForce(env)).toMatch(/env\.db$/);
    expect(await databaseInForce(env, '-c', flag)).toMatch(/flag\.db$/);
    const before = await commandLine({ env }).runBare('--config', flag, 'status', '--json');
    expect(before.stdout).toContain('flag.db');
  });

  it('are the built-in sandbox where none are named, and that is said', async () => {
    const { status, stderr } = await commandLine().runBare('vendors', 'list', '--json');
    expect(status).toBe(0);
    expect(stderr).toContain('No settings are named (-c FILE): the built-in sandbox stands in for the service.');
  });

  it('exit with 78 and the path where they cannot be read', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'a-folder'));
    for (const name of ['missing.yaml', 'a-folder']) {
      const { status, stderr } = await commandLine().runBare('status', '-c', join(folder, name));
      expect(status).toBe(78);
      expect(stderr).toContain(join(folder, name));
    }
  });

  it('exit with 78 and every problem where they do not hold', async () => {
    const line = commandLine({ settings: 'sandboxx: 1\nsync: { lag: soon }' });
    const { status, stdout, stderr } = await line.run('status', '--json');
    expect(status).toBe(78);
    expect(stderr).toMatch(/sync\.lag: [\s\S]*sandboxx: /);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'settings_invalid' } });
  });

  it('exit with 64 for an account that they do not name', async () => {
    const { status, stderr } = await commandLine().run('status', '--account', 'stranger');
    expect(status).toBe(64);
    expect(stderr).toContain('do not name the account stranger; they name 6BApk, other.');
  });
});
