import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { takeSideLock } from '../../../src/store/files/locks.ts';
import { ask } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const passphrase = 'correct horse battery';

let line: Testbed<'command'>;
let secrets: string;
let sealed: string;
let key: string[];

const tokens = (path = secrets): unknown[] => ask(path, 'SELECT * FROM path_tokens ORDER BY account_id');

beforeEach(async () => {
  line = await testbed({ level: 'command', service: { vendors: 3 } });
  [secrets, sealed] = [join(line.folder, 'secrets.db'), join(line.folder, 'secrets.sealed')];
  const file = join(line.folder, 'passphrase');
  writeFileSync(file, `${passphrase}\n`);
  key = ['--passphrase-file', file];
  await line.run('sync', '--account', '6BApk');
  await line.run('callbacks', 'list', '--account', '6BApk');
  expect(tokens()).not.toEqual([]);
});

describe('secrets export and import', () => {
  it('transfer all secrets, in a file that only its owner can read, and leave nothing else behind', async () => {
    const before = tokens();
    const out = await line.run('secrets', 'export', sealed, ...key);
    expect([out.status, out.stdout]).toEqual([0, '']);
    expect(out.stderr).toContain(`${sealed} is written, with the callback addresses of ${before.length} account`);
    expect(statSync(sealed).mode & 0o777).toBe(0o600);
    for (const { path_token } of before as { path_token: string }[])
      expect(readFileSync(sealed, 'latin1')).not.toContain(path_token);
    rmSync(secrets);
    const back = await line.run('secrets', 'import', sealed, ...key);
    expect(back.status, back.stderr).toBe(0);
    expect(back.stdout).toContain(`${secrets} holds the callback addresses of ${before.length} account`);
    expect(tokens()).toEqual(before);
    expect(statSync(secrets).mode & 0o777).toBe(0o600);
    expect(readdirSync(line.folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('refuse a target that is another file, a running daemon, existing secrets, and a missing terminal', async () => {
    const said = async (status: number, ...argv: string[]): Promise<string> => {
      const outcome = await line.run('secrets', ...argv);
      expect([argv.join(' '), outcome.status]).toEqual([argv.join(' '), status]);
      return outcome.stderr;
    };
    for (const [target, what] of [
      [secrets, 'is the secrets file itself'],
      [line.database, 'is the mirror itself'],
      [line.settings, 'is one of the settings files'],
      [key[1]!, 'exists already, and is not an export of secrets'],
    ] as const)
      expect(await said(64, 'export', target, ...key)).toContain(`${target} ${what}`);
    expect(await said(64, 'export', sealed)).toContain('use --passphrase-file FILE');
    await said(0, 'export', sealed, ...key);
    expect(await said(64, 'import', sealed, ...key)).toContain('use --yes');
    const lock = takeSideLock(line.database, 0);
    expect(await said(75, 'import', sealed, '--yes', ...key)).toContain('Another daemon works on');
    lock.release();
    await said(0, 'import', sealed, '--yes', ...key);
    await said(0, 'export', sealed, ...key);
  });

  it('keep existing secrets if the passphrase is wrong or the file damaged', async () => {
    await line.run('secrets', 'export', sealed, ...key);
    const before = readFileSync(secrets);
    const text = readFileSync(sealed, 'utf8');
    const attempt = async (status: number, words: string): Promise<void> => {
      const outcome = await line.run('secrets', 'import', sealed, '--yes', ...key);
      expect([outcome.status, outcome.stderr]).toEqual([status, expect.stringContaining(words)]);
      expect(readFileSync(secrets)).toEqual(before);
      expect(outcome.stderr + outcome.stdout).not.toContain(passphrase);
    };
    writeFileSync(key[1]!, 'wrong horse battery\n');
    await attempt(77, `This is not the passphrase of ${sealed}.`);
    writeFileSync(key[1]!, passphrase);
    writeFileSync(sealed, text.slice(0, -30));
    await attempt(74, `${sealed} is damaged: its checksum does not match.`);
    for (const other of [Buffer.from([0xff, 0xfe, 0x00, 0xd8]), readFileSync(line.database), Buffer.from('{}'), '']) {
      writeFileSync(sealed, other);
      await attempt(74, `${sealed} is not an export of secrets.`);
    }
    writeFileSync(sealed, Buffer.concat([Buffer.from(text.slice(0, -30)), Buffer.from([0xff])]));
    await attempt(74, `${sealed} is damaged: its checksum does not match.`);
    rmSync(sealed);
    await attempt(64, 'cannot be read: ENOENT');
  });

  it('say that there is nothing yet, and where the passphrase cannot be read', async () => {
    rmSync(secrets);
    const out = await line.run('secrets', 'export', sealed, '--json', ...key);
    expect([out.status, JSON.parse(out.stdout)]).toEqual([1, { ok: false, file: null }]);
    expect(out.stderr).toContain('there are no secrets yet');
    expect(existsSync(sealed)).toBe(false);
    const unread = await line.run('secrets', 'export', sealed, '--passphrase-file', join(line.folder, 'none'));
    expect([unread.status, unread.stderr]).toEqual([64, expect.stringContaining('cannot be read: ENOENT')]);
  });
});
