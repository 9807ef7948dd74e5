import { systemClock } from '../../../src/domain/clock.ts';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { beforeEach, describe, expect, it } from 'vitest';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { vendor } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

let line: Testbed<'command'>;

beforeEach(async () => {
  line = await testbed({ level: 'command' });
  await line.fill({ vendors: [vendor(11, { vendor_name: '=HYPERLINK("http://x")' }), vendor(12)] });
});

describe('export', () => {
  it('writes a copy that any reader opens, and says how large it is', async () => {
    const file = join(line.folder, 'copy.db');
    const { status, stdout, stderr } = await line.run('export', file);
    expect([status, stdout]).toEqual([0, '']);
    expect(stderr).toBe(`${file} is written: ${statSync(file).size.toLocaleString('en')} bytes.\n`);
    const copy = new Driver(file, { readonly: true });
    expect(copy.prepare('SELECT count(*) FROM active_vendors').pluck().get()).toBe(2);
    copy.close();
  });

  it('writes a spreadsheet where the name ends in .csv', async () => {
    const file = join(line.folder, 'vendors.CSV');
    const { stdout } = await line.run('export', file, '--json');
    expect(JSON.parse(stdout)).toEqual({ ok: true, file, bytes: statSync(file).size, sandbox: true });
    expect(readFileSync(file, 'utf8').split('\r\n')[1]).toContain(`"'=HYPERLINK(""http://x"")"`);
  });

  it('L86 writes the telephone numbers and negative amounts of a company without an apostrophe', async () => {
    const one = await testbed({
      level: 'command',
      clock: systemClock,
      settings: 'accounts: [6BApk]\nsandbox: { vendors: 60, seed: 4, churn: 0 }',
    });
    await one.run('sync');
    const { stdout } = await one.run('export', '-', '--view', 'vendor_overview');
    expect(stdout.match(/,"?\+\d/g)?.length).toBeGreaterThan(10);
    expect(stdout.match(/(?:^|,)"?'.*/gm)).toBeNull();
  });

  it('exits with 1 where there is nothing to export yet', async () => {
    const empty = await testbed({ level: 'command' });
    const file = join(empty.folder, 'copy.db');
    const { status, stdout, stderr } = await empty.run('export', file, '--json');
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toEqual({ ok: false, file: null, bytes: 0, sandbox: true });
    expect(stderr).toBe('Nothing is mirrored yet. Run `vendor-mirror sync`.\n');
    expect(existsSync(file)).toBe(false);
  });

  it('writes a view, or the rows of a query, as JSON in one document or an object a line', async () => {
    const [json, lines] = [join(line.folder, 'a.json'), join(line.folder, 'a.ndjson')];
    const query = 'SELECT vendorid, is_1099, 9007199254740993 AS large FROM vendors ORDER BY vendorid';
    expect((await line.run('export', json, '--view', 'active_vendors')).status).toBe(0);
    expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject([{ vendorid: 11, is_1099: null }, { vendorid: 12 }]);
    expect((await line.run('export', lines, '--query', query)).status).toBe(0);
    expect(readFileSync(lines, 'utf8')).toBe(
      '{"vendorid":11,"is_1099":null,"large":"9007199254740993"}\n{"vendorid":12,"is_1099":null,"large":"9007199254740993"}\n',
    );
    expect((await line.run('export', json, '--query', 'SELECT 1 WHERE 0')).status).toBe(0);
    expect(JSON.parse(readFileSync(json, 'utf8'))).toEqual([]);
  });

  it('writes to standard output where the file is -, as CSV unless told', async () => {
    const query = ['--query', 'SELECT vendorid AS id FROM vendors ORDER BY 1'];
    expect(await line.run('export', '-', ...query)).toEqual({
      status: 0,
      stdout: '\ufeffid\r\n11\r\n12\r\n',
      stderr: '',
    });
    expect((await line.run('export', '-', '--format', 'ndjson', ...query)).stdout).toBe('{"id":11}\n{"id":12}\n');
    const twice = await line.run('export', '-', '--query', 'SELECT 1 AS id, 2 AS id');
    expect(twice).toEqual({ status: 0, stdout: '\ufeffid,id\r\n1,2\r\n', stderr: '' });
  });

  it('writes a .parquet with the types of the columns, and says which texts are not times', async () => {
    const file = join(line.folder, 'a.parquet');
    await line.fill({
      vendors: [vendor(13, { created_at: '0000-00-00 00:00:00', updated_at: '2026-11-20 18:17:00' })],
    });
    const query =
      'SELECT vendorid, created_at, updated_at, is_1099, count(*) AS rows FROM vendors GROUP BY 1 ORDER BY 1 DESC';
    const { status, stderr } = await line.run('export', file, '--query', query);
    expect([status, stderr]).toEqual([
      0,
      `One text in a time column is not a time; it is left empty.\n${file} is written: ${statSync(file).size.toLocaleString('en')} bytes.\n`,
    ]);
    const [row] = await parquetReadObjects({ file: await asyncBufferFromFile(file) });
    expect(row).toEqual({
      ...{ vendorid: 13n, created_at: null, is_1099: null, rows: 1n },
      updated_at: new Date('2026-11-20T18:17:00Z'),
    });
  });

  const endings = 'use .db, .csv, .json, .ndjson or .parquet';
  it.each([
    [['DIR/copy.txt'], endings],
    [['DIR/copy'], endings],
    [['DIR/copy.xlsx'], endings],
    [['DIR/no/such/folder.db'], 'there is no folder', 74],
    [['-', '--format', 'db'], 'A .db cannot go to standard output'],
    [['DIR/a.db', '--view', 'payables'], 'A .db holds the whole mirror'],
    [['-', '--view', 'nothing'], 'The mirror has no view nothing; it has '],
    [['-', '--view', '_webhook_days'], 'The mirror has no view _webhook_days'],
    [['-', '--query', 'DELETE FROM vendors'], 'it must be a single SELECT, which changes nothing'],
    [['-', '--query', 'WITH x AS (SELECT 1) DELETE FROM vendors'], 'it must be a single SELECT, which changes nothing'],
    [['-', '--query', "ATTACH 'other.db' AS other"], 'it must be a single SELECT, which changes nothing'],
    [['-', '--query', 'PRAGMA journal_mode'], 'it must be a single SELECT, which changes nothing'],
    [['-', '--query', 'SELECT 1; SELECT 2'], 'more than one statement'],
    [['-', '--query', 'SELECT nowhere FROM vendors'], 'no such column: nowhere'],
    [['-', '--query', 'SELECT 1', '--view', 'payables'], 'cannot be used with'],
    [['DIR/a.parquet', '--query', 'SELECT 1 AS a, 2 AS a'], 'Two columns are named a'],
    [['DIR/a.json', '--query', 'SELECT 1 AS a, 2 AS a'], 'Two columns are named a'],
    [['DIR/a.ndjson', '--query', 'SELECT 1 AS a, 2 AS a'], 'Two columns are named a'],
    [['-', '--format', 'json', '--query', 'SELECT 1 AS a, 2 AS a'], 'Two columns are named a'],
    [['DIR/a.parquet', '--query', "SELECT vendorid FROM vendors UNION ALL SELECT 'x'"], 'values of several types'],
    [['DIR/a.parquet', '--query', 'SELECT abs(-9223372036854775808)'], 'The query cannot be used: integer overflow.'],
  ])('refuses %j, and leaves nothing behind', async (argv, reason, exit = 64) => {
    const { status, stdout, stderr } = await line.run('export', ...argv.map((one) => one.replace('DIR', line.folder)));
    expect([status, stdout]).toEqual([exit, '']);
    expect(stderr).toContain(reason);
    expect(readdirSync(line.folder).sort()).toEqual(['mirror.yaml', 'vendors.db']);
  });

  const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n';
  const oneRow = `SELECT 1 AS n UNION ALL SELECT count(*) FROM (${endless})`;
  it.each([
    ['while rows come', 'FILE.ndjson', endless],
    ['while SQLite searches for the next row', '-', oneRow],
    ['while SQLite searches for the next row', 'FILE.csv', oneRow],
    ['while SQLite searches for the next row', 'FILE.parquet', oneRow],
  ])('ends when the reader of an endless query leaves %s (%s)', async (_, where, query) => {
    const running = line.run('export', where === '-' ? where : join(line.folder, where), '--query', query);
    setImmediate(() => line.interruption.abort(new Error('Ctrl-C')));
    expect((await running).status).toBe(1);
    expect(readdirSync(line.folder).sort()).toEqual(['mirror.yaml', 'vendors.db']);
  });
});

describe('L62 what steers a terminal', () => {
  const odd = 'a\u001b[31mb\u0085c\u009b1md\u202ee\u2066f\u200fg\u2028h\u007fi\u061cj\r\nk\tl';
  const steers = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;
  const rows = ['export', '-', '--query', 'SELECT vendor_name AS name FROM vendors'];

  async function withOdd(columns?: number): Promise<Testbed<'command'>> {
    const at = await testbed({ level: 'command', ...(columns !== undefined && { columns }) });
    await at.fill({ vendors: [vendor(11, { vendor_name: odd })] });
    return at;
  }

  it.each(['csv', 'json', 'ndjson'])('is made visible on a terminal by export - of %s', async (format) => {
    const { status, stdout } = await (await withOdd(80)).run(...rows, '--format', format);
    expect([status, steers.exec(stdout)]).toEqual([0, null]);
    for (const shown of format === 'csv' ? ['␛[31m', '\\u0085', '\\u202e', '␡'] : ['\\u001b[31m', '\\u202e'])
      expect(stdout).toContain(shown);
  });

  it('is in a .csv for a pipe as it was sent', async () => {
    const { stdout } = await (await withOdd()).run(...rows, '--format', 'csv');
    expect(stdout).toBe(`\ufeffname\r\n"${odd}"\r\n`);
  });

  it.each(['json', 'ndjson'])('is escaped in %s everywhere, and nothing is lost', async (format) => {
    const at = await withOdd();
    const file = join(at.folder, `out.${format}`);
    await at.run(...rows.with(1, file));
    for (const text of [(await at.run(...rows, '--format', format)).stdout, readFileSync(file, 'utf8')]) {
      expect(steers.exec(text)).toBeNull();
      expect([JSON.parse(text)].flat()).toEqual([{ name: odd }]);
    }
  });

  it('is not what a .parquet is for', async () => {
    const { status, stdout, stderr } = await (await withOdd(80)).run(...rows, '--format', 'parquet');
    expect([status, stdout]).toEqual([64, '']);
    expect(stderr).toContain('not text for a terminal');
  });
});

it.each(['zeroblob(2000000000)', 'length(zeroblob(9e9))', "printf('%01900000000d', 1)", 'hex(zeroblob(600000000))'])(
  'L63 a query for %s is refused as one, in each format',
  async (expression) => {
    for (const format of ['ndjson', 'parquet']) {
      const { status, stderr } = await line.run(
        'export',
        '-',
        '--query',
        `SELECT ${expression} AS a`,
        '--format',
        format,
      );
      expect([status, stderr]).toEqual([
        64,
        expect.stringContaining('The query cannot be used: a value of it is too large.'),
      ]);
    }
  },
);
