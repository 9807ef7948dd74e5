import { expect, it } from 'vitest';
import { adminOverMirror } from '../../../support/admin/admin-over-mirror.ts';
import { balance, vendor } from '../../../support/mirror-file.ts';

const textOf = (body: string): string => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

it('L85 the page of a vendor tells what could not be read from what is nothing, and a credit from what is overdue', async () => {
  const account_id = '6BApk';
  const { ask } = await adminOverMirror({
    _accounts: [{ account_id, added_at: '2026-11-20 09:00:00.000' }],
    vendors: [
      vendor(1),
      vendor(2, { unreadable_fields: '["outstanding_balance","phone"]' }),
      vendor(3, { vendor_name: null }),
    ],
    vendor_balances: [
      balance(3, 'outstanding', '-5.00', 'EUR'),
      balance(3, 'overdue', '-5.00', 'EUR'),
      balance(3, 'overdue', '1e9', 'USD'),
      balance(3, 'overdue', '0.00', 'GBP'),
    ],
  });
  const read = async (id: number): Promise<string> => (await ask(`/vendors/${account_id}/${id}`)).body;
  expect(textOf(await read(1))).toContain('Nothing is owed to this vendor.');
  const unread = textOf(await read(2));
  expect(unread).toContain('What is owed to this vendor could not be read.');
  expect(unread).toContain('Could not be read outstanding_balance, phone');
  const odd = await read(3);
  expect(textOf(odd)).toContain('Vendor 3 active');
  expect(
    [...odd.matchAll(/<li class="late">\s*<small>overdue<\/small> <b><bdi>([^<]*)/g)].map(([, sum]) => sum),
  ).toEqual(['1e9 USD']);
});
