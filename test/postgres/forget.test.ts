/** `forget` on both engines: the same rows stay, and nothing of the rest is in the files of the server. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask } from '../support/mirror-file.ts';
import { isMissing } from '../support/needed.ts';
import { freePort } from '../support/network/free-port.ts';
import { storeSettings } from '../support/postgres-schema.ts';
import { missingPostgres } from '../support/postgres-server.ts';
import { askPostgres, postgresServer } from '../support/postgres.ts';
import { testbed } from '../support/testbed.ts';
import { sorted } from './same-rows.ts';

const server = postgresServer();

/** Values that stand nowhere else. */
const [oldPhone, newPhone, street] = ['+49 30 5550199', '+49 30 5550277', '17 Unmistakable Lane'];
const name = 'Unmistakable Pumps & Valves';

/** A mirror with a history in a file, and one with the same in PostgreSQL. */
async function both() {
  const service = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 30, account: ['6BApk'] });
  const to = await server.database();
  const ports = `listener: { port: ${await freePort()} }\nadmin: { port: ${await freePort()} }`;
  const settings = `sync: { lag: 0s }\n${ports}`;
  const program = (store?: string) =>
    testbed({ level: 'program', service, settings, ...(store !== undefined && { store }) });
  const file = await program();
  const there = await program(storeSettings(to));
  const run = async (...argv: string[]) => {
    const [one, other] = [await file.run(...argv), await there.run(...argv)];
    expect([other.status, other.stderr]).toEqual([one.status, other.stderr]);
    return [one, other] as const;
  };
  const vendors = service.sandbox.vendors('6BApk');
  const vendorid = vendors.listed()[7]!['vendorid'] as number;
  vendors.edit(vendorid, { vendor_name: name, phone: oldPhone, street });
  await run('sync');
  vendors.edit(vendorid, { phone: newPhone, city: 'Ulm' });
  await run('sync');
  return { file, there, run, to, vendorid };
}

/** Which of the texts stand in the files of the tables. */
async function standing(to: string, ...texts: readonly string[]): Promise<string[]> {
  await askPostgres(to, 'CHECKPOINT');
  const found: string[] = [];
  for (const text of texts) {
    const rows = await askPostgres(
      to,
      `SELECT c.relname FROM pg_class c
       WHERE c.relnamespace IN ('vendor_mirror'::regnamespace, 'pg_toast'::regnamespace) AND c.relkind IN ('r', 't')
         AND position(convert_to($1, 'UTF8') IN pg_read_binary_file(pg_relation_filepath(c.oid))) > 0`,
      [text],
    );
    if (rows.length > 0) found.push(text);
  }
  return found;
}

/** Columns that hold neither a time nor a number of ours. */
const shown = {
  vendors: 'vendorid, vendor_name, phone, street, city, vis_state, presence, raw',
  vendor_versions: 'vendorid, changed_fields, raw',
  vendor_balances: 'vendorid, kind, code, amount',
  findings: 'vendorid, kind',
  _forgotten_vendors: 'account_id, vendorid',
};

async function expectSame({ file, to }: Awaited<ReturnType<typeof both>>): Promise<void> {
  for (const [table, columns] of Object.entries(shown)) {
    const here = ask(file.database, `SELECT ${columns} FROM ${table}`);
    const rows = await askPostgres(to, `SELECT ${columns} FROM vendor_mirror.${table}`);
    const numbered = rows.map((row) => ({ ...row, ...('vendorid' in row && { vendorid: Number(row['vendorid']) }) }));
    expect(sorted(numbered), table).toEqual(sorted(here));
  }
}

function exclude(folder: string): void {
  const path = join(folder, 'mirror.yaml');
  writeFileSync(path, `${readFileSync(path, 'utf8')}\nvendors: { exclude: [phone, street, outstanding_balance] }`);
}

describe.skipIf(isMissing(missingPostgres))('forget, in PostgreSQL', () => {
  it('removes fields from every row and from the files of the tables, as from a mirror in a file', async () => {
    const at = await both();
    expect(await standing(at.to, oldPhone, newPhone, street)).toEqual([oldPhone, newPhone, street]);
    for (const { folder } of [at.file, at.there]) exclude(folder);
    const forgotten = ['forget', '--field', 'phone', 'street', 'outstanding_balance', '--yes', '--json'];
    const [here, there] = await at.run(...forgotten);
    expect(JSON.parse(there.stdout)).toEqual(JSON.parse(here.stdout));
    expect(JSON.parse(there.stdout)).toMatchObject({ ok: true, vendors: 30 });
    expect(await standing(at.to, oldPhone, newPhone, street)).toEqual([]);
    expect(there.stderr).toBe('');
    await expectSame(at);
    const [, synced] = await at.run('sync', '--json');
    expect(JSON.parse(synced.stdout)).toMatchObject({ runs: [{ outcome: 'complete', created: 0, updated: 0 }] });
    await expectSame(at);
  });

  it('removes a vendor, which no sweep brings back until --undo', async () => {
    const at = await both();
    const which = ['--vendor', String(at.vendorid)];
    const [, there] = await at.run('forget', ...which, '--yes');
    expect(there.stdout).toContain('is forgotten, and the tables were rewritten');
    expect(there.stderr).toContain('journal of the server');
    expect(await standing(at.to, name, oldPhone)).toEqual([]);
    await at.run('sync');
    await expectSame(at);
    await at.run('forget', '--undo', ...which);
    await at.run('sync');
    await expectSame(at);
    expect(await standing(at.to, name)).toEqual([name]);
    for (const { folder } of [at.file, at.there]) {
      const path = join(folder, 'mirror.yaml');
      writeFileSync(path, readFileSync(path, 'utf8').replace('accounts: [6BApk]', 'accounts: [other]'));
    }
    const [, left] = await at.run('forget', '--account', '6BApk', '--yes');
    expect([left.status, left.stdout]).toEqual([0, expect.stringContaining('with 30 vendors, and the tables were')]);
    await expectSame(at);
    expect(await askPostgres(at.to, 'SELECT * FROM vendor_mirror.owed')).toEqual([]);
    expect(await standing(at.to, name)).toEqual([]);
  });

  it('is refused while a daemon serves the mirror; what a reader holds is told, and gone after the next time', async () => {
    const { there, to, vendorid } = await both();
    const argv = ['forget', '--vendor', String(vendorid), '--yes'];
    const daemon = await there.serve();
    const refused = await there.run(...argv);
    expect([refused.status, refused.stderr]).toEqual([75, expect.stringContaining('Stop every daemon')]);
    expect(await daemon.end()).toBe(0);

    const reader = new pg.Client(to);
    await reader.connect();
    onTestFinished(() => reader.end());
    for (const held of ['SELECT 1', 'SELECT 1 FROM vendor_mirror.vendors']) {
      await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await reader.query(held);
      const kept = await there.run(...argv);
      expect([held, kept.status, kept.stderr]).toEqual([held, 75, expect.stringContaining('files still contain it')]);
      await reader.query('ROLLBACK');
    }
    expect((await there.run(...argv)).status).toBe(0);
    expect(await standing(to, name)).toEqual([]);
  });
});
