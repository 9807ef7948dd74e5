import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { driverFolder } from '../../src/store/sqlite/driver-package.ts';
import { systemRandom } from '../../src/domain/clock.ts';
import type { MirrorError } from '../../src/domain/errors.ts';
import { SqliteDatabase } from '../../src/store/sqlite/database.ts';
import { SqliteError } from '../../src/store/sqlite/driver.ts';
import { mirrorMigrations, mirrorOptions } from '../../src/store/reader.ts';
import { quarantineIfDamaged } from '../../src/store/files/damage.ts';
import {
  ask,
  fileClock as clock,
  migrations,
  newPath,
  otherConnection,
  packageRoot,
  vendor,
  writeMirror,
} from '../support/mirror-file.ts';

import { activeDifferences } from '../support/mirror/differences.ts';
import { account } from '../support/names.ts';
import { introduce, quietDaemon } from './tapped.ts';
import { testbed } from '../support/testbed.ts';

const pageSize = 4096;

/** A mirror of some hundred vendors. */
async function filled(): Promise<string> {
  const path = newPath();
  await writeMirror(path, clock, { vendors: Array.from({ length: 400 }, (_, index) => vendor(index + 1)) });
  return path;
}

/** Overwrites the middle of every page but the first. */
function ruin(path: string): void {
  const bytes = readFileSync(path);
  for (let page = 1; page < bytes.length / pageSize; page++) bytes.fill(0xff, page * pageSize, page * pageSize + 64);
  writeFileSync(path, bytes);
}

const options = (path: string) => mirrorOptions({ path, migrations, clock, random: systemRandom });

