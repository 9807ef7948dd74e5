import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { openMirror, ReaderError, type Mirror } from '../../../src/reader/index.ts';
import { textFields } from '../../../src/domain/vendor.ts';
import {
  balance,
  run,
  span,
  temporaryFolder,
  vendor,
  version,
  writeMirror,
  type Rows,
} from '../../support/mirror-file.ts';
import { account as sandboxAccount } from '../../support/names.ts';
import { testbed } from '../../support/testbed.ts';

const account = '6BApk';

async function filled(rows: Rows): Promise<{ path: string; mirror: Mirror }> {
  const path = join(temporaryFolder(), 'vendors.db');
  await writeMirror(path, systemClock, rows);
  return { path, mirror: await opened(path) };
}

async function opened(path: string): Promise<Mirror> {
  const mirror = await openMirror(path);
  onTestFinished(() => mirror.close());
  return mirror;
}

/** The code and the message of what is thrown. */
async function refusal(attempt: Promise<unknown>): Promise<ReaderError> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ReaderError);
  return error as ReaderError;
}

/** A database of another program. */
function foreign(sql: string): string {
  const path = join(temporaryFolder(), 'other.db');
  const sqlite = new Driver(path);
  sqlite.exec(sql);
  sqlite.close();
  return path;
}

describe('openMirror', () => {
  it('says that there is no file, and creates none', async () => {
    const path = join(temporaryFolder(), 'vendors.db');
    for (let attempt = 0; attempt < 2; attempt++)
      expect(await refusal(openMirror(path))).toMatchObject({
        code: 'database_unusable',
        message: `The file ${path} does not exist.`,
      });
  });

  it.each([
    ['CREATE TABLE invoices (id INTEGER)', 'is a database of another program (it holds invoices)'],
    ['CREATE TABLE migrations (id INTEGER, batch INTEGER)', 'is a database of another program (it holds migrations)'],
    [
      "CREATE TABLE migrations (number, name, checksum); INSERT INTO migrations VALUES (1, '0001_secrets.sql', 'x')",
      'is a database of another program (it holds migration 0001_secrets.sql)',
    ],
  ])('refuses a database of another program: %s', async (sql, why) => {
    const error = await refusal(openMirror(foreign(sql)));
    expect(error).toMatchObject({ code: 'database_unusable', message: expect.stringContaining(why) as string });
  });

  it('refuses a file that is not a database', async () => {
    const path = join(temporaryFolder(), 'notes.txt');
    writeFileSync(path, 'Call the bank.\n'.repeat(100));
    expect(await refusal(openMirror(path))).toMatchObject({ code: 'database_unusable' });
    const folder = join(temporaryFolder(), 'folder');
    mkdirSync(folder);
    expect(await refusal(openMirror(folder))).toMatchObject({ code: 'database_unusable' });
  });

  it('refuses a mirror of a newer or an older version, with a remedy', async () => {
    const { path } = await filled({});
    const change = (sql: string): void => {
      const sqlite = new Driver(path);
      sqlite.exec(sql);
      sqlite.close();
    };
    change("INSERT INTO migrations VALUES (9999, '9999_later.sql', 'x', '2026-11-20 12:00:00.000', NULL)");
    expect(await refusal(openMirror(path))).toMatchObject({
      code: 'database_newer',
      hint: 'The file was written by a newer vendor-mirror; install that version.',
    });
    change(
      'DELETE FROM migrations WHERE number = 9999 OR number = (SELECT max(number) FROM migrations m WHERE number < 9999)',
    );
    expect(await refusal(openMirror(path))).toMatchObject({
      code: 'database_older',
      hint: expect.stringContaining('Run `vendor-mirror sync` once') as unknown,
    });
  });

  it('waits for a locked file, and says so if it stays locked', async () => {
    const { path } = await filled({});
    const other = new Driver(path);
    onTestFinished(() => void other.close());
    other.exec('BEGIN EXCLUSIVE');
    expect(await refusal(openMirror(path, { lockWait: 0 }))).toMatchObject({ code: 'database_locked' });
    const waiting = openMirror(path);
    setImmediate(() => other.exec('COMMIT'));
    (await waiting).close();
  });

  it('reads a file that may not be written, in a folder that may not be written', async () => {
    const { path } = await filled({ vendors: [vendor(1)] });
    chmodSync(path, 0o444);
    chmodSync(join(path, '..'), 0o555);
    onTestFinished(() => chmodSync(join(path, '..'), 0o755));
    const mirror = await opened(path);
    expect((await mirror.vendors()).total).toBe(1);
  });
});

