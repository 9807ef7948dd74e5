/** Forgetting: nothing remains in the file or beside it, and the mirror stays correct. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { takeSideLock } from '../../../src/store/files/locks.ts';
import { emptiedTables, Forgetter } from '../../../src/store/forget.ts';
import { failureOf } from '../../support/failure.ts';
import { migrations, otherConnection } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { constantRandom } from '../../support/random.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

let at: Testbed<'account'>;
let vendorid: number;

/** Values that stand nowhere else. */
const [oldPhone, newPhone, street] = ['+49 30 5550199', '+49 30 5550277', '17 Unmistakable Lane'];
const name = 'Unmistakable Pumps & Valves';

beforeEach(async () => {
  // Where lists leave nothing out, no read by id adds versions.
  at = await testbed({ level: 'account', vendors: 60, world: ['noteInList=yes'] });
  const service = at.sandbox.vendors(account);
  vendorid = service.listed()[7]!['vendorid'] as number;
  service.edit(vendorid, { vendor_name: name, phone: oldPhone, street });
  await at.pull();
  await at.clock.advance(60_000);
  service.edit(vendorid, { phone: newPhone, city: 'Ulm' });
  await at.pull();
  await at.clock.advance(60_000);
});

async function forgetter(lockWait = 30_000): Promise<Forgetter> {
  const { database: path, clock } = at;
  const opened = await Forgetter.open({ path, migrations, clock, random: constantRandom(), lockWait });
  onTestFinished(() => opened.close());
  return opened;
}

/** Which of the texts stand in the mirror's file, or in any beside it that bears its name. */
function standing(...texts: readonly string[]): string[] {
  const files = readdirSync(dirname(at.database)).filter((file) => file.startsWith(basename(at.database)));
  const bytes = files.map((file) => readFileSync(join(dirname(at.database), file), 'latin1')).join('\n');
  return texts.filter((text) => bytes.includes(text));
}

