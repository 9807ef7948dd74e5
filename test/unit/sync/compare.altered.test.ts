/** `verify` of a mirror into which another program wrote. */
import { describe, expect, it } from 'vitest';
import { whatIsNotEqual, type VerifyReport } from '../../../src/sync/compare.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const world = ['listDeleted=shown', 'noteInList=yes'];
const vendors = 20;

const verify = (at: Testbed<'account'>): Promise<VerifyReport> =>
  at.installation.verify(account, { signal: new AbortController().signal, trigger: 'command' });

const vendorOf = (at: Testbed<'account'>, nth: number): number =>
  Number(at.sandbox.vendors(account).all()[nth]!['vendorid']);

const state = 'SELECT vendorid, vendor_name, city, vis_state, unknown_fields FROM vendors ORDER BY vendorid';
const owed = 'SELECT * FROM owed ORDER BY currency, state';
const payables = 'SELECT * FROM payables ORDER BY vendorid, currency';
const balances = 'SELECT vendorid, kind, code, amount, amount_minor FROM vendor_balances ORDER BY vendorid, kind, code';

/** All that readers of the mirror see of its vendors and their balances. */
const seen = (at: Testbed<'account'>) => [state, payables, balances].map((sql) => at.query(sql));

describe('vendors that another program altered in the mirror', () => {
  const sums = ['outstanding_balance', 'overdue_balance'];
  const alterations: readonly [what: string, sql: (vendorid: number) => string, fields: readonly string[]][] = [
    ['a text', (id) => `UPDATE vendors SET vendor_name = 'Altered' WHERE vendorid = ${id}`, ['vendor_name']],
    ['a text to NULL', (id) => `UPDATE vendors SET vendor_name = NULL WHERE vendorid = ${id}`, ['vendor_name']],
    ['the state', (id) => `UPDATE vendors SET vis_state = 2 - vis_state WHERE vendorid = ${id}`, ['vis_state']],
    ['a balance', (id) => `DELETE FROM vendor_balances WHERE vendorid = ${id}`, ['outstanding_balance']],
    ['minor units', (id) => `UPDATE vendor_balances SET amount_minor = amount_minor + 1 WHERE vendorid = ${id}`, sums],
    ['a sum', (id) => `UPDATE _balance_spans SET outstanding_amount = 99.5 WHERE vendorid = ${id}`, sums],
    ['minor units of a sum', (id) => `UPDATE _balance_spans SET overdue_units = 7 WHERE vendorid = ${id}`, sums],
    ['a sum that ended', (id) => `UPDATE _balance_spans SET valid_to = valid_from WHERE vendorid = ${id}`, sums],
    ['a sum that was deleted', (id) => `DELETE FROM _balance_spans WHERE vendorid = ${id}`, sums],
    ['the state of a sum', (id) => `UPDATE _balance_spans SET state = 'archived' WHERE vendorid = ${id}`, sums],
    [
      'a text and a sum',
      (id) => `UPDATE vendors SET vendor_name = 'Altered' WHERE vendorid = ${id};
        UPDATE _balance_spans SET outstanding_amount = 99.5 WHERE vendorid = ${id}`,
      ['vendor_name'],
    ],
  ];
  it.each(alterations)(
    'differ until the next run, by which they are what the service sent: %s',
    async (_, sql, fields) => {
      const at = await testbed({ level: 'account', world, vendors, events: 0 });
      const id = vendorOf(at, 3);
      at.sandbox.vendors(account).setBalance(id, 'outstanding', [{ amount: '12.50', code: 'EUR' }]);
      at.sandbox.vendors(account).setBalance(id, 'overdue', []);
      await at.pull();
      const before = seen(at);
      await at.clock.advance(5_000);
      at.write(sql(id));
      expect(seen(at)).not.toEqual(before);

      const report = await verify(at);
      expect(report.differences).toEqual([{ vendorid: id, kind: 'different', fields }]);
      expect(whatIsNotEqual(report)?.message).toBe(
        'One vendor differs. One vendor does not stand in the mirror as the service sent it: another program wrote into it.',
      );
      expect(at.query('SELECT outcome, error_code FROM runs ORDER BY id DESC LIMIT 1')).toEqual([
        { outcome: 'complete', error_code: 'differences' },
      ]);
      await at.pull();
      expect(seen(at)).toEqual(before);
      expect((await verify(at)).outcome).toBe('equal');
    },
  );

  it('are told apart from those that the service changed', async () => {
    const at = await testbed({ level: 'account', world, vendors, events: 0 });
    await at.pull();
    await at.clock.advance(5_000);
    at.sandbox.vendors(account).edit(vendorOf(at, 3), { city: 'Elsewhere' });
    const report = await verify(at);
    expect(report).toMatchObject({ outcome: 'different', altered: 0 });
    expect(whatIsNotEqual(report)?.message).toBe('One vendor differs.');
  });

  it('and a row that it deleted alone comes back whole, once in what is owed', async () => {
    const at = await testbed({ level: 'account', world, vendors, events: 0 });
    const id = vendorOf(at, 5);
    at.sandbox.vendors(account).setBalance(id, 'outstanding', [{ amount: '12.50', code: 'EUR' }]);
    await at.pull();
    const before = [state, balances, owed].map((sql) => at.query(sql));
    await at.clock.advance(5_000);
    at.write(`DELETE FROM vendors WHERE vendorid = ${id}`);
    expect((await verify(at)).differences).toEqual([{ vendorid: id, kind: 'only_in_source', fields: [] }]);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect([state, balances, owed].map((sql) => at.query(sql))).toEqual(before);
  });
});
