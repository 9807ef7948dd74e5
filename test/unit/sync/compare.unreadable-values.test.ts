/** Values that the service sends and nobody understands: what the mirror holds of them, and who is told. */
import { describe, expect, it } from 'vitest';
import { whatIsNotEqual } from '../../../src/sync/compare.ts';
import { account } from '../../support/names.ts';
import { changingRecords, type Wire } from '../../support/network/service-answers.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

/** An account of two vendors, of which the first is sent with other values from a moment on. */
async function strangeAccount(fields: Wire): Promise<{
  readonly at: Testbed<'account'>;
  readonly vendorid: number;
  /** Whether the service is strange. */
  readonly service: { isStrange: boolean };
}> {
  const service = { isStrange: false };
  const first = { vendorid: 0 };
  const put = (record: Wire): Wire =>
    service.isStrange && record['vendorid'] === first.vendorid ? { ...record, ...fields } : record;
  const at = await testbed({
    level: 'account',
    vendors: 2,
    rewrite: changingRecords(put),
  });
  const vendors = at.sandbox.vendors(account);
  first.vendorid = Number(vendors.all()[0]?.['vendorid']);
  const { vendorid } = first;
  vendors.edit(vendorid, { vis_state: 0 });
  vendors.edit(vendorid, { is_1099: true, phone: '555', city: 'Boise' });
  vendors.setBalance(vendorid, 'outstanding', [{ amount: '500.00', code: 'USD' }]);
  vendors.setBalance(vendorid, 'overdue', [{ amount: '20.00', code: 'USD' }]);
  await at.pull();
  await at.clock.advance(60_000);
  return { at, vendorid, service };
}

const verified = (at: Testbed<'account'>) =>
  at.installation.verify(account, { trigger: 'command', signal: new AbortController().signal });

const held = `SELECT is_1099, vis_state, phone, city, updated_at, unreadable_fields, unknown_fields FROM vendors WHERE vendorid = ?`;

describe('a value that nobody understands', () => {
  it.each<[string, unknown, object]>([
    ['outstanding_balance', {}, {}],
    ['outstanding_balance', [{}], {}],
    ['outstanding_balance', { amount: null }, {}],
    ['overdue_balance', 'none', {}],
    ['vis_state', 3, { vis_state: null }],
    ['vis_state', 'archived', { vis_state: null }],
    ['is_1099', 'ja', { is_1099: null }],
    ['is_1099', 2, { is_1099: null }],
    ['phone', { number: 7 }, { phone: null }],
    ['city', [], { city: null }],
    ['updated_at', '0000-00-00 00:00:00', { updated_at: null }],
    ['tax_defaults', {}, {}],
  ])(
    'L13 %s %j is null, found once, unequal in verify and told, until it can be read',
    async (field, value, expected) => {
      const { at, vendorid, service } = await strangeAccount({ [field]: value });
      const [before] = at.query(held, vendorid);
      const balances = at.query('SELECT kind, amount FROM vendor_balances WHERE vendorid = ? ORDER BY kind', vendorid);
      service.isStrange = true;
      for (let run = 0; run < 3; run += 1) expect(await at.pull()).toMatchObject({ outcome: 'complete' });

      const fields = JSON.stringify([field]);
      expect(at.query(held, vendorid)).toEqual([
        {
          ...before,
          ...expected,
          unreadable_fields: fields,
          unknown_fields: JSON.stringify({ [field]: JSON.stringify(value) }),
        },
      ]);
      expect(at.query('SELECT kind, amount FROM vendor_balances WHERE vendorid = ? ORDER BY kind', vendorid)).toEqual(
        balances.filter(({ kind }) => field !== `${String(kind)}_balance`),
      );
      const findings = `SELECT vendorid, fields, explained_at IS NULL AS open FROM findings WHERE kind = 'unreadable_value'`;
      const found = { vendorid: null, fields: JSON.stringify({ field, vendors: 1 }) };
      expect(at.query(findings)).toEqual([{ ...found, open: 1 }]);
      const report = await verified(at);
      expect(report).toMatchObject({
        outcome: 'different',
        differences: [{ vendorid, kind: 'unreadable', fields: [field] }],
      });
      expect(whatIsNotEqual(report)?.hint).toContain('Report them to the service');
      expect((await at.installation.mirror.accountStates.of([account])).get(account)?.unreadable).toEqual([
        { field, vendors: 1 },
      ]);

      service.isStrange = false;
      await at.clock.advance(60_000);
      await at.pull();
      expect(at.query(held, vendorid)).toEqual([before]);
      expect(at.query('SELECT kind, amount FROM vendor_balances WHERE vendorid = ? ORDER BY kind', vendorid)).toEqual(
        balances,
      );
      expect(at.query(findings)).toEqual([{ ...found, open: 0 }]);
      expect(await verified(at)).toMatchObject({ outcome: 'equal' });
      expect((await at.installation.mirror.accountStates.of([account])).get(account)?.unreadable).toEqual([]);
    },
  );

  it('L13 of two balances leaves the other one owed', async () => {
    const { at, vendorid, service } = await strangeAccount({
      outstanding_balance: [{ amount: { amount: '7.00', code: 'EUR' } }, { amount: { amount: null, code: 'USD' } }],
    });
    service.isStrange = true;
    await at.pull();
    const payables = `SELECT currency, outstanding FROM payables WHERE vendorid = ? ORDER BY currency`;
    expect(at.query(payables, vendorid)).toEqual([
      { currency: 'EUR', outstanding: 7 },
      { currency: 'USD', outstanding: null },
    ]);
    expect(at.query(`SELECT unreadable_fields AS fields FROM vendors WHERE vendorid = ?`, vendorid)).toEqual([
      { fields: '["outstanding_balance"]' },
    ]);
  });

  it('L13 in vis_state makes a vendor that is present, not active, and owed under the word unknown', async () => {
    const { at, vendorid, service } = await strangeAccount({ vis_state: 3 });
    service.isStrange = true;
    await at.pull();
    expect(at.query('SELECT DISTINCT state FROM payables WHERE vendorid = ?', vendorid)).toEqual([
      { state: 'unknown' },
    ]);
    expect(at.query('SELECT state, presence FROM vendor_overview WHERE vendorid = ?', vendorid)).toEqual([
      { state: 'unknown', presence: 'present' },
    ]);
    expect(at.query('SELECT 1 FROM active_vendors WHERE vendorid = ?', vendorid)).toEqual([]);
  });
});

it('L13 verify says of a record without a usable id what a run says, and how many vendors it read', async () => {
  const { at, service } = await strangeAccount({ vendorid: '9007199254740993' });
  service.isStrange = true;
  const report = await verified(at);
  expect(report).toMatchObject({ outcome: 'incomplete', sourceTotal: 1, error: { code: 'record_rejected' } });
  expect(report.error?.message).toMatch(/^One record of the list cannot be used: [^.]*\.$/u);
});
