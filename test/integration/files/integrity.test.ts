/** A daemon on a mirror that may be damaged: when it checks the integrity of the file, and what it does meanwhile. */
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import type { Sqlite } from '../../../src/store/sqlite/driver.ts';
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { checkWholeFile } from '../../../src/store/files/damage.ts';
import { ask } from '../../support/mirror-file.ts';
import { activeDifferences } from '../../support/mirror/differences.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

/** Makes an index disagree with its table, which nothing but a check of every entry finds. */
function ruinIndex(path: string): void {
  const [name, sqlite] = ['gateways_ruined', new Driver(path)];
  sqlite.unsafeMode();
  sqlite.exec("INSERT INTO gateways (account_id, sgid, id, first_seen_at) VALUES ('other', 1, 1, '2026')");
  sqlite.exec(`CREATE INDEX ${name} ON gateways (first_seen_at)`);
  const entry = sqlite.prepare('SELECT * FROM sqlite_schema WHERE name = ?').get(name);
  sqlite.pragma('writable_schema = 1');
  sqlite.prepare('DELETE FROM sqlite_schema WHERE name = ?').run(name);
  sqlite.close();
  const unaware = new Driver(path);
  unaware.unsafeMode();
  unaware.exec("UPDATE gateways SET first_seen_at = '2025' WHERE account_id = 'other'");
  unaware.pragma('writable_schema = 1');
  unaware.prepare('INSERT INTO sqlite_schema VALUES (@type, @name, @tbl_name, @rootpage, @sql)').run(entry);
  unaware.close();
  expect(ask(path, 'PRAGMA quick_check')).toEqual([{ quick_check: 'ok' }]);
}

/** Leaves the file as a daemon does that was killed: its entry stays. */
function forgetStop(path: string): void {
  const sqlite = new Driver(path);
  sqlite.exec("INSERT INTO _daemon_files (file, inode) VALUES ('mirror', '1')");
  sqlite.close();
}

const looked = ({ log }: Testbed<'daemon'>): string[] =>
  log
    .map(({ msg }) => msg)
    .filter((msg) => msg.startsWith('checking') || msg === 'the mirror passed the integrity check');

/** Waits for another process, for which no clock of ours moves. */
async function until(at: Testbed<'daemon'>, isSo: () => boolean): Promise<void> {
  while (!isSo()) await at.clock.yield();
}

/** Whatever connections of this process run from now on, as SQL. */
function statements(): string[] {
  const run: string[] = [];
  for (const method of ['exec', 'pragma', 'prepare'] as const) {
    const original = Reflect.get(Driver.prototype, method) as (...args: unknown[]) => never;
    vi.spyOn(Driver.prototype, method).mockImplementation(function (this: Sqlite, ...args: unknown[]) {
      run.push(String(args[0]));
      return original.apply(this, args);
    });
  }
  onTestFinished(() => void vi.restoreAllMocks());
  return run;
}