describe('a mirror that is read', () => {
  it('shows vendors page by page, and all of them one by one', async () => {
    const { mirror } = await filled({
      vendors: [vendor(1), vendor(2, { vis_state: 1 }), vendor(3, { vendor_name: 'Müller' }), vendor(4)],
      vendor_balances: [balance(1, 'outstanding', '12.50', 'USD')],
    });
    const first = await mirror.vendors({ limit: 2 });
    expect(first).toMatchObject({ total: 3, next: `${account}:3` });
    expect(first.vendors[0]).toMatchObject({ vendorid: 1, outstanding: [{ amount: '12.50', code: 'USD' }] });
    expect(await mirror.vendors({ limit: 2, after: first.next ?? '' })).toMatchObject({ next: null });
    const all: number[] = [];
    for await (const { vendorid } of mirror.everyVendor({ state: 'all', limit: 1 })) all.push(vendorid);
    expect(all).toEqual([1, 2, 3, 4]);
    const found = await mirror.vendors({ search: 'MULLER' });
    expect(found.vendors.map(({ vendorid }) => vendorid)).toEqual([3]);
  });

  it('shows one vendor with all its fields and its timeline', async () => {
    const { mirror } = await filled({
      vendors: [vendor(1, { phone: '2', is_1099: 1, unknown_fields: '{"iban":"\\"DE1\\""}' })],
      vendor_versions: [
        version(1, [], { valid_to: '2026-11-20 10:00:00.000', raw: '{"phone":"1"}' }),
        version(1, ['phone'], { valid_from: '2026-11-20 10:00:00.000', raw: '{"phone":"2"}' }),
      ],
    });
    const found = await mirror.vendor(account, 1, { limit: 1 });
    expect(found).toMatchObject({ account_id: account, presence: 'present', older: 2, safe_as_of: null });
    expect(found?.timeline).toMatchObject([{ kind: 'updated', values: { phone: { old: '1', new: '2' } } }]);
    expect(found?.record).toMatchObject({ vendorid: 1, phone: '2', is_1099: true, vis_state: 0, iban: 'DE1' });
    const fields = ['outstanding_balance', 'overdue_balance', 'tax_defaults', ...textFields];
    expect(Object.keys(found?.record ?? {})).toEqual(expect.arrayContaining(fields));
    expect(await mirror.vendor(account, 1, { before: found?.older ?? 0 })).toMatchObject({
      timeline: [{ kind: 'created' }],
      older: null,
    });
    expect(await mirror.vendor(account, 2)).toBeUndefined();
  });

  it('shows what is owed, exactly also where a number would round it', async () => {
    const { mirror } = await filled({
      vendors: [vendor(1), vendor(2, { vis_state: 1 })],
      _balance_spans: [
        span(1, 'EUR', 1250),
        span(2, 'USD', 0, { state: 'deleted', overdue_units: 9_007_199_254_740_993n, overdue_amount: 9.007e13 }),
      ],
    });
    expect(await mirror.payables()).toMatchObject([
      { vendorid: 1, currency: 'EUR', outstanding: 12.5, outstanding_minor: 1250, state: 'active' },
      { vendorid: 2, overdue_minor: 9_007_199_254_740_993n, state: 'deleted' },
    ]);
    expect(await mirror.payables({ account, state: 'active', currency: 'USD' })).toEqual([]);
    expect(await mirror.payables({ currency: 'USD' })).toHaveLength(1);
    expect(await mirror.owed()).toMatchObject([
      { state: 'active', currency: 'EUR', vendors: 1, outstanding: 12.5, outstanding_minor: 1250 },
      { state: 'deleted', currency: 'USD', vendors: 0, overdue_minor: 9_007_199_254_740_993n },
    ]);
    expect(await mirror.owed({ account, state: 'active', currency: 'USD' })).toEqual([]);
  });

  it('shows how fresh each account is', async () => {
    const { mirror } = await filled({
      _accounts: [{ account_id: account, added_at: '2026-11-20 09:00:00.000' }],
      runs: [run(1)],
    });
    expect(await mirror.freshness()).toMatchObject([
      { account_id: account, safe_as_of: '2026-11-20 11:54:55.000', open_suspects: 0 },
    ]);
  });

  it('answers one SELECT, and refuses anything else', async () => {
    const { mirror } = await filled({ vendors: [vendor(1), vendor(2)] });
    expect(await mirror.query('SELECT vendorid AS v FROM vendors WHERE vendorid > ?', [1])).toEqual([{ v: 2 }]);
    expect(await mirror.query('SELECT :a AS a, 9007199254740993 AS b, NULL AS c', { a: 'x' })).toEqual([
      { a: 'x', b: 9_007_199_254_740_993n, c: null },
    ]);
    const lost = 'SELECT a.vendorid, b.vendorid FROM vendors a JOIN vendors b';
    for (const sql of ['DELETE FROM vendors', 'PRAGMA journal_mode = WAL', 'SELECT 1; SELECT 2', 'SELEC', '', lost])
      expect(await refusal(mirror.query(sql)), sql).toMatchObject({ code: 'usage', hint: '' });
    for (const [sql, parameters] of [
      ['SELECT ?', []],
      ['SELECT ?', [1, 2]],
      ['SELECT :a', { b: 1 }],
      ["SELECT json('{')", []],
    ] as const)
      expect(await refusal(mirror.query(sql, parameters)), sql).toMatchObject({ code: 'usage' });
  });

  it('refuses arguments that mean nothing, and everything once it is closed', async () => {
    const { mirror } = await filled({});
    for (const limit of [0, -1, 1.5, 1001, Number.NaN]) {
      expect(await refusal(mirror.vendors({ limit }))).toMatchObject({ code: 'usage' });
      expect(await refusal(mirror.changes({ limit }))).toMatchObject({ code: 'usage' });
      expect(await refusal(mirror.vendor(account, 1, { limit }))).toMatchObject({ code: 'usage' });
    }
    expect(await refusal(mirror.vendors({ after: 'x' }))).toMatchObject({ code: 'usage' });
    expect(await refusal(mirror.changes({ since: 'yesterday' }))).toMatchObject({ code: 'usage' });
    mirror.close();
    mirror.close();
    expect(await refusal(mirror.vendors())).toMatchObject({ code: 'usage', message: 'The mirror is closed.' });
  });
});

