/** Blobs that another program wrote into text columns. */
import { Driver } from '../../../../src/store/sqlite/driver-package.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { balance, vendor } from '../../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../../support/testbed.ts';

let line: Testbed<'command'>;
const shown = "x'c3ff00e9'";

beforeEach(async () => {
  line = await testbed({ level: 'command' });
  await line.fill({
    vendors: [vendor(11), vendor(12)],
    vendor_balances: [balance(11, 'outstanding', '5.00', 'USD')],
    vendor_tax_defaults: [{ account_id: '6BApk', vendorid: 11, taxid: 1 }],
    _accounts: [{ account_id: '6BApk', added_at: '2030-01-01 00:00:00.000' }],
    gateways: [{ account_id: '6BApk', sgid: 1, id: 1, first_seen_at: '2030-01-01 00:00:00.000' }],
    callbacks: [{ account_id: '6BApk', callbackid: 1, event: 'x', uri: 'x', verified: 0, checked_at: 'x' }],
    deliveries: [{ account_id: '6BApk', received_at: 'x', name: 'x', outcome: 'pending' }],
    vendor_versions: [
      {
        account_id: '6BApk',
        vendorid: 11,
        valid_from: 'x',
        vis_state: 0,
        vis_state_source: 'reported',
        presence: 'present',
        changed_fields: '[]',
        source: 'pull',
        raw: '{}',
      },
    ],
  });
  scribble();
});

/** Puts a blob into every column of text that takes one, in every table. */
function scribble(): void {
  const sqlite = new Driver(line.database);
  const tables = sqlite.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  for (const table of tables.filter((name) => !/^(sqlite_|migrations|_)/.test(name))) {
    const columns = sqlite.pragma(`table_info("${table}")`) as { name: string; type: string }[];
    for (const { name } of columns.filter(({ name, type }) => /TEXT|TIME/.test(type) && name !== 'account_id'))
      sqlite.exec(`UPDATE OR IGNORE "${table}" SET "${name}" = ${shown}`);
  }
  sqlite.close();
}

it.each([['vendors', 'list'], ['vendors', 'show', '11'], ['changes'], ['gateways', 'list'], ['deliveries', 'list']])(
  'K51 a blob in a text column is shown as a blob by %s %s',
  async (...argv) => {
    for (const form of [[], ['--json']]) {
      const { status, stdout, stderr } = await line.run(...argv, ...form);
      expect([status, stderr]).toEqual([0, expect.not.stringMatching(/^ {4}at /m)]);
      if (argv[0] !== 'changes') expect(stdout).toContain(shown);
      expect(stdout).not.toContain('"Buffer"');
    }
  },
);

it('K51 status and doctor work although blobs are in text columns', async () => {
  expect((await line.run('status')).status).toBe(0);
  const { stdout } = await line.run('status', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    accounts: expect.arrayContaining([expect.objectContaining({ account: '6BApk' })]) as unknown,
  });
  expect(stdout).not.toContain('"Buffer"');
});

it('K51 a blob in a text column is shown as a blob in a spreadsheet', async () => {
  const file = join(line.folder, 'vendors.csv');
  expect((await line.run('export', file)).status).toBe(0);
  expect(readFileSync(file, 'utf8')).toContain(`,${shown},`);
});