describe('forgotten fields', () => {
  it('are nowhere in the file and its companions; everything else is unchanged, and the next sweep finds nothing new', async () => {
    expect(standing(oldPhone, newPhone, street)).toEqual([oldPhone, newPhone, street]);
    const others =
      'SELECT account_id, vendorid, vendor_name, city, country, vis_state, read_seq, changed_at FROM vendors';
    const before = [
      at.query(others),
      at.query('SELECT seq, valid_from, valid_to, changed_fields FROM vendor_versions'),
    ];

    // Retention removed it some time ago, and its page waits to be used again.
    const removed = 'of a version that was removed';
    const other = otherConnection(at.database);
    other.exec(`INSERT INTO _vendor_versions SELECT 1000, account_id, vendorid, changed_at, changed_at, 0, 'reported', 'present', '[]', 'pull',
      NULL, NULL, json_object('note', '${`${removed} `.repeat(400)}') FROM vendors LIMIT 1`);
    other.exec('DELETE FROM _vendor_versions WHERE seq = 1000');
    other.close();
    expect(standing(removed)).toEqual([removed]);

    // That of the change, and those that were there before a read by id added what lists leave out.
    const versions = at.query('SELECT 1 FROM _vendor_versions WHERE valid_to IS NOT NULL').length;
    const mirror = await forgetter();
    expect(await mirror.fields(['phone', 'street', 'outstanding_balance', 'tax_defaults'])).toEqual({
      vendors: 60,
      versions,
    });
    expect(standing(oldPhone, newPhone, street, removed)).toEqual([]);
    await mirror.close();

    expect([
      at.query(others),
      at.query('SELECT seq, valid_from, valid_to, changed_fields FROM vendor_versions'),
    ]).toEqual(before);
    expect(
      at.query('SELECT 1 FROM vendors WHERE coalesce(phone, street) IS NOT NULL OR raw LIKE \'%"phone"%\''),
    ).toEqual([]);
    expect(at.query("SELECT kind FROM vendor_balances WHERE kind = 'outstanding'")).toEqual([]);
    expect(at.query('SELECT 1 FROM _balance_spans WHERE outstanding IS NOT NULL')).toEqual([]);
    expect(at.query('SELECT 1 FROM _balance_spans WHERE overdue IS NOT NULL').length).toBeGreaterThan(0);
    expect(at.query('SELECT 1 FROM vendor_tax_defaults')).toEqual([]);
    expect(at.query('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);

    await at.reopen({ vendors: { exclude: ['phone', 'street', 'outstanding_balance', 'tax_defaults'] } });
    const kept = at.query('SELECT count(*) FROM vendor_versions');
    expect(await at.pull()).toMatchObject({ outcome: 'complete', updated: 0, created: 0 });
    expect(at.query('SELECT count(*) FROM vendor_versions')).toEqual(kept);
  });

  it('are kept for the vendors of other accounts if one account is given', async () => {
    const mirror = await forgetter();
    expect(await mirror.fields(['phone'], 'another')).toEqual({ vendors: 0, versions: 0 });
    expect(standing(newPhone)).toEqual([newPhone]);
  });

  it('are not reported as overwritten while another program keeps the journal, and are with the next try', async () => {
    const reader = otherConnection(at.database);
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM vendors').get();
    const mirror = await forgetter(50);
    const { code, message } = await failureOf(mirror.fields(['phone', 'street']));
    expect([code, message]).toEqual(['database_locked', expect.stringContaining('its journal still contains it')]);
    reader.exec('COMMIT');
    expect(await mirror.fields(['phone', 'street'])).toEqual({ vendors: 0, versions: 0 });
    expect(standing(oldPhone, newPhone, street)).toEqual([]);
  });

  it('are not removed while a daemon runs, which would have to wait for the file', async () => {
    const lock = takeSideLock(at.database, 0);
    expect((await failureOf(forgetter())).code).toBe('already_running');
    lock.release();
    await (await forgetter()).close();
  });
});

describe('a forgotten vendor', () => {
  it('is nowhere, is brought back by no sweep, reading or comparison, and returns when that is undone', async () => {
    const mirror = await forgetter();
    expect(await mirror.vendor(account, vendorid)).toBe(true);
    expect(standing(name, oldPhone, newPhone, street)).toEqual([]);
    await mirror.close();
    const rows = () =>
      ['vendors', 'vendor_versions', '_balance_spans', 'vendor_balances', 'findings', 'dirty_vendors'].filter(
        (table) => at.query(`SELECT 1 FROM ${table} WHERE vendorid = ?`, vendorid).length > 0,
      );
    expect(rows()).toEqual([]);

    const syncAccount = at.installation.account(account);
    for (const round of [1, 2]) {
      at.sandbox.vendors(account).edit(vendorid, { city: `Town ${round}` });
      expect(await at.pull({ kind: 'reconcile' })).toMatchObject({ outcome: 'complete', created: 0, updated: 0 });
      await at.clock.advance(60_000);
    }
    const context = { accountId: account, source: 'delivery', runId: null, deliveryId: null, lag: 0 } as const;
    const reading = await syncAccount.vendors.read(vendorid);
    expect(await syncAccount.mirror.readings.applyReading(reading, context)).toEqual({ kind: 'forgotten' });
    const signal = new AbortController().signal;
    expect(await at.installation.verify(account, { signal, trigger: 'command' })).toMatchObject({ outcome: 'equal' });
    expect([rows(), standing(name)]).toEqual([[], []]);

    expect(await syncAccount.mirror.vendors.mirrorAgain(account, vendorid)).toBe(true);
    expect(await syncAccount.mirror.vendors.mirrorAgain(account, vendorid)).toBe(false);
    await at.pull({ kind: 'reconcile' });
    expect(at.query('SELECT vendor_name FROM vendors WHERE vendorid = ?', vendorid)).toEqual([{ vendor_name: name }]);
  });

  it('is refused if the mirror never had it, and nothing is stored', async () => {
    expect(await (await forgetter()).vendor(account, 999_999)).toBe(false);
    expect(at.query('SELECT * FROM _forgotten_vendors')).toEqual([]);
  });
});

describe('a forgotten account', () => {
  it('is in no table and nowhere in the file, but for the ids of vendors that were forgotten before', async () => {
    const mirror = await forgetter();
    await mirror.vendor(account, at.sandbox.vendors(account).listed()[1]!['vendorid'] as number);
    const tables = at
      .query<{ name: string }>(
        `SELECT t.name FROM pragma_table_list t JOIN pragma_table_info(t.name) c
         WHERE t.type = 'table' AND t.schema = 'main' AND c.name = 'account_id' ORDER BY t.name`,
      )
      .map((table) => table.name);
    const holding = () =>
      tables.filter((table) => at.query(`SELECT 1 FROM "${table}" WHERE account_id = ? LIMIT 1`, account).length > 0);
    expect(holding()).toEqual(
      expect.arrayContaining(['_accounts', '_balance_spans', '_known_fields', 'runs', 'vendors']),
    );

    const { vendors } = at.query<{ vendors: number }>('SELECT count(*) AS vendors FROM vendors')[0]!;
    expect(await mirror.account(account)).toEqual({ vendors, callbacks: [] });
    expect(holding()).toEqual(['_forgotten_vendors']);
    expect(standing(name, oldPhone, newPhone, street)).toEqual([]);
    // As one does that was killed before.
    expect(await mirror.account(account)).toEqual({ vendors: 0, callbacks: [] });
    await mirror.close();
  });

  it('leaves no table out: each that names an account is emptied', () => {
    const tables = at
      .query<{ name: string }>(
        `SELECT t.name FROM pragma_table_list t JOIN pragma_table_info(t.name) c
         WHERE t.type = 'table' AND t.schema = 'main' AND c.name = 'account_id' ORDER BY t.name`,
      )
      .map((table) => table.name);
    expect(tables.filter((table) => !emptiedTables.includes(table))).toEqual([
      '_forgotten_vendors',
      '_freshness_types',
      '_owed_types',
      '_webhook_health_types',
    ]);
  });
});
