/** `secrets import` over whatever a process that was killed may leave beside the files: a table of states. */
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { ask } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

let line: Testbed<'command'>;
let secrets: string;
let sealed: string;
let key: string[];
let exported: unknown[];

const tokens = (): unknown[] => ask(secrets, 'SELECT * FROM path_tokens ORDER BY account_id');
const names = (): string[] => readdirSync(line.folder).sort();

beforeEach(async () => {
  line = await testbed({ level: 'command', service: { vendors: 3 } });
  [secrets, sealed] = [join(line.folder, 'secrets.db'), join(line.folder, 'secrets.sealed')];
  const file = join(line.folder, 'passphrase');
  writeFileSync(file, 'correct horse battery\n');
  key = ['--passphrase-file', file];
  await line.run('sync', '--account', '6BApk');
  await line.run('callbacks', 'list', '--account', '6BApk');
  exported = tokens();
  expect((await line.run('secrets', 'export', sealed, ...key)).status).toBe(0);
});

/** Writes other tokens, many pages of them, and leaves the files as they are in the middle of it, but for those that are gone. */
function killedWhileWriting(mode: 'WAL' | 'DELETE', how: 'COMMIT' | 'not committed', ...gone: string[]): void {
  const writer = new Driver(secrets);
  writer.pragma(`journal_mode = ${mode}`);
  writer.pragma('wal_autocheckpoint = 0');
  writer.pragma('cache_spill = 1');
  writer.pragma('cache_size = 1');
  writer.exec(`BEGIN; UPDATE path_tokens SET path_token = 'of the killed';
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
    INSERT INTO path_tokens (account_id, path_token) SELECT 'killed ' || i, printf('%.*c', 400, 'x') FROM n`);
  if (how === 'COMMIT') writer.exec('COMMIT');
  const left = ['', '-wal', '-shm', '-journal']
    .map((suffix) => secrets + suffix)
    .filter((path) => existsSync(path))
    .map((path) => [path, readFileSync(path)] as const);
  if (how !== 'COMMIT') writer.exec('ROLLBACK');
  writer.close();
  for (const [path, bytes] of left) writeFileSync(path, bytes);
  for (const suffix of gone) rmSync(secrets + suffix);
}

const old = (name: string, bytes: string | Buffer): void => {
  const path = join(line.folder, name);
  writeFileSync(path, bytes, { mode: 0o600 });
  utimesSync(path, 1, 1);
};

it.each<[string, () => void, readonly string[]]>([
  ['nothing', () => undefined, []],
  ['no secrets', () => rmSync(secrets), []],
  ['a commit that stands in the WAL alone', () => killedWhileWriting('WAL', 'COMMIT'), ['-wal', '-shm']],
  ['half a transaction in the WAL', () => killedWhileWriting('WAL', 'not committed'), ['-wal', '-shm']],
  ['a WAL without its index', () => killedWhileWriting('WAL', 'COMMIT', '-shm'), ['-wal']],
  ['a WAL without its file', () => killedWhileWriting('WAL', 'COMMIT', '', '-shm'), ['-wal']],
  ['half a transaction and its rollback journal', () => killedWhileWriting('DELETE', 'not committed'), ['-journal']],
  ['a rollback journal without its file', () => killedWhileWriting('DELETE', 'not committed', ''), ['-journal']],
  [
    'a damaged file beside its WAL',
    () => {
      killedWhileWriting('WAL', 'COMMIT');
      writeFileSync(secrets, 'half a');
    },
    ['-wal', '-shm'],
  ],
  ['the lock of a daemon', () => writeFileSync(`${line.database}.lock`, ''), []],
  ['a WAL of the mirror', () => writeFileSync(`${line.database}-wal`, ''), []],
  [
    'half an import, and half an export',
    () => {
      const bytes = readFileSync(secrets);
      old('.secrets.db.0123456789ab', bytes.subarray(0, 5_000));
      for (const suffix of ['-wal', '-shm', '-journal']) old(`.secrets.db.0123456789ab${suffix}`, 'half a');
      old('.secrets.sealed.ba9876543210', 'half a');
    },
    [],
  ],
])(
  'L74 secrets import over %s leaves the secrets of the export, whole, and nothing of the killed',
  async (_, leave, left) => {
    const before = names();
    leave();
    for (const suffix of left) expect(names()).toContain(`secrets.db${suffix}`);
    const { status, stderr } = await line.run('secrets', 'import', sealed, '--yes', ...key);
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    expect(names().filter((name) => name.includes('secrets.db'))).toEqual(['secrets.db']);
    expect([tokens(), ask(secrets, 'PRAGMA integrity_check')]).toEqual([exported, [{ integrity_check: 'ok' }]]);
    expect((await line.run('secrets', 'export', sealed, ...key)).status).toBe(0);
    expect(names().filter((name) => !name.startsWith('vendors.db'))).toEqual(
      before.filter((name) => !name.startsWith('vendors.db')),
    );
    // What the program then writes and reads is of the same file.
    expect((await line.run('callbacks', 'list', '--account', '6BApk')).status).toBe(0);
    expect(tokens()).toEqual(exported);
  },
);
