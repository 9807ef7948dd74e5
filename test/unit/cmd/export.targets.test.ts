/** Targets that an export refuses, and targets behind links. */
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { vendor } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

let line: Testbed<'command'>;
const at = (name: string): string => join(line.folder, name);

beforeEach(async () => {
  line = await testbed({ level: 'command' });
  await line.fill({ vendors: [vendor(11), vendor(12)] });
});

/** Makes the files of an installation that has worked: the secrets are a database of their own, the lock is empty. */
function furnish(): void {
  const secrets = new Driver(at('secrets.db'));
  secrets.exec('CREATE TABLE verifiers (verifier TEXT); CREATE TABLE oauth_tokens (access_token TEXT)');
  secrets.close();
  for (const name of [
    'vendors.db.lock',
    'vendors.db.lock-0123',
    'vendors.db.world',
    'secrets.db-wal',
    'secrets.db-shm',
    'vendors.db.corrupt-x',
  ])
    writeFileSync(at(name), name);
  chmodSync(at('secrets.db'), 0o600);
}

/** Name, mode and content of every file of the folder. */
function inventory(): Record<string, string> {
  return Object.fromEntries(
    readdirSync(line.folder).map((name) => {
      const { mode } = lstatSync(at(name));
      const isFile = statSync(at(name), { throwIfNoEntry: false })?.isFile() ?? false;
      return [name, `${mode.toString(8)} ${isFile ? readFileSync(at(name), 'base64') : ''}`];
    }),
  );
}

