/** The view `vendor_changes`, for records of every form. */
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { askAsTools as ask } from '../../support/mirror/reporting-tools.ts';
import { testbed } from '../../support/testbed.ts';
import type { Record_ } from '../../support/testbed/account.ts';

describe('vendor_changes', () => {
  it.each(['array', 'object'])('shows a balance that was sent in the form of an %s, and other fields', async (form) => {
    const at = await testbed({ level: 'account', vendors: 0, world: [`balances=${form}`] });
    const vendors = at.sandbox.vendors(account);
    const { vendorid } = vendors.create({ vendor_name: 'Shop', language: 'en' }) as Record_;
    vendors.setBalance(vendorid, 'overdue', [{ amount: '0.10', code: 'USD' }]);
    await at.pull();
    await at.clock.advance(60_000);
    vendors.edit(vendorid, {
      vendor_name: 'Sh"op',
      phone: '',
      is_1099: true,
      tax_defaults: [{ system_taxid: 36859, enabled: true }],
    });
    vendors.setBalance(vendorid, 'overdue', []);
    await at.pull();
    const changes = ask(
      at,
      "SELECT vendor_name, field, old, new FROM vendor_changes WHERE field <> 'updated_at' ORDER BY field",
    );
    expect(changes).toEqual(
      [
        { field: 'is_1099', old: 'false', new: 'true' },
        { field: 'overdue_balance', old: '0.10 USD', new: null },
        { field: 'phone', old: null, new: '' },
        { field: 'tax_defaults', old: '[]', new: expect.stringContaining('"system_taxid":36859') as unknown },
        { field: 'vendor_name', old: 'Shop', new: 'Sh"op' },
      ].map((change) => ({ vendor_name: 'Sh"op', ...change })),
    );
  });

  it('shows fields of any name that have no column', async () => {
    const names = ['a.b', '0', '$', "it's", 'back\\slash', 'ключ', 'two words', 'quo"te'];
    let value = 1;
    const strange = (): string => names.map((name) => `${JSON.stringify(name)}:"${value}",`).join('');
    const at = await testbed({
      level: 'account',
      vendors: 1,
      rewrite: (text) => text.replaceAll('"account_number":', () => `${strange()}"account_number":`),
    });
    await at.pull();
    value = 2;
    await at.clock.advance(60_000);
    await at.pull();
    const rows = ask(at, 'SELECT field, old, new FROM vendor_changes ORDER BY field');
    expect(rows.map(({ field }) => field).sort()).toEqual([...names].sort());
    for (const { field, ...values } of rows)
      if (!/["\\]/.test(String(field))) expect(values, String(field)).toEqual({ old: '1', new: '2' });
  });
});
