import { describe, expect, it } from 'vitest';
import { adminOverMirror } from '../../../support/admin/admin-over-mirror.ts';
import { balance, span, vendor } from '../../../support/mirror-file.ts';

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
      vendor(4711, { account_id: 'a1', vendor_name: '100% "Wolle" _\\', primary_contact_email: 'wolle@example.com' }),
      vendor(8, { account_id: 'a2', vendor_name: 'Eight', account_number: '4711' }),
      ...Array.from({ length: 118 }, (_, index) =>
        vendor(102 + index, { account_id: 'a2', vendor_name: `Other ${String(index).padStart(3, '0')}` }),
      ),
    ],
    vendor_balances: [
      { ...balance(150, 'outstanding', '-7.00', 'EUR'), account_id: 'a2' },
      { ...balance(150, 'outstanding', '3000', 'JPY'), account_id: 'a2' },
      { ...balance(1, 'outstanding', '20.00', 'EUR'), account_id: 'a1' },
      { ...balance(2, 'outstanding', '9.00', 'EUR'), account_id: 'a1' },
      { ...balance(1, 'outstanding', '1000.00', 'USD'), account_id: 'a2' },
      { ...balance(2, 'overdue', '8.00', 'EUR'), account_id: 'a1' },
    ],
    _balance_spans: [
      span(150, 'EUR', -700, { account_id: 'a2' }),
      span(150, 'JPY', 300_000, { account_id: 'a2' }),
      span(1, 'EUR', 2_000, { account_id: 'a1' }),
      span(2, 'EUR', 900, { account_id: 'a1', overdue_amount: 8 }),
      span(1, 'USD', 100_000, { account_id: 'a2' }),
    ],
  });
  return async (path: string) => (await ask(path)).body;
}

describe('L91 the list of all vendors', () => {
  it.each([
    ['/vendors', ['Other 048', 'Möbel', 'Zeta', 'Äther']],
    ['/vendors?sort=overdue', ['Äther', 'Zeta']],
    ['/vendors?sort=name', ['100% &#34;Wolle&#34; _\\', 'Äther', 'Eight', 'Möbel', 'Other 000']],
    ['/vendors?account=a1&sort=changed', ['Äther', 'Zeta']],
    ['/vendors?account=a1&sort=number', ['Zeta', 'Äther']],
    ['/vendors?q=&sort=overdue', ['Äther', 'Zeta']],
    ['/vendors?account=a1&sort=nonsense&page=-1', ['Zeta', 'Äther']],
  ])('%s begins with %j', async (path, names) => {
    const read = await browse();
    expect(namesIn(await read(path)).slice(0, names.length)).toEqual(names);
  });

  it.each(['outstanding', 'overdue'] as const)(
    'L85 says that the %s balance of a vendor could not be read',
    async (kind) => {
      const { ask } = await adminOverMirror({
        vendors: [vendor(1, { unreadable_fields: JSON.stringify(['phone', `${kind}_balance`]) })],
      });
      const { body } = await ask('/vendors');
      const cells = [...body.matchAll(/data-name="(\w+)">(?:<bdi>)?could not be read/g)].map(([, name]) =>
        name?.toLowerCase(),
      );
      expect(cells).toEqual([kind]);
    },
  );

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
    expect(textOf(await read('/vendors?page=9'))).toContain('This page is past the last of 123 vendors.');
    expect(textOf(await read('/vendors?account=a1'))).toContain('Vendors of account a1');
  });
});

describe('L81 a search, as a list that is sorted', () => {
  it.each([
    ['q=a2', []],
    ['q=%25', ['4711 a1']],
    ['q=_', ['4711 a1']],
    ['q=%5C', ['4711 a1']],
    ['q=%22wolle', ['4711 a1']],
    ['q=WOLLE%40', ['4711 a1']],
    ['q=%20eight%20', ['8 a2']],
    ['q=4711', ['4711 a1', '8 a2']],
    ['q=1&sort=name&account=a1', ['4711 a1', '1 a1']],
    ['q=other%2001&sort=name', [...Array(10).keys()].map((index) => `${112 + index} a2`)],
  ])('%s finds %j', async (query, found) => {
    const read = await browse();
    const links = [...(await read(`/vendors?${query}`)).matchAll(/href="\.\/vendors\/(\w+)\/(\d+)"/g)];
    expect(links.map(([, account = '', id = '']) => `${id} ${account}`)).toEqual(found);
  });

  it('says what was searched, with the address that matched, and keeps it in each address of an order or a page', async () => {
    const read = await browse();
    const one = await read('/vendors?q=wolle');
    expect(textOf(one)).toMatch(/Vendors of all accounts with “ ?wolle ?” 1 vendor, in every state; .* All vendors/);
    expect(textOf(one)).toContain('wolle@example.com');
    expect(one).toContain('href="./vendors?q=wolle&#38;sort=name"');
    expect(one).not.toContain('Page 1');
    expect(await read('/vendors?q=other&sort=name')).toContain('href="./vendors?q=other&#38;sort=name&#38;page=2"');
    const none = textOf(await read('/vendors?q=nobody&account=a1'));
    expect(none).toMatch(/Vendors of account a1 with “ ?nobody ?” No vendor has this name, number or e-mail address\./);
  });
});

describe('an account that is not here', () => {
  it.each(['/?account=gone', '/vendors?account=gone', '/vendors?account=%3Ci%3E&q=7'])(
    '%s is told so, and leads to the others',
    async (path) => {
      const { ask } = await adminOverMirror({
        _accounts: [{ account_id: '6BApk', added_at: '2026-11-20 09:00:00.000' }],
        vendors: [vendor(1)],
      });
      const { status, body } = await ask(path);
      expect([status, textOf(body)]).toEqual([
        404,
        expect.stringMatching(/The mirror holds no account “ ?(gone|&#60;i&#62;) ?”\. .*All accounts/),
      ]);
    },
  );

  it('names no account where there is but one', async () => {
    const { ask } = await adminOverMirror({
      _accounts: [{ account_id: '6BApk', added_at: '2026-11-20 09:00:00.000' }],
      vendors: [vendor(1)],
    });
    const text = textOf((await ask('/vendors')).body);
    expect(text).not.toMatch(/account/i);
  });
});
