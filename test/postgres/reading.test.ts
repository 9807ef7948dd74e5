/** Commands that read a mirror in PostgreSQL print what they print of the same rows in a file. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Driver } from '../../src/store/sqlite/driver-package.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { refuseBadSources } from '../../src/app/publications.ts';
import { ask } from '../support/mirror-file.ts';
import { compiled } from '../support/source/compiled.ts';
import { isMissing } from '../support/needed.ts';
import { missingPostgres } from '../support/postgres-server.ts';
import { askPostgres, postgresServer } from '../support/postgres.ts';
import { testbed, type Testbed } from '../support/testbed.ts';
import { copyRows, openCopy } from './copied-rows.ts';

const server = postgresServer();
const service = 'service: { baseUrl: "http://127.0.0.1:9", auth: { accessToken: token } }';
const sandbox = 'sandbox: { vendors: 40, seed: 3, churn: 0, records: odd }';

interface Printed {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Both {
  readonly line: Testbed<'command'>;
  readonly address: string;
  /** What a command prints of the mirror in the file, and of the one in PostgreSQL, with places and sizes left out. */
  readonly run: (...argv: string[]) => Promise<readonly [file: Printed, postgres: Printed]>;
  readonly runIn: (kept: 'file' | 'postgres', ...argv: string[]) => Promise<Printed>;
}

async function both(): Promise<Both> {
  const line = await testbed({ level: 'command', settings: sandbox });
  expect((await line.run('sync')).status).toBe(0);
  await line.fill({
    deliveries: [1, 2, 3].map((id) => ({
      ...{ id, account_id: '6BApk', received_at: `2026-11-20 11:0${id}:00.500`, name: 'bill_vendor.update' },
      ...{ object_id: 11 + id, outcome: id === 2 ? 'parked' : 'applied' },
      settled_at: id === 2 ? null : `2026-11-20 11:0${id}:01.000`,
    })),
  });
  const writer = new Driver(line.database);
  writer.exec(`UPDATE mirror_identity SET service = NULL;
    UPDATE vendors SET vendor_name = 'Café Zürich' WHERE vendorid = (SELECT min(vendorid) FROM vendors)`);
  writer.close();
  const address = await server.database();
  await copyRows(line.database, address, 'books');
  const inFile = join(line.folder, 'file.yaml');
  const text = readFileSync(line.settings, 'utf8').replace(sandbox, service);
  writeFileSync(inFile, text);
  const inPostgres = join(line.folder, 'postgres.yaml');
  const place = text.replace(/^database: .*$/m, `database: ${address}\ndatabaseSchema: books`);
  writeFileSync(inPostgres, place.replace(/^secrets: .*\n/m, ''));
  const printed = async (settings: string, argv: readonly string[]): Promise<Printed> => {
    const { status, stdout, stderr } = await line.runBare(...argv, '-c', settings);
    const { pathname, host } = new URL(address);
    const plain = (output: string): string =>
      output
        .replaceAll(settings, 'SETTINGS')
        .replaceAll(line.database, 'MIRROR')
        .replaceAll(`postgres://tester@${host}${pathname}, schema books`, 'MIRROR')
        // Of a file, which has one at most, they are not listed.
        .replaceAll('"daemons":[]', '"daemons":null')
        .replaceAll(/"(database|disk_free|wal)_bytes": ?(\d+|null)/g, '"$1_bytes": 0');
    return { status, stdout: plain(stdout), stderr: plain(stderr) };
  };
  return {
    line,
    address,
    runIn: (kept, ...argv) => printed(kept === 'file' ? inFile : inPostgres, argv),
    run: async (...argv) => [await printed(inFile, argv), await printed(inPostgres, argv)],
  };
}

const commands: readonly string[][] = [
  ['status', '--json'],
  ['status'],
  ['status', '--account', '6BApk'],
  ['vendors', 'list'],
  ['vendors', 'list', '--json'],
  ...['name', 'number', 'outstanding', 'overdue', 'changed'].map((sort) => ['vendors', 'list', '--sort', sort]),
  ...['cafe', 'ZÜRICH', 'zurich', '%', '_'].map((search) => ['vendors', 'list', '--search', search]),
  ['vendors', 'list', '--state', 'archived', '--json'],
  ['changes'],
  ['changes', '--account', 'other', '--limit', '3'],
  ['deliveries', 'list'],
  ['deliveries', 'list', '--json', '--outcome', 'parked'],
  ['gateways', 'list', '--json'],
  ['gateways', 'list'],
  ['accounts', 'list', '--json'],
  ['accounts', 'list'],
  ...['csv', 'json', 'ndjson'].map((format) => ['export', '-', '--format', format]),
  ...['vendors', 'vendor_versions', 'runs', 'payables', 'freshness'].map((view) => ['export', '-', '--view', view]),
];

/** Rows come in the order in which each engine stores them. */
function unordered(argv: readonly string[], printed: Printed): unknown {
  if (argv[0] !== 'export') return printed;
  return { ...printed, stdout: printed.stdout.split(/,?\r?\n/).sort() };
}