/** Another process that has the file open. */
async function readerOf(path: string, statements: string): Promise<ChildProcess> {
  const program = `const sqlite = new (require(${JSON.stringify(driverFolder)}))(${JSON.stringify(path)});
    sqlite.exec(${JSON.stringify(statements)});
    console.log('reading');
    setInterval(() => undefined, 1_000);`;
  const child = spawn(process.execPath, ['-e', program], { cwd: packageRoot });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

/** Where the file was moved, the code of why it could not be, or undefined where there was no need. */
function tried(path: string): Promise<string | undefined> {
  return quarantineIfDamaged(path, clock, mirrorMigrations(migrations)).then(
    (aside) => aside?.to,
    (error: unknown) => (error as MirrorError).code,
  );
}

const besides = (path: string) => readdirSync(dirname(path)).filter((name) => name !== basename(path));

describe('F7 a damaged mirror', () => {
  it('is moved aside unchanged, and a new one is created', async () => {
    const path = await filled();
    ruin(path);
    const damaged = readFileSync(path);
    const said = await quarantineIfDamaged(path, clock, mirrorMigrations(migrations));
    expect(said?.to.replace(path, '')).toMatch(/^\.corrupt-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}$/);
    expect(said?.faults).not.toEqual([]);
    expect(readFileSync(said!.to).subarray(pageSize)).toEqual(damaged.subarray(pageSize));
    expect(existsSync(path)).toBe(false);
    const database = await SqliteDatabase.open(options(path));
    expect(database.sqlite.prepare('SELECT count(*) FROM vendors').pluck().get()).toBe(0);
    await database.close();
  });

  it.each([
    ['reads it', 'BEGIN; SELECT * FROM migrations'],
    ['has it open in WAL, and rests', 'PRAGMA journal_mode = WAL; SELECT * FROM migrations'],
  ])('stays if another program %s, because that one would write into the new journal', async (_, statements) => {
    const path = await filled();
    const reader = await readerOf(path, statements);
    ruin(path);
    expect(await tried(path)).toBe('database_locked');
    expect(besides(path).filter((name) => name.includes('corrupt'))).toEqual([]);
    reader.kill('SIGKILL');
    await once(reader, 'exit');
    expect(await tried(path)).toContain('.corrupt-');
  });

  it('is the only file that is moved: no intact one, none of another program, no unknown one', async () => {
    const sound = await filled();
    const foreign = newPath();
    const songs = otherConnection(foreign);
    songs.exec('CREATE TABLE songs (title TEXT)');
    songs.exec('BEGIN');
    for (let row = 0; row < 500; row++) songs.prepare('INSERT INTO songs VALUES (?)').run('la'.repeat(50));
    songs.exec('COMMIT');
    songs.close();
    ruin(foreign);
    const diary = newPath();
    writeFileSync(diary, 'Dear diary, today I was read by a program.\n'.repeat(200));
    for (const path of [sound, foreign, diary]) {
      const before = readFileSync(path);
      expect(await tried(path)).toBeUndefined();
      expect([readFileSync(path).equals(before), besides(path)]).toEqual([true, []]);
    }
  });

  it('F7 a mirror whose trigger is damaged, which SQLite does not notice, is moved aside; one to which others added objects is not', async () => {
    const path = await filled();
    const sqlite = otherConnection(path);
    sqlite.exec('CREATE INDEX theirs ON vendors (city)');
    expect(await tried(path)).toBeUndefined();
    sqlite.unsafeMode().pragma('writable_schema = 1');
    sqlite.exec("UPDATE sqlite_schema SET sql = replace(sql, 'new.', 'nev.') WHERE type = 'trigger'");
    sqlite.close();
    expect(ask(path, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(await tried(path)).toContain('.corrupt-');
  });
});

describe('F7 a daemon whose mirror is damaged', () => {
  it.each(['mirror_identity', 'migrations', '_accounts', '_daemon_files', 'vendors'])(
    'in the table %s, without a note of it, creates a new one that equals the source',
    async (table) => {
      const at = await testbed({ level: 'daemon' });
      const path = at.settings.database;
      await at.stop();
      const [{ rootpage }] = ask<{ rootpage: number }>(
        path,
        'SELECT rootpage FROM sqlite_schema WHERE name = ?',
        table,
      ) as [{ rootpage: number }];
      const bytes = readFileSync(path);
      bytes.fill(0xff, (rootpage - 1) * pageSize, rootpage * pageSize);
      writeFileSync(path, bytes);
      const vendors = at.sandbox.vendors(account);
      vendors.edit(Number(vendors.listed()[0]!['vendorid']), { vendor_name: 'Edited' });
      // What only a query meets ends the first one.
      for (let starts = 0; starts < 2 && !besides(path).some((name) => name.includes('.corrupt-')); starts++) {
        const runs = at.runs.length;
        await at.reopen();
        await at.start();
        await at.clock.until('it has swept, or must end', () => at.runs.length > runs || at.fatal.length > 0);
        if (at.fatal.length === 0) await at.untilQuiet();
        await at.stop();
        at.fatal.length = 0;
      }
      expect(besides(path).filter((name) => name.endsWith('.damaged'))).toEqual([]);
      expect(activeDifferences(at)).toEqual([]);
      expect(ask(path, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    },
  );
});

describe('a file that can no longer be trusted', () => {
  it.each([
    ['F3', 'a failed sync', 'SQLITE_IOERR_FSYNC', 'database_unusable'],
    ['F7', 'damage', 'SQLITE_CORRUPT', 'database_corrupt'],
  ])('%s reports it once after %s, and accepts nothing more', async (_, __, sqliteCode, code) => {
    const told: MirrorError[] = [];
    const path = await filled();
    const database = await SqliteDatabase.open({ ...options(path), onDistrust: (error) => told.push(error) });
    const fail = (): never => {
      throw new SqliteError('something', sqliteCode);
    };
    await expect(database.write(fail)).rejects.toMatchObject({ code, exit: 74 });
    await expect(database.write(() => 'written')).rejects.toMatchObject({ code });
    await expect(database.read(() => 'read')).rejects.toMatchObject({ code });
    expect(told.map((error) => error.code)).toEqual([code]);
    await database.close();
  });

  it('F3 is not one whose transaction failed because the disk was full', async () => {
    const told: MirrorError[] = [];
    const database = await SqliteDatabase.open({ ...options(await filled()), onDistrust: (error) => told.push(error) });
    await expect(
      database.write(() => {
        throw new SqliteError('full', 'SQLITE_FULL');
      }),
    ).rejects.toMatchObject({ code: 'disk_full' });
    expect([await database.write(() => 'written'), told]).toEqual(['written', []]);
    await database.close();
  });
});

describe('F9 a file that was replaced while it was open', () => {
  it('is closed without touching the journal of the one in its place', async () => {
    const path = await filled();
    const database = await SqliteDatabase.open(options(path));
    await database.write(() => undefined);
    renameSync(path, `${path}.old`);
    const successor = await SqliteDatabase.open(options(path));
    await successor.write(() =>
      successor.sqlite.exec("INSERT INTO _accounts (account_id, added_at) VALUES ('later', '2026-11-21')"),
    );
    await database.close();
    expect(existsSync(`${path}-wal`)).toBe(true);
    expect(otherConnection(path).prepare('SELECT account_id FROM _accounts').pluck().all()).toEqual(['later']);
    await successor.close();
  });
});

describe('a daemon that finds its mirror damaged at the start', () => {
  it('F7 reports it, moves the file aside, creates a new one that equals the source, and keeps the secrets', async () => {
    const sandbox = await testbed({ level: 'sandbox', vendors: 60 });
    const at = await testbed({ level: 'program', service: sandbox, settings: quietDaemon });
    const path = await introduce(at);
    expect((await at.run('sync')).status).toBe(0);
    ruin(at.database);
    expect(await at.run('sync')).toMatchObject({
      status: 74,
      stderr: expect.stringContaining('Move the file away and run `vendor-mirror sync`') as string,
    });

    const daemon = at.start('serve');
    const exited = once(daemon, 'exit');
    const said: Record<string, unknown>[] = [];
    for await (const line of createInterface(daemon.stderr!)) {
      said.push(JSON.parse(line) as Record<string, unknown>);
      if (said.at(-1)?.['msg'] === 'pull complete' || said.at(-1)?.['msg'] === 'reconcile complete')
        daemon.kill('SIGTERM');
    }
    expect(await exited).toEqual([0, null]);
    const aside = readdirSync(at.folder).find((name) => name.startsWith('vendors.db.corrupt-'))!;
    expect(said[0]).toMatchObject({ code: 'database_corrupt', moved_to: join(at.folder, aside) });
    expect(activeDifferences({ ...at, sandbox: sandbox.sandbox })).toEqual([]);
    expect(await introduce(at)).toBe(path);
  });
});
