/** Rows that other rules wrote: what an older version made of the same records. */
import { describe, expect, it } from 'vitest';
import { vendorOf } from '../../../src/api/wire/vendor-fields.ts';
import type { VendorRow } from '../../../src/domain/reading.ts';
import { columnFields } from '../../../src/domain/vendor.ts';
import { derivation } from '../../../src/store/derivation.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { itInFiles } from '../../support/testbed/store.ts';

const sent = (vendorid: number, fields: object): VendorRow => {
  const record = { vendorid, vendor_name: `Vendor ${vendorid}`, vis_state: 0, updated_at: '2026-11-20 12:00:00' };
  const raw = JSON.stringify({ ...record, ...fields });
  return { vendorid, raw, vendor: () => vendorOf(vendorid, raw) };
};

const versions = (at: Testbed<'store'>): unknown[] =>
  at.query('SELECT vendorid, changed_fields FROM vendor_versions ORDER BY seq').slice(1);

/** What the mirror holds of vendor 1 besides its history. */
const held = `SELECT note, is_1099, vis_state, vis_state_source, presence, unknown_fields, unreadable_fields FROM vendors`;

it.each(['active_vendors', 'contractors_1099', 'vendor_overview'])('L47 the view %s has every field', async (view) => {
  const at = await testbed({ level: 'store' });
  await at.page(await at.ask(), sent(1, { is_1099: true }));
  const columns = Object.keys(at.query<object>(`SELECT * FROM ${view}`)[0] ?? {});
  expect(columnFields.filter((field) => !columns.includes(field))).toEqual([]);
});

describe('rows of an older derivation', () => {
  it('L47 are derived again: a field that has a column by now is filled in, without a version of the vendor', async () => {
    const at = await testbed({ level: 'store' });
    await at.page(await at.ask(), sent(1, { note: 'Net 30', other: 1 }));
    at.damage(`UPDATE vendors SET note = NULL, unknown_fields = '{"note":"\\"Net 30\\"","other":"1"}'`);
    await at.mirror.derivation.renew(vendorOf);
    expect(at.query(held)).toMatchObject([{ note: 'Net 30', unknown_fields: '{"other":"1"}' }]);
    expect(versions(at)).toEqual([]);
    expect(at.query('SELECT derivation FROM mirror_identity')).toEqual([{ derivation }]);
  });

  it('L22 L47 L13 lose values that no longer stand in the record, which is a version of the vendor', async () => {
    const at = await testbed({ level: 'store' });
    await at.page(await at.ask(), sent(1, { vis_state: 3, is_1099: 'ja', outstanding_balance: {} }));
    // As it was while a value that is not understood counted as left out.
    at.damage(`UPDATE vendors SET vis_state = 0, is_1099 = '1', unreadable_fields = NULL`);
    at.damage(`UPDATE _vendor_versions SET vis_state = 0`);
    at.damage(`INSERT INTO vendor_balances VALUES ('one', 1, 'outstanding', 'USD', '500.00', 50000)`);
    at.damage(
      `INSERT INTO _balance_spans (account_id, vendorid, code, valid_from, outstanding, outstanding_amount, overdue_amount)
       VALUES ('one', 1, 'USD', '2026-11-20 12:00:00.000', '500.00', 500, 0)`,
    );
    await at.mirror.derivation.renew(vendorOf);
    expect(at.query(held)).toMatchObject([
      { vis_state: null, is_1099: null, unreadable_fields: '["is_1099","vis_state","outstanding_balance"]' },
    ]);
    expect(at.query('SELECT * FROM vendor_balances')).toEqual([]);
    expect(at.query('SELECT * FROM payables')).toEqual([]);
    expect(versions(at)).toEqual([{ vendorid: 1, changed_fields: '["is_1099","vis_state","outstanding_balance"]' }]);
    expect(at.query('SELECT vis_state FROM vendor_versions WHERE valid_to IS NULL')).toEqual([{ vis_state: null }]);
  });

  it('L47 keep a state that was inferred, and fields that no record has', async () => {
    const at = await testbed({ level: 'store' });
    await at.page(await at.ask(), sent(1, {}));
    at.damage(`UPDATE vendors SET vis_state = 1, vis_state_source = 'inferred', presence = 'missing', note = 'kept'`);
    await at.mirror.derivation.renew(vendorOf);
    expect(at.query(held)).toMatchObject([{ vis_state: 1, vis_state_source: 'inferred', note: 'kept' }]);
    expect(versions(at)).toEqual([]);
  });

  it('L47 are derived a few at a time, with a turn for others in between, and only once', async () => {
    let turns = 0;
    const at = await testbed({ level: 'store', yield: () => Promise.resolve(void (turns += 1)) });
    const rows = Array.from({ length: 120 }, (_, index) => sent(index + 1, { note: 'x' }));
    await at.page(await at.ask(), ...rows);
    at.damage(`UPDATE vendors SET note = NULL`);
    turns = 0;
    await at.mirror.derivation.renew(vendorOf);
    expect(at.query(`SELECT count(*) AS filled FROM vendors WHERE note = 'x'`)).toEqual([{ filled: 120 }]);
    expect(turns).toBe(3);
    at.damage(`UPDATE vendors SET note = NULL`);
    await at.mirror.derivation.renew(vendorOf);
    expect(at.query('SELECT 1 FROM vendors WHERE note IS NOT NULL')).toEqual([]);
  });

  // PostgreSQL takes no text that is not JSON.
  itInFiles?.('L47 a damaged record stays as it is, and hinders no other', async () => {
    const at = await testbed({ level: 'store' });
    await at.page(await at.ask(), sent(1, { note: 'a' }), sent(2, { note: 'b' }));
    at.damage(`UPDATE vendors SET note = NULL`);
    at.damage(`UPDATE vendors SET raw = '{"cut' WHERE vendorid = 1`);
    await at.mirror.derivation.renew(vendorOf);
    expect(at.query('SELECT note FROM vendors ORDER BY vendorid')).toEqual([{ note: null }, { note: 'b' }]);
  });

  it('L47 an older program takes the number back, so that a newer one derives again what it writes', async () => {
    const at = await testbed({ level: 'store' });
    at.damage(`UPDATE mirror_identity SET derivation = ${derivation + 1}`);
    await at.mirror.derivation.renew(vendorOf);
    expect(at.query('SELECT derivation FROM mirror_identity')).toEqual([{ derivation }]);
  });
});

it.each(['page', 'record'] as const)('a row that another program deleted alone comes back by a %s', async (by) => {
  const at = await testbed({ level: 'store' });
  const read = sent(1, { outstanding_balance: [{ amount: { amount: '12.50', code: 'EUR' } }] });
  await at.page(await at.ask(), read);
  const owed = at.query('SELECT * FROM owed');
  at.damage('DELETE FROM vendors');
  expect([await at[by](await at.ask(), read)].flat()).toEqual(['created']);
  expect(at.query('SELECT * FROM owed')).toEqual(owed);
  expect(at.query('SELECT count(*) AS open FROM _vendor_versions WHERE valid_to IS NULL')).toEqual([{ open: 1 }]);
});
