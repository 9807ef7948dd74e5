import { chmodSync, existsSync, linkSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemRandom } from '../../../../src/domain/clock.ts';
import { SqliteDatabase } from '../../../../src/store/sqlite/database.ts';
import { mirrorClaim, nextEpoch } from '../../../../src/store/files/identity.ts';
import { compareVersions, savepoint } from '../../../../src/store/sqlite/driver.ts';
import { mirrorOptions } from '../../../../src/store/reader.ts';
import { openSecrets } from '../../../../src/store/secrets/secrets.ts';
import {
  fileClock as clock,
  migrations,
  newPath,
  openingError,
  openDatabase,
  otherConnection,
  vendor,
  writeMirror,
} from '../../../support/mirror-file.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

describe('an opened file', () => {
  it('F1 syncs its commits, in the first process and in every later one', async () => {
    const path = newPath();
    for (let round = 0; round < 2; round++) {
      const database = await openDatabase(path);
      const pragma = (name: string): unknown => database.sqlite.pragma(name, { simple: true });
      expect(['journal_mode', 'synchronous', 'foreign_keys'].map(pragma)).toEqual(['wal', 2, 1]);
      // The driver would block the event loop for as long as it waits for a lock.
      expect(pragma('busy_timeout')).toBe(0);
      await database.close();
    }
  });

  it('is waited for longer than the driver waits while another program has locked it', async () => {
    const path = newPath();
    await (await openDatabase(path)).close();
    const other = otherConnection(path);
    other.exec('BEGIN EXCLUSIVE');
    const opening = openDatabase(path);
    other.exec('ROLLBACK');
    await (await opening).close();
  });

  it('F1 syncs again after a commit without sync, and after one that failed', async () => {
    const database = await openDatabase(newPath());
    const synchronous = (): unknown => database.sqlite.pragma('synchronous', { simple: true });
    expect(await database.writeWithoutSync(synchronous)).toBe(1);
    expect(synchronous()).toBe(2);
    const failing = database.writeWithoutSync(() => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(synchronous()).toBe(2);
    expect(await database.write(synchronous)).toBe(2);
    await database.close();
  });

  it('waits for the disk with each commit, unless it is a draft that is synced when it is complete', async () => {
    const options = { path: newPath(), mode: 0o640, migrations: [], clock, random: systemRandom };
    for (const isDraft of [false, true]) {
      const database = await SqliteDatabase.open({ ...options, isDraft });
      const synchronous = await database.write(() => database.sqlite.pragma('synchronous', { simple: true }));
      expect(synchronous).toBe(isDraft ? 1 : 2);
      await database.close();
      expect(existsSync(`${options.path}-wal`)).toBe(false);
    }
  });

  it('K19 is reported as not writable after a transaction found no space, until one succeeds', async () => {
    const database = await openDatabase(newPath());
    expect(database.whyNotWritable()).toBeUndefined();
    const pages = Number(database.sqlite.pragma('page_count', { simple: true }));
    database.sqlite.pragma(`max_page_count = ${pages}`);
    const fill = (): Promise<unknown> =>
      database.write(() => database.sqlite.exec(`CREATE TABLE bulk AS SELECT zeroblob(100000) AS bytes`));
    await expect(fill()).rejects.toMatchObject({ code: 'disk_full' });
    expect(database.whyNotWritable()).toMatchObject({ code: 'disk_full' });
    database.sqlite.pragma('max_page_count = 1000000');
    await fill();
    expect(database.whyNotWritable()).toBeUndefined();
    renameSync(database.path, `${database.path}.elsewhere`);
    expect(database.whyNotWritable()).toMatchObject({ code: 'database_unusable' });
    await database.close();
  });

  it('is reported as not writable after a transaction met the lock of another program, until that is gone', async () => {
    const database = await openDatabase(newPath());
    const other = otherConnection(database.path);
    other.exec('BEGIN IMMEDIATE');
    expect(database.whyNotWritable()).toBeUndefined();
    await expect(database.write(() => 1, 1)).rejects.toMatchObject({ code: 'database_locked' });
    expect(database.whyNotWritable()).toMatchObject({ code: 'database_locked' });
    other.exec('ROLLBACK');
    expect(database.whyNotWritable()).toBeUndefined();
    await database.close();
  });

  it('F14 is used by an SQLite version without known corruption bugs', async () => {
    const database = await openDatabase(newPath());
    const version = database.sqlite.prepare('SELECT sqlite_version()').pluck().get() as string;
    expect(compareVersions(version, '3.51.3')).toBeGreaterThanOrEqual(0);
    expect(['3.51.2', '3.50.9', '2.99.99'].map((old) => compareVersions(old, '3.51.3') < 0)).not.toContain(false);
    expect(['3.51.3', '3.52.0', '4.0.0'].map((fit) => compareVersions(fit, '3.51.3') >= 0)).not.toContain(false);
  });

  it('F17 is readable by owner and group only, whatever the umask', async () => {
    const path = newPath();
    const before = process.umask(0);
    try {
      await openDatabase(path);
      const secrets = await openSecrets({
        path: join(dirname(path), 'secrets.db'),
        migrations,
        clock,
        random: systemRandom,
      });
      expect(statSync(path).mode & 0o777).toBe(0o640);
      expect(statSync(join(dirname(path), 'secrets.db')).mode & 0o777).toBe(0o600);
      await secrets.close();
    } finally {
      process.umask(before);
    }
  });

  it('F17 is refused if it contains secrets that others may read', async () => {
    const path = newPath();
    await (await openSecrets({ path, migrations, clock, random: systemRandom })).close();
    chmodSync(path, 0o644);
    await expect(openSecrets({ path, migrations, clock, random: systemRandom })).rejects.toMatchObject({
      code: 'database_unusable',
      message: `${path} holds secrets and others may read it; run: chmod 600 ${path}`,
    });
  });

  it('F19 is identified by its real path, and refused if it has two', async () => {
    const path = newPath();
    await writeMirror(path, clock, {});
    const alias = join(dirname(path), 'alias.db');
    symlinkSync(path, alias);
    expect((await openDatabase(alias)).path).toBe((await openDatabase(path)).path);
    const second = newPath();
    await writeMirror(second, clock, {});
    linkSync(second, join(dirname(second), 'twin.db'));
    expect(await openingError(second)).toMatchObject({
      code: 'database_unusable',
      message: expect.stringContaining('hard link') as string,
    });
  });

  it('L33 is never another than the one that is named: a path that the driver would cut is refused', async () => {
    const path = newPath();
    expect(await openingError(`${path} `)).toMatchObject({
      code: 'database_unusable',
      message: expect.stringContaining('blanks') as string,
    });
    expect(existsSync(path)).toBe(false);
  });

  it('F15 is left as one file that can be read without writing', async () => {
    const path = newPath();
    const database = await openDatabase(path);
    expect(existsSync(`${path}-wal`)).toBe(true);
    await database.close();
    expect(existsSync(`${path}-wal`) || existsSync(`${path}-shm`)).toBe(false);
    const [writeVersion, readVersion] = readFileSync(path).subarray(18, 20);
    expect([writeVersion, readVersion]).toEqual([1, 1]);
  });

  it('F5 F6 waits for no reader, neither to write nor to close', async () => {
    const path = newPath();
    await writeMirror(path, clock, { vendors: [vendor(1)] });
    const database = await openDatabase(path);
    const reader = otherConnection(path);
    reader.exec('BEGIN');
    const count = (): unknown => reader.prepare('SELECT count(*) FROM vendors').pluck().get();
    expect(count()).toBe(1);
    await database.write(() => database.sqlite.exec('DELETE FROM vendors'));
    await database.close();
    expect(count()).toBe(1);
    reader.exec('COMMIT');
    expect(count()).toBe(0);
  });
});

describe('a connection that several pieces of work use', () => {
  async function open() {
    const database = await openDatabase(newPath());
    onTestFinished(() => database.close());
    const { sqlite } = database;
    sqlite.exec('CREATE TABLE steps (step TEXT)');
    const add = (step: string): void => void sqlite.prepare('INSERT INTO steps VALUES (?)').run(step);
    const steps = (): unknown[] => sqlite.prepare('SELECT step FROM steps').pluck().all();
    /** Two statements with a wait for each, as the operations of the store are. */
    const both = async (name: string): Promise<void> => {
      add(`${name} begins`);
      await Promise.resolve();
      add(`${name} ends`);
    };
    return { database, sqlite, add, steps, both };
  }

  it.each(['write', 'writeWithoutSync'] as const)(
    'has one transaction by %s at a time, in the order of the calls',
    async (way) => {
      const { database, steps, both } = await open();
      const seen = await Promise.all([
        database[way](() => both('one')),
        database.read(steps),
        database[way](() => both('two')),
        database.checkpoint(),
        database.retryWhileLocked(() => both('three')),
      ]);
      expect(seen[1]).toEqual(['one begins', 'one ends']);
      expect(await database.read(steps)).toEqual(
        ['one', 'two', 'three'].flatMap((name) => [`${name} begins`, `${name} ends`]),
      );
    },
  );

  it('keeps nothing of a transaction that fails, and goes on with the next', async () => {
    const { database, steps, both } = await open();
    const fails = database.write(async () => {
      await both('one');
      throw new Error('no');
    });
    const next = database.write(() => both('two'));
    await expect(fails).rejects.toThrow('no');
    await next;
    expect(await database.read(steps)).toEqual(['two begins', 'two ends']);
  });

  it('keeps nothing of a part that fails, and the rest of its transaction', async () => {
    const { database, sqlite, add, steps, both } = await open();
    await database.write(async () => {
      add('before');
      const part = savepoint(sqlite, async () => {
        await both('part');
        throw new Error('no');
      });
      await expect(part).rejects.toThrow('no');
      await savepoint(sqlite, () => both('after'));
    });
    expect(await database.read(steps)).toEqual(['before', 'after begins', 'after ends']);
  });

  it('is closed after what was begun, and refuses what comes later', async () => {
    const { database, steps, both } = await open();
    const begun = database.write(() => both('one'));
    await Promise.all([begun, database.close()]);
    await expect(database.read(steps)).rejects.toMatchObject({ code: 'interrupted' });
    const found = otherConnection(database.path).prepare('SELECT step FROM steps').pluck().all();
    expect(found).toEqual(['one begins', 'one ends']);
  });
});

describe('a locked file', () => {
  it('F4 is waited for without blocking, and then reported', async () => {
    const path = newPath();
    const patient = virtualClock();
    const database = await SqliteDatabase.open(
      mirrorOptions({ path, migrations, clock: patient, random: systemRandom }),
    );
    onTestFinished(() => database.close());
    const other = otherConnection(path);
    other.exec('BEGIN IMMEDIATE');
    const late = database.write(() => 'written');
    await patient.waiting();
    other.exec('COMMIT');
    await patient.advance(100);
    expect(await late).toBe('written');

    other.exec('BEGIN IMMEDIATE');
    const never = expect(database.write(() => 'written', 100)).rejects.toMatchObject({
      code: 'database_locked',
      exit: 75,
    });
    await patient.waiting();
    await patient.advance(200);
    await never;
    other.exec('COMMIT');
  });

  it.each(['write', 'writeWithoutSync'] as const)(
    'F8 is not written, by %s, by a daemon that lost it to another one while it waited for the lock',
    async (way) => {
      const path = newPath();
      const patient = virtualClock();
      const told: unknown[] = [];
      const options = mirrorOptions({ path, migrations, clock: patient, random: systemRandom });
      const database = await SqliteDatabase.open({ ...options, onDistrust: (error) => told.push(error) });
      onTestFinished(() => database.close());
      const epoch = await database.write(() => nextEpoch(database.sqlite));
      await database.requireClaim(mirrorClaim(database.sqlite, epoch));
      const add = (id: string): void =>
        void database.sqlite.prepare("INSERT INTO _accounts (account_id, added_at) VALUES (?, '2026')").run(id);
      await database.write(() => add('before'));
      const other = otherConnection(path);
      other.exec('BEGIN IMMEDIATE');
      const late = database[way](() => add('late'));
      const refused = expect(late).rejects.toMatchObject({ code: 'already_running', exit: 75 });
      await patient.waiting();
      other.exec('UPDATE mirror_identity SET daemon_epoch = daemon_epoch + 1; COMMIT');
      await patient.advance(100);
      await refused;
      expect(other.prepare('SELECT account_id FROM _accounts').pluck().all()).toEqual(['before']);
      expect(told).toHaveLength(1);
    },
  );

  it('F4 a lock that lasts is told once in each wait, after one that was short was not', async () => {
    const path = newPath();
    const told: string[] = [];
    const patient = virtualClock();
    const database = await SqliteDatabase.open({
      ...mirrorOptions({ path, migrations, clock: patient, random: systemRandom }),
      onLocked: (holder) => void told.push(holder),
    });
    onTestFinished(() => database.close());
    const other = otherConnection(path);
    for (const [ms, count] of [
      [1_000, 0],
      [5_000, 1],
      [5_000, 2],
    ] as const) {
      other.exec('BEGIN IMMEDIATE');
      const late = database.write(() => 'written');
      for (let passed = 0; passed < ms; passed += 100) {
        await patient.waiting();
        await patient.advance(100);
      }
      expect(told).toHaveLength(count);
      await patient.waiting();
      other.exec('COMMIT');
      await patient.advance(1_000);
      expect(await late).toBe('written');
    }
    expect(told[0]).toMatch(/another program|process \d+/);
  });

  it('F4 F8 is reported at the start too', async () => {
    const path = newPath();
    await writeMirror(path, clock, {});
    const other = otherConnection(path);
    other.exec('BEGIN EXCLUSIVE');
    expect(await openingError(path)).toMatchObject({ code: 'database_locked', exit: 75 });
  });
});

describe('a full disk', () => {
  it('F3 is reported, leaves no partial write, and does not cause a new file', async () => {
    const path = newPath();
    const database = await openDatabase(path);
    const { sqlite } = database;
    const fill = (): Promise<void> =>
      database.write(() => {
        for (let vendorid = 1; vendorid <= 500; vendorid++)
          sqlite
            .prepare(
              `INSERT INTO vendors (account_id, vendorid, first_seen_at, changed_at, source, read_seq, held_since_ms, raw)
               VALUES ('a', ?, '2026-11-20', '2026-11-20', 'pull', 1, 0, '{}')`,
            )
            .run(vendorid);
      });
    const most = sqlite.pragma('max_page_count', { simple: true }) as number;
    sqlite.pragma(`max_page_count = ${String(sqlite.pragma('page_count', { simple: true }))}`);
    await expect(fill()).rejects.toMatchObject({
      code: 'disk_full',
      exit: 74,
      message: expect.stringContaining(path) as string,
    });
    expect(sqlite.prepare('SELECT count(*) FROM vendors').pluck().get()).toBe(0);
    sqlite.pragma(`max_page_count = ${most}`);
    await fill();
    expect(sqlite.pragma('integrity_check', { simple: true })).toBe('ok');
  });
});
