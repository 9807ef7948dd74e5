import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { temporaryFolder, vendor } from '../../support/mirror-file.ts';
import { testbed } from '../../support/testbed.ts';

function settingsFile(account: string): string {
  const folder = temporaryFolder();
  const path = join(folder, 'other.yaml');
  writeFileSync(
    path,
    `accounts: [${account}]\ndatabase: ${folder}/${account}.db\nsecrets: ${folder}/secrets.db\nsandbox: { vendors: 1, seed: 1, churn: 0 }\n`,
  );
  return path;
}

async function databaseInForce(env: Record<string, string>, ...argv: string[]): Promise<string> {
  const { stdout } = await (await testbed({ level: 'command', env })).runBare('status', '--json', ...argv);
  return (JSON.parse(stdout) as { database: string }).database;
}

describe('the settings in force', () => {
  it('are those of -c, before or after the command, rather than of VENDOR_MIRROR_CONFIG', async () => {
    const [flag, env] = [settingsFile('flag'), { VENDOR_MIRROR_CONFIG: settingsFile('env') }];
    expect(await databaseInForce(env)).toMatch(/env\.db$/);
    expect(await databaseInForce(env, '-c', flag)).toMatch(/flag\.db$/);
    const before = await (await testbed({ level: 'command', env })).runBare('--config', flag, 'status', '--json');
    expect(before.stdout).toContain('flag.db');
  });

  it('K23 are those of the machine where neither an option nor the environment names any', async () => {
    const line = await testbed({ level: 'command' });
    const path = join(line.folder, 'of-the-machine.yaml');
    writeFileSync(path, readFileSync(settingsFile('machine'), 'utf8'));
    const inForce = async (...argv: string[]): Promise<string> => {
      const { stdout } = await line.runBare('status', '--json', ...argv);
      return (JSON.parse(stdout) as { database: string }).database;
    };
    expect(await inForce()).toMatch(/machine\.db$/);
    expect(await inForce('-c', settingsFile('flag'))).toMatch(/flag\.db$/);
    expect(await inForce('--sandbox')).toBe('data/sandbox.db');
  });

  it('K23 those of the machine may only name absolute paths', async () => {
    const line = await testbed({ level: 'command', settings: '' });
    writeFileSync(
      join(line.folder, 'of-the-machine.yaml'),
      `accounts: [a]
publish: [{ path: copy.db }]
admin: { tokenFile: token }
secrets: /srv/secrets.db
service: { baseUrl: "https://service.example", auth: { accessTokenFile: token } }
`,
    );
    const { status, stderr } = await line.runBare('status');
    expect(status).toBe(78);
    for (const key of ['database', 'publish.0.path', 'service.auth.accessTokenFile', 'admin.tokenFile'])
      expect(stderr).toContain(`${key}: should be an absolute path in this file`);
    expect(stderr).not.toContain('secrets:');
  });

  it('K23 are the built-in sandbox with files of its own if none are named, and a notice says so', async () => {
    const { status, stdout, stderr } = await (await testbed({ level: 'command' })).runBare('status', '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ database: 'data/sandbox.db' });
    expect(stderr).toContain('No settings file is named (-c FILE), so the built-in sandbox stands in for the service.');
  });

  const commands = [
    ['sync'],
    ['doctor'],
    ['status'],
    ['serve'],
    ['vendors', 'edit', '11', '--set', 'city=Graz'],
    ['export', '-', '--view', 'owed'],
  ];

  it.each(commands)(
    'L78 are refused in a folder that holds a settings file which no option names: %s',
    async (...argv) => {
      const line = await testbed({ level: 'command' });
      const cwd = vi.spyOn(process, 'cwd').mockReturnValue(line.folder);
      try {
        const { status, stdout, stderr } = await line.runBare(...argv);
        expect([status, stdout]).toEqual([78, '']);
        expect(stderr).toContain('-c mirror.yaml');
        expect(stderr).toContain('--sandbox');
        const inJson = await line.runBare(...argv, '--json');
        if (argv[0] !== 'export')
          expect(JSON.parse(inJson.stdout)).toMatchObject({ ok: false, error: { code: 'settings_invalid' } });
        expect((await line.runBare('status', '--sandbox')).status).toBe(0);
      } finally {
        cwd.mockRestore();
      }
    },
  );

  it.each([
    ['my mirror.yml', 'accounts: [a]\nservice: { baseUrl: "https://service.example" }\n', 78],
    ['production.yaml', '# ours\ndatabase: /srv/vendors.db\nconnections: {}\n', 78],
    ['compose.yaml', 'services: { db: {} }\nsecrets: {}\n', 0],
    ['notes.txt', 'accounts: [a]\ndatabase: x\n', 0],
  ])('L78 are refused beside a settings file of any name, not beside other files: %s', async (name, text, expected) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, name), text);
    mkdirSync(join(folder, 'folder.yaml'));
    const line = await testbed({ level: 'command' });
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
    try {
      const { status, stderr } = await line.runBare('status');
      expect(status).toBe(expected);
      if (expected === 78) expect(stderr).toContain(name);
    } finally {
      cwd.mockRestore();
    }
  });

  it.each([
    ['status'],
    ['sync'],
    ['verify'],
    ['doctor'],
    ['vendors', 'list'],
    ['vendors', 'show', '99'],
    ['gateways', 'list'],
    ['deliveries', 'list'],
    ['accounts', 'list'],
    ['notify', 'list'],
    ['callbacks', 'list', '--account', '6BApk'],
  ])('L78 of the built-in sandbox are told in every JSON: %s', async (...argv) => {
    const line = await testbed({ level: 'command' });
    const { stdout } = await line.run(...argv, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ sandbox: true });
  });

  it('L78 of a service are not called those of a sandbox', async () => {
    const line = await testbed({
      level: 'command',
      settings: 'service: { baseUrl: "https://service.example", auth: { accessToken: t } }',
    });
    expect(JSON.parse((await line.run('status', '--json')).stdout)).not.toHaveProperty('sandbox');
  });

  it('K23 are the built-in sandbox with --sandbox, whatever the environment names; beside -c it is refused', async () => {
    const env = { VENDOR_MIRROR_CONFIG: settingsFile('env') };
    expect(await databaseInForce(env, '--sandbox')).toBe('data/sandbox.db');
    const { status, stderr } = await (
      await testbed({ level: 'command' })
    ).runBare('status', '--sandbox', '-c', 'mirror.yaml');
    expect(status).toBe(64);
    expect(stderr).toContain('-c and --sandbox cannot be used together.');
  });

  it('K23 every command that a message names repeats the option that names them', async () => {
    const line = await testbed({ level: 'command' });
    const said = async (...argv: string[]): Promise<string> => {
      const { stdout, stderr } = await line.runBare(...argv, '-c', line.settings);
      return stdout + stderr;
    };
    const sync = `\`vendor-mirror sync -c ${line.settings}\``;
    expect(await said('status')).toContain(`Nothing is mirrored yet. Run ${sync}.`);
    expect(await said('status', '--json')).toContain(`No sweep was complete yet. Run ${sync}.`);
    expect(await said('doctor')).toContain(`Run ${sync}.`);
    await line.fill({ vendors: [vendor(11)] });
    const old = new Driver(line.database);
    const [latest] = old
      .prepare('DELETE FROM migrations WHERE number = (SELECT max(number) FROM migrations) RETURNING *')
      .all();
    for (const command of [['status'], ['status', '--json'], ['doctor']])
      expect(await said(...command)).toContain(`Run ${sync} once`);
    const columns = Object.keys(latest as object);
    old
      .prepare(
        `INSERT OR REPLACE INTO migrations (${columns.join()}) VALUES (${columns.map((name) => `@${name}`).join()})`,
      )
      .run(latest);
    old.close();
    const unknown = `Check the number and the account, or run ${sync}.`;
    expect(await said('vendors', 'show', '99', '--account', '6BApk')).toContain(unknown);
    expect(
      JSON.parse((await line.runBare('vendors', 'show', '99', '--json', '-c', line.settings)).stdout),
    ).toMatchObject({
      error: { hint: unknown },
    });
    writeFileSync(join(line.folder, 'my mirror.yaml'), readFileSync(line.settings));
    const spaced = await line.runBare('vendors', 'show', '99', '-c', join(line.folder, 'my mirror.yaml'));
    expect(spaced.stderr).toContain(`\`vendor-mirror sync -c '${line.folder}/my mirror.yaml'\``);
    expect((await line.runBare('vendors', 'show', '99', '--sandbox')).stderr).toContain(
      '`vendor-mirror sync --sandbox`',
    );
  });

  it('exit with 78 and the path where they cannot be read', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'a-folder'));
    for (const name of ['missing.yaml', 'a-folder']) {
      const { status, stderr } = await (
        await testbed({ level: 'command' })
      ).runBare('status', '-c', join(folder, name));
      expect(status).toBe(78);
      expect(stderr).toContain(join(folder, name));
    }
  });

  it('exit with 78 and every problem if they are not valid', async () => {
    const line = await testbed({ level: 'command', settings: 'sandboxx: 1\nsync: { lag: soon }' });
    const { status, stdout, stderr } = await line.run('status', '--json');
    expect(status).toBe(78);
    expect(stderr).toMatch(/sync\.lag: [\s\S]*sandboxx: /);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'settings_invalid' } });
  });

  it('exit with 64 for an account that they do not name', async () => {
    const { status, stderr } = await (await testbed({ level: 'command' })).run('status', '--account', 'stranger');
    expect(status).toBe(64);
    expect(stderr).toContain('do not name the account stranger; they name 6BApk, other.');
  });
});