describe.each(['db', 'csv'])('export of a .%s', (form) => {
  /** A symbolic link with the right ending, which leads to `name`. */
  const link = (name: string): string => {
    symlinkSync(at(name), at(`link.${form}`));
    return at(`link.${form}`);
  };

  it.each([
    ['the mirror', 'vendors.db', 'is the mirror itself'],
    ['its lock', 'vendors.db.lock', 'belongs to the mirror'],
    ['the lock of a process', 'vendors.db.lock-0123', 'belongs to the mirror'],
    ['the world of a sandbox', 'vendors.db.world', 'belongs to the mirror'],
    ['its rollback journal', 'vendors.db-journal', 'belongs to the mirror'],
    ['a journal that is not there yet', 'vendors.db-wal', 'belongs to the mirror'],
    ['a mirror that was set aside', 'vendors.db.corrupt-x', 'belongs to the mirror'],
    ['the secrets', 'secrets.db', 'is the secrets file itself'],
    ['their journal', 'secrets.db-wal', 'belongs to the secrets file'],
    ['their shared memory', 'secrets.db-shm', 'belongs to the secrets file'],
    ['the settings', 'mirror.yaml', 'is one of the settings files'],
  ])('K42 never replaces %s, not even through links', async (_, name, reason) => {
    furnish();
    const target = link(name);
    if (/lock$|world|secrets|yaml/.test(name)) linkSync(at(name), at(`second.${form}`));
    const before = inventory();
    for (const path of [target, at(`second.${form}`)].filter((path) => existsSync(path) || path === target)) {
      const { status, stderr } = await line.run('export', path);
      expect([status, stderr]).toEqual([64, expect.stringContaining(reason)]);
    }
    expect(inventory()).toEqual(before);
  });

  it('K42 never replaces what is not a regular file', async () => {
    const [fifo, folder] = [at(`fifo.${form}`), at(`folder.${form}`)];
    execFileSync('mkfifo', [fifo]);
    mkdirSync(folder);
    symlinkSync('/dev/null', at(`device.${form}`));
    for (const path of [fifo, folder, at(`device.${form}`)]) {
      const { status, stderr } = await line.run('export', path);
      expect([status, stderr]).toEqual([64, expect.stringContaining(`${path} is not a regular file`)]);
    }
    expect(lstatSync(fifo).isFIFO()).toBe(true);
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  it.each(['none/', 'none/.', 'none/..', 'copy.db/', '.', ''])(
    'K42 never writes a file where %j names a folder',
    async (name) => {
      const before = inventory();
      const { status, stderr } = await line.run('export', `${line.folder}/${name}`, '--format', form);
      expect([status, stderr]).toEqual([64, expect.stringContaining('is the name of a folder; name another file.')]);
      expect(inventory()).toEqual(before);
    },
  );

  it('K42 follows a symbolic link, and keeps the mode of the file behind it', async () => {
    mkdirSync(at('reports'));
    const target = at(`reports/copy.${form}`);
    symlinkSync(`reports/copy.${form}`, at(`copy.${form}`));
    expect((await line.run('export', at(`copy.${form}`))).status).toBe(0);
    chmodSync(target, 0o604);
    expect((await line.run('export', at(`copy.${form}`))).status).toBe(0);
    expect(readlinkSync(at(`copy.${form}`))).toBe(`reports/copy.${form}`);
    expect(statSync(target).mode & 0o777).toBe(0o604);
    expect(readdirSync(at('reports'))).toEqual([`copy.${form}`]);
  });

  it('K42 never replaces a database of another program, nor a mirror that another daemon keeps', async () => {
    const songs = new Driver(at(`songs.${form}`));
    songs.exec('CREATE TABLE songs (title TEXT)');
    songs.close();
    const other = await testbed({ level: 'command' });
    await other.fill({ vendors: [vendor(1)] });
    writeFileSync(at(`other.${form}`), readFileSync(other.database));
    writeFileSync(at(`other.${form}.lock`), '');
    const before = inventory();
    expect((await line.run('export', at(`songs.${form}`))).stderr).toContain('is a database of another program');
    expect((await line.run('export', at(`other.${form}`))).stderr).toContain('is a mirror that a daemon uses');
    expect(inventory()).toEqual(before);
  });
});

describe('settings', () => {
  it.each([
    ['database: DIR/one.db\nsecrets: DIR/one.db', /secrets: is the mirror itself/],
    ['database: DIR/one.db\nsecrets: DIR/sub/../one.db', /secrets: is the mirror itself/],
    ['database: DIR/one.db\nsecrets: DIR/one.db-wal', /secrets: is a file that belongs to the mirror/],
    ['database: DIR/one.db.lock\nsecrets: DIR/one.db', /database: is a file that belongs to the secrets file/],
    ['database: DIR/mirror.yaml', /database: is one of the settings files/],
    ['secrets: DIR/link.yaml', /secrets: is one of the settings files/],
    ['secrets: DIR/token\nadmin: { tokenFile: DIR/token }', /secrets: is one of the settings files/],
    ['database: DIR/one.db\npublish: [{ path: DIR/one.db }]', /publish\.0\.path: is the mirror itself/],
    [
      'secrets: DIR/two.db\npublish: [{ path: DIR/two.db-journal, format: db }]',
      /publish\.0\.path: is a file that belongs to the secrets file/,
    ],
    ['publish: [{ path: DIR/mirror.yaml, format: db }]', /publish\.0\.path: is one of the settings files/],
    [
      'publish: [{ path: DIR/a.csv }, { path: DIR/sub/../a.csv }]',
      /publish\.1\.path: is the file of publish\.0\.path; it should be another file/,
    ],
    ['publish: [{ path: DIR/a.csv }, { path: DIR/to-a.csv }]', /publish\.1\.path: is the file of publish\.0\.path/],
    ['publish: [{ path: copies/, format: db }]', /publish\.0\.path: should be a path of a file: without a slash/],
    ['publish: [{ path: /dev/null, format: db }]', /publish\.0\.path: is not a regular file/],
    ['database: /dev/null', /database: is not a regular file/],
    ['secrets: DIR', /secrets: is not a regular file/],
    ['database: DIR/sub/loop.db', /database: is a link that leads back to itself/],
    [`secrets: DIR/${'n'.repeat(215)}.db`, /secrets: has a name of more than 217 bytes/],
    [`database: DIR/${'ü'.repeat(108)}.db`, /database: has a name of more than 217 bytes/],
    [`database: DIR${`/${'n'.repeat(99)}`.repeat(5)}/one.db`, /database: has a path of more than 466 bytes/],
    ['database: DIR/token/one.db', /database: lies below \S*\/token, which is not a folder/],
    ['secrets: DIR/token/sub/two.db', /secrets: lies below \S*\/token, which is not a folder/],
  ])('K42 that name one file for two things, or no file, are refused: %s', async (names, reason) => {
    const { settings, folder } = line;
    mkdirSync(at('sub'));
    writeFileSync(at('token'), 'a-token');
    symlinkSync(settings, at('link.yaml'));
    symlinkSync('a.csv', at('to-a.csv'));
    symlinkSync('loop.db', at('sub/loop.db'));
    writeFileSync(
      settings,
      `accounts: [6BApk]\n${names.replaceAll('DIR', folder)}\nsandbox: { vendors: 1, seed: 1, churn: 0 }\n`,
    );
    const before = inventory();
    for (const command of ['status', 'sync', 'serve', 'doctor', 'export']) {
      const { status, stderr } = await line.run(command, ...(command === 'export' ? [at('copy.db')] : []));
      expect([status, stderr]).toEqual([78, expect.stringMatching(reason)]);
    }
    expect(inventory()).toEqual(before);
  });
});

describe('export onto a copy that has a journal beside it', () => {
  const target = (): string => at('copy.db');

  /** Writes to the copy, and leaves it as a process that is killed does: with what it wrote in the WAL alone. */
  async function abandon(): Promise<void> {
    expect((await line.run('export', target())).status).toBe(0);
    const writer = new Driver(target());
    writer.pragma('journal_mode = WAL');
    writer.exec("CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES (printf('%.*c', 50000, 'x'))");
    const left = ['', '-wal', '-shm'].map((suffix) => [target() + suffix, readFileSync(target() + suffix)] as const);
    writer.close();
    for (const [path, content] of left) writeFileSync(path, content);
  }

  function look(): { tables: unknown[]; check: unknown; vendors: unknown } {
    const copy = new Driver(target());
    onTestFinished(() => void copy.close());
    return {
      tables: copy.prepare("SELECT name FROM sqlite_schema WHERE name = 'notes'").all(),
      check: copy.pragma('integrity_check', { simple: true }),
      vendors: copy.prepare('SELECT count(*) FROM vendors').pluck().get(),
    };
  }

  it('K44 removes it, and leaves a complete copy', async () => {
    await abandon();
    await line.fill({ vendors: Array.from({ length: 300 }, (_, n) => vendor(100 + n)) });
    expect((await line.run('export', target())).status).toBe(0);
    expect(readdirSync(line.folder).filter((name) => name.startsWith('copy.db'))).toEqual(['copy.db']);
    expect(look()).toEqual({ tables: [], check: 'ok', vendors: 302 });
  });

  it('K44 leaves nothing of a journal whose copy is gone', async () => {
    await abandon();
    const wal = readFileSync(`${target()}-wal`);
    execFileSync('rm', [target(), `${target()}-shm`]);
    writeFileSync(`${target()}-wal`, wal);
    expect((await line.run('export', target())).status).toBe(0);
    expect(look()).toEqual({ tables: [], check: 'ok', vendors: 2 });
  });

  it.each(['reads', 'is idle', 'writes', 'writes with another kind of journal'])(
    'K44 exits with 75 while another program %s there, and changes nothing',
    async (does) => {
      expect((await line.run('export', target())).status).toBe(0);
      const other = new Driver(target());
      onTestFinished(() => void other.close());
      if (does === 'writes with another kind of journal')
        other.exec('PRAGMA cache_spill = 1; BEGIN IMMEDIATE; CREATE TABLE notes (text TEXT)');
      else other.exec('PRAGMA journal_mode = WAL; CREATE TABLE notes (text TEXT)');
      if (does === 'reads') other.exec('BEGIN; SELECT * FROM vendors');
      if (does === 'writes') other.exec('BEGIN IMMEDIATE; INSERT INTO notes VALUES (1)');
      const inode = statSync(target()).ino;
      const { status, stdout } = await line.run('export', target(), '--json');
      expect([status, JSON.parse(stdout)]).toMatchObject([75, { ok: false, error: { code: 'database_locked' } }]);
      expect(statSync(target()).ino).toBe(inode);
      if (other.inTransaction) other.exec('COMMIT');
      expect(other.pragma('integrity_check', { simple: true })).toBe('ok');
      expect(readdirSync(line.folder).filter((name) => name.startsWith('.copy.db'))).toEqual([]);
    },
  );

  it('K44 succeeds while others only read a copy without a journal', async () => {
    expect((await line.run('export', target())).status).toBe(0);
    const other = new Driver(target(), { readonly: true });
    onTestFinished(() => void other.close());
    other.exec('BEGIN; SELECT * FROM vendors');
    await line.fill({ vendors: [vendor(13)] });
    expect((await line.run('export', target())).status).toBe(0);
    expect(other.prepare('SELECT count(*) FROM vendors').pluck().get()).toBe(2);
    expect(look()).toMatchObject({ check: 'ok', vendors: 3 });
  });
});
