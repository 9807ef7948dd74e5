/** The questions of the documents, as their text stands there, asked of a mirror in PostgreSQL by its reporting role. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../support/mirror-file.ts';
import { account } from '../support/names.ts';
import { isMissing } from '../support/needed.ts';
import { isOwnServer, missingPostgres } from '../support/postgres-server.ts';
import { askPostgres, postgresServer } from '../support/postgres.ts';
import { askSchema, storeAt } from '../support/postgres-schema.ts';
import { testbed } from '../support/testbed.ts';
import { copyRows } from './copied-rows.ts';

const server = postgresServer();

const textOf = (file: string): string => readFileSync(join(packageRoot, file), 'utf8');
const ofReadme = [...textOf('README.md').matchAll(/^sqlite3 vendors\.db "(.*)"$/gm)].map(([, sql = '']) => sql);
const ofModel = [...textOf('migrations/README.md').matchAll(/^```sql\n(.*?);?\n```/gms)].map(([, sql = '']) => sql);

describe.skipIf(isMissing(missingPostgres) || !isOwnServer)('a mirror in PostgreSQL', () => {
  it('answers its reporting role the questions of the documents as one in a file does', async () => {
    const at = await testbed({ level: 'account', vendors: 60 });
    const vendors = at.sandbox.vendors(account);
    await at.pull();
    const [first, second, third, fourth] = at
      .query<{ vendorid: number }>('SELECT vendorid FROM vendors WHERE vis_state = 0 ORDER BY vendorid')
      .map(({ vendorid }) => vendorid) as [number, number, number, number];
    await at.clock.advance(86_400_000);
    vendors.edit(first, { vendor_name: 'Renamed', account_number: 'N-1', is_1099: true, phone: '+49 30 1' });
    vendors.create({ vendor_name: 'Newcomer', language: 'en' });
    vendors.archive(second);
    vendors.delete(third);
    vendors.edit(fourth, { vendor_name: ' renamed', phone: '49301' });
    for (const id of [first, second, third])
      vendors.setBalance(id, 'outstanding', [{ amount: `${id}.10`, code: 'EUR' }]);
    vendors.setBalance(first, 'overdue', [{ amount: '7.05', code: 'EUR' }]);
    await at.pull();

    const address = await server.database();
    await askPostgres(address, 'CREATE ROLE vendor_mirror_reader LOGIN');
    await copyRows(at.database, address, 'vendor_mirror');
    const reader = storeAt(Object.assign(new URL(address), { username: 'vendor_mirror_reader' }).href);
    expect([ofReadme.length, ofModel.length]).toEqual([5, 10]);
    const now = at.query<{ now: string }>(`SELECT max(changed_at) AS now FROM vendors`)[0]?.now ?? '';
    for (const question of [...ofReadme, ...ofModel]) {
      const sql = question
        .replaceAll("'now'", `'${now}'`)
        .replace('vendorid = 1028', `vendorid = ${first}`)
        .replace('2026-12-01', '2026-11-21');
      const answer = at.query(sql);
      expect(answer, sql).not.toEqual([]);
      expect(sorted(askSchema(reader, sql)), sql).toEqual(sorted(answer));
    }
    await askPostgres(address, 'DROP OWNED BY vendor_mirror_reader; DROP ROLE vendor_mirror_reader');
  });
});

/** Each engine orders as it likes what a question leaves open, also within lists. */
function sorted(rows: readonly object[]): string[] {
  const text = (_: string, value: unknown): unknown =>
    typeof value === 'string' ? value.split(/, ?/).sort().join() : value;
  return rows.map((row) => JSON.stringify(row, text)).sort();
}