describe('the changes of a mirror', () => {
  it('go on after a cursor while another connection writes', async () => {
    const at = await testbed({ level: 'account', vendors: 2 });
    await at.pull();
    const mirror = await opened(at.database);
    const first = await mirror.changes();
    expect(first).toMatchObject({ changes: [{ kind: 'created' }, { kind: 'created' }], more: false });
    expect(await mirror.latestCursor()).toBe(first.cursor);
    expect((await mirror.changes({ since: first.cursor })).changes).toEqual([]);
    const [changed] = first.changes;
    at.sandbox.vendors(sandboxAccount).edit(changed?.vendorid ?? 0, { phone: '555-0199' });
    await at.clock.advance(60_000);
    await at.pull();
    const second = await mirror.changes({ since: first.cursor });
    expect(second.changes).toMatchObject([{ vendorid: changed?.vendorid, values: { phone: { new: '555-0199' } } }]);
  });

  it('are refused if the history is another one, with where to start', async () => {
    const { mirror } = await filled({ vendors: [vendor(1)], vendor_versions: [version(1, [])] });
    const error = await refusal(mirror.changes({ since: '00112233aabbccdd:7' }));
    expect(error).toMatchObject({ code: 'history_gone', latest: await mirror.latestCursor() });
    expect(error.oldest).toMatch(/:0$/);
  });
});