describe('K50 a daemon on a mirror that', () => {
  it('is new, or was closed cleanly, does not check it', async () => {
    const at = await testbed({ level: 'daemon' });
    await at.reopen();
    await at.start();
    await at.untilRuns();
    expect([looked(at), at.fatal]).toEqual([[], []]);
  });

  it('was left by a killed daemon checks it once, with its ports open', async () => {
    const at = await testbed({ level: 'daemon' });
    await at.stop();
    forgetStop(at.settings.database);
    await at.reopen();
    await at.start();
    expect(looked(at)[0]).toBe('checking the integrity of the mirror');
    expect((await at.look('/healthz')).status).toBe(200);
    await until(at, () => looked(at).length > 1);
    expect([looked(at)[1], at.fatal]).toEqual(['the mirror passed the integrity check', []]);
    await at.reopen();
    await at.start();
    await at.untilRuns();
    expect(looked(at)).toHaveLength(2);
  });

  it('was left by a killed daemon does not check it by a statement of its own, which would hold its ports up', async () => {
    const at = await testbed({ level: 'daemon' });
    await at.stop();
    forgetStop(at.settings.database);
    const run = statements();
    await at.reopen();
    await at.start();
    await until(at, () => looked(at).length > 1);
    expect(run.length).toBeGreaterThan(20);
    expect(run.filter((sql) => /^(pragma )?(integrity|quick|foreign_key)_check/i.test(sql))).toEqual([]);
  });

  it('was left by a killed daemon, and stops before the check has ended, leaves the check to the next daemon', async () => {
    const at = await testbed({ level: 'daemon' });
    await at.stop();
    forgetStop(at.settings.database);
    await at.reopen();
    await at.reopen();
    await at.start();
    await until(at, () => looked(at).length > 1);
    expect(looked(at)).toEqual(['checking the integrity of the mirror', 'the mirror passed the integrity check']);
  });

  it('is being checked stops at once', async () => {
    const at = await testbed({ level: 'daemon' });
    const stop = new AbortController();
    const looking = checkWholeFile(at.settings.database, stop.signal);
    stop.abort();
    await expect(looking).rejects.toMatchObject({ code: 'interrupted' });
  });

  it('has an index that disagrees with its table ends for it, and the next daemon makes a new one', async () => {
    const at = await testbed({ level: 'daemon' });
    await at.stop();
    ruinIndex(at.settings.database);
    forgetStop(at.settings.database);
    await at.reopen();
    await at.start();
    await until(at, () => at.fatal.length > 0);
    expect(at.fatal[0]).toMatchObject({
      code: 'database_corrupt',
      message: expect.stringContaining('gateways_ruined') as unknown,
      exit: 74,
    });
    expect(existsSync(`${at.settings.database}.damaged`)).toBe(true);
    await at.reopen();
    await at.start();
    await at.untilRuns();
    const files = readdirSync(at.folder);
    expect(files.filter((name) => name.startsWith('vendors.db.corrupt-'))).toHaveLength(1);
    expect(files).not.toContain('vendors.db.damaged');
    expect(at.query('SELECT count(*) AS count FROM vendors')).toEqual([{ count: 40 }]);
    expect(at.query('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });
});

/** Every page that changed since the copy was made is in the journal, or only those that changed later: these fit no page of the copy. */
it.each([
  ['all that came after it', false, 30],
  ['some of what came after it', true, 30],
  ['a little of what came after it', true, 1],
])(
  'L74 a copy that is put back beside a journal of %s is checked, and what comes of it is right',
  async (_, isPart, edits) => {
    const at = await testbed({ level: 'daemon' });
    const { database } = at.settings;
    const service = at.sandbox.vendors(account);
    const edit = async (city: string): Promise<void> => {
      for (const { vendorid } of service.all().slice(0, edits)) service.edit(Number(vendorid), { city });
      await at.clock.until(city, () => at.query('SELECT 1 FROM vendors WHERE city = ?', city).length === edits);
      await at.untilQuiet();
    };
    await at.stop();
    copyFileSync(database, join(at.folder, 'copy.db'));
    await at.reopen();
    await at.start();
    await edit('First');
    if (isPart) {
      const other = new Driver(database);
      other.pragma('wal_checkpoint(TRUNCATE)');
      other.close();
    }
    await edit('Second');
    // As if it were killed now, and somebody put the copy back in its place.
    const left = ['-wal', '-shm'].map((suffix) => [database + suffix, readFileSync(database + suffix)] as const);
    await at.stop();
    for (const [path, bytes] of left) writeFileSync(path, bytes);
    copyFileSync(join(at.folder, 'copy.db'), database);
    const before = looked(at).length;
    await at.reopen();
    await at.start();
    await until(at, () => looked(at).length > before + 1 || at.fatal.length > 0);
    if (at.fatal.length > 0) {
      expect(at.fatal[0]).toMatchObject({ code: 'database_corrupt', exit: 74 });
      await at.reopen();
      await at.start();
    }
    await at.untilRuns();
    await at.untilQuiet();
    expect(activeDifferences(at)).toEqual([]);
    expect(at.query('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  },
);
