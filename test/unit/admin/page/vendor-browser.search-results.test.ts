import { describe, expect, it } from 'vitest';
import { adminOverMirror } from '../../../support/admin/admin-over-mirror.ts';
import { vendor } from '../../../support/mirror-file.ts';

const accounts = Array.from({ length: 120 }, (_, index) => `a${String(index).padStart(3, '0')}`);

/** What a person reads of an answer. */
const textOf = (body: string): string => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

async function searched(path: string, of = accounts): Promise<string> {
  const { ask } = await adminOverMirror({
    _accounts: of.map((account_id) => ({ account_id, added_at: '2026-11-20 09:00:00.000' })),
    vendors: [
      ...of.map((account_id) => vendor(7, { account_id, vendor_name: `Seven of ${account_id}` })),
      ...of.slice(-1).map((account_id) => vendor(9_007, { account_id, vendor_name: 'Far away' })),
      ...of.slice(0, 2).map((account_id) => vendor(777, { account_id, vendor_name: 'Twin', account_number: '777' })),
    ],
  });
  return textOf((await ask(path)).body);
}

describe('L81 a search across accounts', () => {
  it.each([
    ['/search?q=9007', 'Far away'],
    ['/search?q=far', 'Far away'],
  ])('finds what is in the last account alone, and names the account: %s', async (path, name) => {
    const text = await searched(path);
    expect(text).toContain('1 vendor');
    expect(text).toMatch(new RegExp(`${name} .*Account a119 · 9007`));
  });

  it.each([
    ['/search?q=7', 'The first 12 vendors; type more letters'],
    ['/search?q=777', '2 vendors '],
    ['/search?q=Seven%20of%20a00', '10 vendors '],
  ])('counts each vendor once, and says where there are others: %s', async (path, count) => {
    expect(await searched(path)).toContain(count);
  });

  it('names no account where there is but one', async () => {
    const text = await searched('/search?q=7', ['a000']);
    expect(text).toContain('Seven of a000');
    expect(text).not.toContain('Account');
  });
});
