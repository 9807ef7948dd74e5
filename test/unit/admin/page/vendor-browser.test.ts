import { describe, expect, it } from 'vitest';
import { adminOverMirror } from '../../../support/admin/admin-over-mirror.ts';
import { balance, vendor } from '../../../support/mirror-file.ts';

const textOf = (body: string): string => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
const namesIn = (body: string): string[] =>
  [...body.matchAll(/<bdi>([^<]*)<\/bdi><\/a>/g)].map(([, name = '']) => name);

async function browse() {
  const { ask } = await adminOverMirror({
    _accounts: ['a1', 'a2'].map((account_id) => ({ account_id, added_at: '2026-11-20 09:00:00.000' })),
    vendors: [
      vendor(1, { account_id: 'a1', vendor_name: 'Zeta', changed_at: '2026-11-20 10:00:00.000' }),
      vendor(2, { account_id: 'a1', vendor_name: 'Äther', vis_state: 2, changed_at: '2026-11-20 11:00:00.000' }),
      vendor(1, { account_id: 'a2', vendor_name: 'Möbel', changed_at: '2026-11-20 09:00:00.000' }),
      ...Array.from({ length: 120 }, (_, index) =>
        vendor(100 + index, { account_id: 'a2', vendor_name: `Other ${String(index).padStart(3, '0')}` }),
      ),
    ],
    vendor_balances: [
      { ...balance(1, 'outstanding', '20.00', 'EUR'), account_id: 'a1' },
      { ...balance(2, 'outstanding', '9.00', 'EUR'), account_id: 'a1' },
      { ...balance(1, 'outstanding', '1000.00', 'USD'), account_id: 'a2' },
      { ...balance(2, 'overdue', '8.00', 'EUR'), account_id: 'a1' },
    ],
  });
  return async (path: string) => (await ask(path)).body;
}

describe('L91 the list of all vendors', () => {
  it.each([
    ['/vendors', ['Möbel', 'Zeta', 'Äther']],
    ['/vendors?sort=overdue', ['Äther', 'Zeta']],
    ['/vendors?sort=name', ['Äther', 'Möbel', 'Other 000']],
    ['/vendors?account=a1&sort=changed', ['Äther', 'Zeta']],
    ['/vendors?account=a1&sort=number', ['Zeta', 'Äther']],
    ['/vendors?account=a1&sort=nonsense&page=-1', ['Zeta', 'Äther']],
  ])('%s begins with %j', async (path, names) => {
    const read = await browse();
    expect(namesIn(await read(path)).slice(0, names.length)).toEqual(names);
  });

  it('names the account of each vendor, says which it shows of how many, and leads to the next page and back', async () => {
    const read = await browse();
    const first = await read('/vendors?sort=name');
    expect(textOf(first)).toContain('1 to 100 of 123 vendors, in every state.');
    expect(textOf(first)).toMatch(/Äther 2 9\.00 EUR 8\.00 EUR .* archived a1/);
    expect(first).toContain('href="./vendors?sort=name&#38;page=2"');
    const second = await read('/vendors?sort=name&page=2');
    expect(namesIn(second)).toHaveLength(23);
    expect(textOf(second)).toContain('101 to 123 of 123 vendors');
    expect(textOf(second)).toContain('Previous Page 2 of 2');
    expect(textOf(await read('/vendors?page=9'))).toContain('None here');
    expect(textOf(await read('/vendors?account=a1'))).toContain('Vendors of account a1');
  });
});