describe.skipIf(isMissing(missingPostgres))('of the same rows in a file and in PostgreSQL', () => {
  it('commands print the same', async () => {
    const { line, run } = await both();
    const ids = ask<{ id: number }>(
      line.database,
      `SELECT vendorid AS id FROM vendors WHERE account_id = '6BApk' ORDER BY id LIMIT 3`,
    );
    const shown = ids.flatMap(({ id }) => [
      ['vendors', 'show', String(id), '--account', '6BApk'],
      ['vendors', 'show', String(id), '--account', '6BApk', '--json'],
    ]);
    for (const argv of [...commands, ...shown]) {
      const [file, postgres] = await run(...argv);
      expect.soft(file, argv.join(' ')).toMatchObject({ status: 0 });
      expect.soft(unordered(argv, postgres), argv.join(' ')).toEqual(unordered(argv, file));
    }
  });

  it('a .parquet holds the same rows, with the same types', async () => {
    const { line, runIn } = await both();
    const files = await Promise.all(
      (['file', 'postgres'] as const).map(async (kept) => {
        const path = join(line.folder, `${kept}.parquet`);
        expect(
          await runIn(
            kept,
            'export',
            path,
            '--query',
            'SELECT * FROM payables ORDER BY account_id, vendorid, currency',
          ),
        ).toMatchObject({
          status: 0,
        });
        const { parquetReadObjects, parquetSchema, parquetMetadata } = await import('hyparquet');
        const bytes = new Uint8Array(readFileSync(path)).buffer;
        const types = parquetSchema(parquetMetadata(bytes)).children.map(({ element }) => [element.name, element.type]);
        return { types, rows: await parquetReadObjects({ file: bytes }) };
      }),
    );
    expect(files[0]!.rows.length).toBeGreaterThan(5);
    expect(files[1]).toEqual(files[0]);
  });

  it.each([
    ['a view that is not there', ['export', '-', '--view', 'nothing']],
    ['a query that is none', ['export', '-', '--query', 'SELEC 1']],
    ['a query that changes something', ['export', '-', '--query', 'DELETE FROM vendors']],
    ['two columns of one name', ['export', '-', '--format', 'json', '--query', 'SELECT 1 AS a, 2 AS a']],
    ['an account of rows that have none', ['export', '-', '--view', 'data_dictionary', '--account', 'other']],
    ['a cursor of another mirror', ['changes', '--since', '0123456789abcdef:1']],
  ])('%s is refused alike', async (_, argv) => {
    const { run } = await both();
    const [file, postgres] = await run(...argv);
    expect(file.status).toBeGreaterThan(0);
    expect(postgres).toMatchObject({ status: file.status, stdout: file.stdout });
  });
});

describe.skipIf(isMissing(missingPostgres))('a mirror in PostgreSQL', () => {
  it('is read in one statement that a user wrote, and changes nothing', async () => {
    const { runIn } = await both();
    for (const query of ['SELECT 1; DELETE FROM vendors', 'WITH gone AS (DELETE FROM vendors RETURNING 1) SELECT 1'])
      expect(await runIn('postgres', 'export', '-', '--query', query)).toMatchObject({ status: 64, stdout: '' });
    expect((await runIn('postgres', 'vendors', 'list')).stderr).toMatch(/^[1-9]\d* vendors/);
  });

  it('is copied by the programs of the server, not into a .db', async () => {
    const { line, runIn } = await both();
    const { status, stderr } = await runIn('postgres', 'export', join(line.folder, 'copy.db'));
    expect(status).toBe(64);
    expect(stderr).toMatch(/the mirror is in MIRROR: copy that with pg_dump, or export to \.csv/);
  });

  it.each([
    [['status'], 0],
    [['vendors', 'list'], 0],
    [['changes'], 0],
    [['deliveries', 'list'], 0],
    [['gateways', 'list'], 0],
    [['export', '-'], 1],
  ])('that is not there yet is said to be so by %j', async (argv, status) => {
    const { runIn, address } = await both();
    await askPostgres(address, 'DROP SCHEMA books CASCADE');
    expect(await runIn('postgres', ...argv)).toEqual({
      status,
      stdout: '',
      stderr: 'Nothing is mirrored yet. Run `vendor-mirror sync -c SETTINGS`.\n',
    });
  });

  it('whose daemon runs elsewhere says since when, and that its run goes on', async () => {
    const { address, runIn } = await both();
    const beat = (renewed: string) =>
      askPostgres(
        address,
        `INSERT INTO books._processes VALUES ('one', 'books-1', '0.0.0', 1, '2026-11-20 11:00:00+00', ${renewed})
         ON CONFLICT (name) DO UPDATE SET renewed_at = excluded.renewed_at`,
      );
    const since = async () =>
      (JSON.parse((await runIn('postgres', 'status', '--json')).stdout) as { started_at: unknown }).started_at;
    await beat('clock_timestamp()');
    expect(await since()).toBe('2026-11-20 11:00:00.000');
    await beat(`clock_timestamp() - interval '31 seconds'`);
    expect(await since()).toBeNull();
  });

  it('is published to files, and what cannot be is refused at the start', async () => {
    const { line, address } = await both();
    const mirror = await openCopy(address, 'books');
    onTestFinished(() => mirror.close());
    const refused = refuseBadSources(
      [
        { path: 'a.csv', when: 'change', view: 'payables' },
        { path: 'b.csv', when: 'change', view: 'payable' },
        { path: 'c.csv', when: 'change', query: 'DELETE FROM vendors' },
        { path: 'd.csv', when: 'change', query: 'SELECT 1 AS a, 2 AS a' },
        { path: 'e.json', when: 'change', query: 'SELECT 1 AS a, 2 AS a' },
      ],
      mirror,
    );
    await expect(refused).rejects.toMatchObject({
      code: 'settings_invalid',
      message: expect.stringMatching(
        /:\n {2}publish\.1: The mirror has no view payable;[^\n]*\n {2}publish\.2: The query cannot be used[^\n]*\n {2}publish\.4: Two columns are named a;[^\n]*$/,
      ) as unknown,
    });
    const path = join(line.folder, 'vendors.csv');
    const own = { secrets: '', readFrom: [] };
    await mirror.publish({ path, view: 'active_vendors' }, { own, program: compiled.exports });
    expect(readFileSync(path, 'utf8')).toContain('Café Zürich');
  });
});
