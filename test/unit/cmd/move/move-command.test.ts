import Driver from 'better-sqlite3';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { takeSideLock } from '../../../../src/store/files/side-lock.ts';
import { ask } from '../../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../../support/testbed.ts';

const account = ['--account', '6BApk'];

let line: Testbed<'command'>;
let secrets: string;
let folder: string;

const vendors = (database: string): unknown => ask(database, 'SELECT count(*) AS n FROM vendors');
const tokens = (path: string): unknown => ask(path, 'SELECT * FROM path_tokens');
const at = (name: string): string => join(folder, name);

async function moving(status: number, to = folder): Promise<string> {
  const outcome = await line.run('move', to);
  expect([outcome.status, outcome.stderr]).toEqual([status, expect.any(String)]);
  return outcome.stdout + outcome.stderr;
}

/** Whoever runs a command with these settings is told the same. */
async function refused(status: number): Promise<string> {
  const outcomes = [await line.run('status', ...account), await line.run('sync', ...account)];
  expect(outcomes.map((outcome) => outcome.status)).toEqual([status, status]);
  return outcomes[1]!.stderr;
}

function settingsNow(): void {
  const text = readFileSync(line.settings, 'utf8').replace(line.database, at('vendors.db'));
  writeFileSync(line.settings, text.replace(secrets, at('secrets.db')));
}

beforeEach(async () => {
  line = await testbed({ level: 'command', service: { vendors: 3 } });
  secrets = join(line.folder, 'secrets.db');
  folder = join(line.folder, 'new');
  await line.run('sync', ...account);
});

describe('move', () => {
  it('moves the mirror, the secrets and what belongs to them, says what to change, and leaves only notes', async () => {
    writeFileSync(`${line.database}.corrupt-2026-11-20`, 'an older one');
    const before = [vendors(line.database), tokens(secrets)];
    const said = await moving(0);
    expect(said).toContain(`change in ${line.settings}`);
    expect(said).toContain(`database: ${at('vendors.db')}\nsecrets: ${at('secrets.db')}\n`);
    expect(readdirSync(folder).sort()).toEqual(['secrets.db', 'vendors.db', 'vendors.db.corrupt-2026-11-20']);
    expect(readdirSync(line.folder).sort()).toEqual(['mirror.yaml', 'new', 'secrets.db.moved', 'vendors.db.moved']);
    expect([vendors(at('vendors.db')), tokens(at('secrets.db'))]).toEqual(before);
    expect(statSync(at('secrets.db')).mode & 0o777).toBe(0o600);

    expect(await refused(78)).toContain(`database: was moved to ${at('vendors.db')}`);
    expect(await moving(0)).toContain(`secrets: ${at('secrets.db')}`);
    settingsNow();
    expect((await line.run('sync', ...account)).status).toBe(0);
    expect([vendors(at('vendors.db')), tokens(at('secrets.db'))]).toEqual(before);
  });

  it('can move back', async () => {
    await moving(0);
    settingsNow();
    await moving(0, line.folder);
    expect(readdirSync(line.folder).sort()).toEqual(['mirror.yaml', 'new', 'secrets.db', 'vendors.db']);
    expect(await refused(78)).toContain(`database: was moved to ${line.database}`);
  });

  it('refuses a folder that is taken, a running daemon, a reader, a damaged mirror, and where nothing is there', async () => {
    const names = (): string[] =>
      readdirSync(line.folder)
        .filter((name) => !name.endsWith('.lock'))
        .sort();
    const before = names();
    for (const name of ['secrets.db', 'vendors.db-wal']) {
      mkdirSync(folder);
      writeFileSync(at(name), '');
      expect(await moving(64)).toContain(`${at(name)} exists already: name another folder.`);
      rmSync(folder, { recursive: true });
    }
    expect(await moving(64, line.folder)).toContain('exist already');
    expect(await moving(64, line.settings)).toContain('is not a folder');

    const lock = takeSideLock(line.database, 0);
    expect(await moving(75)).toContain('Another daemon works on');
    lock.release();
    const reader = new Driver(line.database);
    reader.pragma('journal_mode = WAL');
    reader.prepare('SELECT count(*) FROM vendors').get();
    expect(await moving(75)).toContain(`${line.database} is open in another program`);
    reader.close();
    expect(names()).toEqual(before);

    const broken = new Driver(line.database);
    broken.unsafeMode();
    broken.pragma('writable_schema = 1');
    broken.exec("update sqlite_schema set rootpage = 2 where name = 'vendors_not_present'");
    broken.close();
    expect(await moving(74)).toContain('is damaged');
    expect([names(), readdirSync(folder)]).toEqual([[...before, 'new'].sort(), []]);
    for (const name of [line.database, secrets]) rmSync(name);
    expect(await moving(64)).toContain('There is nothing to move');
  });

  it('does not remove an old file that was changed or put back, and says how to decide', async () => {
    const copy = readFileSync(line.database);
    await moving(0);
    writeFileSync(line.database, copy);
    expect(await refused(74)).toContain(`delete ${line.database}.moved`);
    expect(await moving(74)).toContain(`${line.database} has changed since it was copied to ${at('vendors.db')}`);
    expect(existsSync(line.database)).toBe(true);
    for (const path of [line.database, secrets]) rmSync(`${path}.moved`);
    expect((await line.run('status', ...account)).status).toBe(0);
  });

  it('does not mix two moves: the second folder waits for the first to be finished', async () => {
    await moving(0);
    const other = join(line.folder, 'other');
    expect(await moving(78, other)).toContain(`was moved to ${at('vendors.db')}`);
    writeFileSync(at('.vendors.db.moving'), '');
    rmSync(at('vendors.db'));
    expect(await moving(74, other)).toContain('finish that one first');
    settingsNow();
    expect(await refused(74)).toContain('was interrupted');
  });

  it('moves a mirror that has no secrets yet, and names the new place of both', async () => {
    rmSync(secrets);
    expect(await moving(0)).toContain(`database: ${at('vendors.db')}\nsecrets: ${at('secrets.db')}\n`);
    expect(await refused(78)).toContain(`secrets: was moved to ${at('secrets.db')}`);
    settingsNow();
    expect((await line.run('sync', ...account)).status).toBe(0);
  });

  it('leaves the built-in sandbox where it is', async () => {
    const { status, stderr } = await line.runBare('move', folder, '--sandbox');
    expect([status, stderr]).toEqual([64, expect.stringContaining('stay where they are')]);
  });
});
