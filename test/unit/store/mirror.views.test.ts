import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { askAsTools as ask, type Row } from '../../support/mirror/reporting-tools.ts';
import {
  ask as askFile,
  fileClock,
  newPath,
  vendor,
  version,
  writeMirror,
  type Row as FileRow,
} from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { itInFiles } from '../../support/testbed/store.ts';
import type { Record_ } from '../../support/testbed/account.ts';

const settings = { service: { paging: { perPage: 15, concurrency: 1 } } };

/** Four vendors whose history is told below, beside nobody else. */
async function story(): Promise<{
  at: Testbed<'account'>;
  ids: Record<'shop' | 'bakery' | 'printer' | 'ghost', number>;
}> {
  const at = await testbed({ level: 'account', vendors: 0, settings });
  const vendorService = at.sandbox.vendors(account);
  const enter = (vendor_name: string, more: Row = {}): number =>
    (vendorService.create({ vendor_name, language: 'en', currency_code: 'USD', ...more }) as Record_).vendorid;
  const ids = {
    shop: enter('Shop', { is_1099: true, city: 'Boise' }),
    bakery: enter('Bäckerei'),
    printer: enter('Printer', { is_1099: true }),
    ghost: enter('Ghost'),
  };
  vendorService.setBalance(ids.shop, 'outstanding', [
    { amount: '100.50', code: 'USD' },
    { amount: '7.00', code: 'EUR' },
  ]);
  vendorService.setBalance(ids.shop, 'overdue', [{ amount: '0.50', code: 'USD' }]);
  await at.pull();

  await at.clock.advance(3_600_000);
  vendorService.setBalance(ids.shop, 'outstanding', [{ amount: '90.00', code: 'USD' }]);
  vendorService.archive(ids.bakery);
  vendorService.delete(ids.printer);
  vendorService.vanish(ids.ghost);
  await at.pull();

  await at.clock.advance(3_600_000);
  vendorService.restore(ids.bakery);
  await at.pull();
  return { at, ids };
}

/** The moments at which the three pulls learned what they learned. */
const moments = ['2026-11-20 12:', '2026-11-20 13:', '2026-11-20 14:'].map(
  (start) => expect.stringMatching(`^${start}`) as unknown,
);

describe('the views for readers', () => {
  it('active_vendors has the vendors with vis_state 0 that are present', async () => {
    const { at, ids } = await story();
    expect(ask(at, 'SELECT vendorid, vendor_name FROM active_vendors ORDER BY vendorid')).toEqual([
      { vendorid: ids.shop, vendor_name: 'Shop' },
      { vendorid: ids.bakery, vendor_name: 'Bäckerei' },
    ]);
  });

  it('L83 contractors_1099 has the active vendors with a form 1099, and what each is owed in each currency', async () => {
    const { at, ids } = await story();
    const columns = 'vendorid, is_1099, currency, outstanding, overdue';
    expect(ask(at, `SELECT ${columns} FROM contractors_1099 ORDER BY vendorid`)).toEqual([
      { vendorid: ids.shop, is_1099: 1, currency: 'USD', outstanding: 90, overdue: 0.5 },
    ]);
  });

  it('payables has what each present vendor is owed in each currency, as numbers', async () => {
    const { at, ids } = await story();
    expect(ask(at, 'SELECT * FROM payables')).toEqual([
      {
        account_id: account,
        vendorid: ids.shop,
        vendor_name: 'Shop',
        state: 'active',
        currency: 'USD',
        outstanding: 90,
        overdue: 0.5,
        outstanding_minor: 9_000,
        overdue_minor: 50,
        minor_digits: 2,
      },
    ]);
  });

  it('L83 contact_changes has what a fraud changes, with the user that the webhook named', async () => {
    const path = newPath();
    const changed = (seq: number, fields: readonly string[], raw: object, told: FileRow): FileRow =>
      version(1, fields, { seq, raw: JSON.stringify(raw), ...told });
    await writeMirror(path, fileClock, {
      vendors: [vendor(1, { vendor_name: 'Shop' })],
      deliveries: [
        {
          ...{ id: 9, account_id: account, object_id: 1, user_id: 55, name: 'bill_vendor.update', outcome: 'applied' },
          received_at: '2026-11-20 10:00:00.000',
        },
      ],
      vendor_versions: [
        changed(1, [], { account_number: 'A1', city: 'Graz' }, { valid_to: '2026-11-20 10:00:00.000' }),
        changed(
          2,
          ['account_number', 'note', 'outstanding_balance', 'updated_at'],
          { account_number: 'B2', city: 'Graz' },
          {
            source: 'delivery',
            delivery_id: 9,
            valid_from: '2026-11-20 10:00:00.000',
            valid_to: '2026-11-20 11:00:00.000',
          },
        ),
        changed(
          3,
          ['city', 'vis_state'],
          { account_number: 'B2', city: 'Wien' },
          { source: 'reconcile', valid_from: '2026-11-20 11:00:00.000' },
        ),
      ],
    });
    expect(askFile(path, 'SELECT seq, field, old, new, learned_by, user_id FROM contact_changes ORDER BY seq')).toEqual(
      [
        { seq: 2, field: 'account_number', old: 'A1', new: 'B2', learned_by: 'delivery', user_id: 55 },
        { seq: 3, field: 'city', old: 'Graz', new: 'Wien', learned_by: 'reconcile', user_id: null },
      ],
    );
  });

  it('L83 vendor_changes has each changed field but updated_at once, with old and new value', async () => {
    const { at, ids } = await story();
    const rows = ask(at, 'SELECT * FROM vendor_changes ORDER BY seq, field');
    const change = (vendorid: number, when: number, vendor_name: string, told: Row): Row => ({
      account_id: account,
      seq: expect.any(Number) as unknown,
      at: moments[when - 1],
      vendorid,
      vendor_name,
      learned_by: 'pull',
      ...told,
    });
    expect(rows.sort((a, b) => Number(a['vendorid']) - Number(b['vendorid']))).toEqual([
      change(ids.shop, 2, 'Shop', {
        field: 'outstanding_balance',
        old: '100.50 USD; 7.00 EUR',
        new: '90.00 USD',
      }),
      change(ids.bakery, 2, 'Bäckerei', { field: 'vis_state', old: 'active', new: 'archived' }),
      change(ids.bakery, 3, 'Bäckerei', { field: 'vis_state', old: 'archived', new: 'active' }),
      change(ids.printer, 2, 'Printer', { field: 'vis_state', old: 'active', new: 'deleted' }),
      change(ids.ghost, 2, 'Ghost', { field: 'presence', old: 'present', new: 'gone' }),
    ]);
  });

  it('L83 vendor_overview has one flat row per vendor and currency, with the sums of payables', async () => {
    const { at, ids } = await story();
    const columns = 'vendorid, vendor_name, state, currency, outstanding, overdue, vis_state, presence, is_1099, city';
    const none = { currency: null, outstanding: null, overdue: null };
    expect(ask(at, `SELECT ${columns} FROM vendor_overview ORDER BY vendorid`)).toEqual([
      {
        vendorid: ids.shop,
        vendor_name: 'Shop',
        state: 'active',
        ...{ currency: 'USD', outstanding: 90, overdue: 0.5 },
        vis_state: 0,
        presence: 'present',
        is_1099: 1,
        city: 'Boise',
      },
      expect.objectContaining({ vendorid: ids.bakery, ...none }),
      expect.objectContaining({ vendorid: ids.printer, vis_state: 1, state: 'deleted', presence: 'present' }),
      expect.objectContaining({ vendorid: ids.ghost, vis_state: 0, presence: 'gone', ...none }),
    ]);
  });

  it('vis_state_changes has each change of state once, with when and how it was learned', async () => {
    const { at, ids } = await story();
    const columns =
      'vendorid, changed_at, old_vis_state, new_vis_state, old_presence, new_presence, source, vis_state_source, run_id';
    const move = (vendorid: number, when: number, states: readonly number[], told: Row = {}): Row => ({
      vendorid,
      changed_at: moments[when - 1],
      old_vis_state: states[0],
      new_vis_state: states[1],
      old_presence: 'present',
      new_presence: 'present',
      source: 'pull',
      vis_state_source: 'reported',
      run_id: when,
      ...told,
    });
    expect(ask(at, `SELECT ${columns} FROM vis_state_changes ORDER BY run_id, vendorid`)).toEqual([
      move(ids.bakery, 2, [0, 2]),
      move(ids.printer, 2, [0, 1]),
      move(ids.ghost, 2, [0, 0], { new_presence: 'gone' }),
      move(ids.bakery, 3, [2, 0]),
    ]);
  });

  it('L83 balance_history has both amounts per currency for each period, as numbers and as sent', async () => {
    const { at, ids } = await story();
    const columns =
      'currency, valid_from, valid_to, outstanding, outstanding_minor, outstanding_text, overdue, overdue_text';
    const rows = ask(
      at,
      `SELECT ${columns} FROM balance_history WHERE vendorid = ${ids.shop} ORDER BY valid_from, currency`,
    );
    expect(rows).toEqual([
      {
        ...{ currency: 'EUR', valid_from: moments[0], valid_to: moments[1] },
        ...{ outstanding: 7, outstanding_minor: 700, outstanding_text: '7.00', overdue: 0, overdue_text: null },
      },
      {
        ...{ currency: 'USD', valid_from: moments[0], valid_to: moments[1] },
        ...{
          outstanding: 100.5,
          outstanding_minor: 10_050,
          outstanding_text: '100.50',
          overdue: 0.5,
          overdue_text: '0.50',
        },
      },
      {
        ...{ currency: 'USD', valid_from: moments[1], valid_to: null },
        ...{ outstanding: 90, outstanding_minor: 9_000, outstanding_text: '90.00', overdue: 0.5, overdue_text: '0.50' },
      },
    ]);
  });

  it('freshness has up to when the mirror is complete, and what is open', async () => {
    const { at } = await story();
    const [run] = at.query<{ finished_at: string; safe_as_of: string }>('SELECT * FROM runs WHERE id = 3');
    expect(ask(at, 'SELECT * FROM freshness')).toEqual([
      {
        account_id: account,
        last_complete_sweep: run!.finished_at,
        oldest_unsettled_delivery: null,
        open_suspects: 0,
        parked_vendors: 0,
        callback_verified: null,
        safe_as_of: run!.safe_as_of,
        listed_as_of: run!.safe_as_of,
        not_served_since: null,
        paused_since: null,
        undecided: 0,
        details_as_of: null,
      },
    ]);
    const never = await testbed({ level: 'account' });
    expect(ask(never, 'SELECT last_complete_sweep, safe_as_of FROM freshness')).toEqual([
      { last_complete_sweep: null, safe_as_of: null },
    ]);
  });

  it('vendor_versions has one row per content change, with adjoining periods', async () => {
    const { at, ids } = await story();
    const versions = ask(
      at,
      `SELECT valid_from, valid_to, vis_state, changed_fields FROM vendor_versions WHERE vendorid = ${ids.bakery} ORDER BY seq`,
    );
    expect(versions).toEqual([
      { valid_from: moments[0], valid_to: moments[1], vis_state: 0, changed_fields: '[]' },
      { valid_from: moments[1], valid_to: moments[2], vis_state: 2, changed_fields: '["updated_at","vis_state"]' },
      { valid_from: moments[2], valid_to: null, vis_state: 0, changed_fields: '["updated_at","vis_state"]' },
    ]);
    expect(versions.map((version) => version['valid_to']).slice(0, 2)).toEqual(
      versions.map((version) => version['valid_from']).slice(1),
    );
  });

  itInFiles?.('columns have the types that reporting tools read', async () => {
    const at = await testbed({ level: 'account' });
    const types = at.query<{ name: string; type: string }>(
      "SELECT name, type FROM pragma_table_info('active_vendors')",
    );
    const typeOf = Object.fromEntries(types.map(({ name, type }) => [name, type]));
    expect(typeOf).toMatchObject({
      vendorid: 'INTEGER',
      vendor_name: 'TEXT',
      is_1099: 'BOOLEAN',
      created_at: 'TIMESTAMP',
      changed_at: 'TIMESTAMP',
    });
  });
});
