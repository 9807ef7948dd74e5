/** The first page where there are several accounts. */
import { expect, it } from 'vitest';
import type { AccountFacts, HealthFacts } from '../../../../src/health/judge.ts';
import type { AccountOwed } from '../../../../src/store/reports/owed.ts';
import { startAdmin } from '../../../support/admin/admin-requests.ts';
import { able, account, before, facts, newAccount, target } from '../../../support/admin/sample.ts';

const amount = (cents: number) => ({ value: cents / 100, minor: BigInt(cents) });
const owes = (id: string, currency: string, outstanding: number, overdue = 0): AccountOwed => ({
  account: id,
  currency,
  outstanding: amount(outstanding),
  overdue: amount(overdue),
});

async function shown(accounts: AccountFacts[], owed: readonly AccountOwed[] = [], over: Partial<HealthFacts> = {}) {
  const supply = () => Promise.resolve({ ...facts(accounts), ...over });
  const { ask } = await startAdmin({}, supply, undefined, able, undefined, undefined, owed);
  const { body } = await ask('/');
  const text = body
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ ([,.;])/g, '$1');
  return { body, text, ask, ids: [...body.matchAll(/<tr id="account-(\w+)"/g)].map(([, id]) => id) };
}

const doubt = { doubt: 'The machine slept for 6 h.' };
const parked = { queue: { waiting: 0, parked: 2 } };

it('L80 names all of 300 accounts, those in trouble first, in an order that age does not change', async () => {
  const ids = Array.from({ length: 300 }, (_, index) => `a${index}`);
  const trouble = new Map<string, Partial<AccountFacts>>([
    ['a40', doubt],
    ['a7', parked],
    ['a250', doubt],
  ]);
  const at = (moment: string) =>
    ids.map((id, index) =>
      account({
        account: id,
        freshness: { ...account().freshness, safe_as_of: index % 2 === 0 ? moment : before(60_000) },
        ...trouble.get(id),
      }),
    );
  const first = await shown(at(before(1_000)));
  expect(first.ids).toHaveLength(300);
  expect(first.ids.slice(0, 5)).toEqual(['a250', 'a40', 'a7', 'a0', 'a1']);
  expect(first.text).toContain('Of 300 accounts, 2 are not correct.');
  expect((await shown(at(before(90_000)))).ids).toEqual(first.ids);
});

it.each([
  ['Both accounts are correct.', {}],
  ['Both accounts are correct; 1 needs attention.', parked],
  ['Of 2 accounts, 1 is not correct.', doubt],
])('L80 %s', async (words, change) => {
  const { text } = await shown([account({ account: 'one' }), account({ account: 'two', ...change })]);
  expect(text).toContain(words);
});

it('L80 what all accounts share stands above them, and is the fault of none', async () => {
  const accounts = [account({ account: 'one' }), account({ account: 'two' })];
  const shared = { targets: [target({ disabled_at: before(60_000) })] };
  const { text, body } = await shown(accounts, [], shared);
  expect(text).toContain('Both accounts are correct. ');
  expect(text).toContain('answered 410');
  expect(body).toContain('id="verdict" class="verdict fair"');
  expect(body.match(/class="dot good"/g)).toHaveLength(2);
  const full = await shown(accounts, [], {
    ability: { ...able, trouble: { code: 'disk_full', message: 'It is full.' } },
  });
  expect(full.text).toContain('Of 2 accounts, 2 are not correct.');
  expect(full.text).not.toContain('Correct ');
});

it('L80 an account that is read for the first time is no fault', async () => {
  const { text, body } = await shown([account({ account: 'one' }), newAccount('two')]);
  expect(text).toContain('Of 2 accounts, 1 is read for the first time.');
  expect(body).toContain('id="verdict" class="verdict busy"');
});

it('L80 an account keeps to its address; one that nobody knows is said not to be here', async () => {
  const { ask, body } = await shown([account({ account: 'one' }), account({ account: 'two', ...doubt })]);
  expect(body).toContain('href="./?account=one"');
  expect((await ask('/?account=one')).body).toContain('<p class="account">Account <b>one</b></p>');
  expect((await ask('/?account=three')).body).toContain('The mirror holds no account');
});

it('sums what is owed over all accounts, each currency apart, to the cent', async () => {
  const owed = [
    owes('one', 'EUR', 10, 10),
    owes('one', 'JPY', 0),
    owes('two', 'EUR', 20),
    owes('two', 'USD', 9_007_199_254_740_992),
  ];
  const { text } = await shown([account({ account: 'one' }), account({ account: 'two' })], owed);
  expect(text).toContain('EUR 0.30 0.10 ');
  expect(text).toContain('USD 90,071,992,547,409.92 0.00 ');
  expect(text).toMatch(/ one Correct [\d,]+ 0\.10 EUR /);
  expect(text).toContain('Vendors Active 3,204 Archived 62 Deleted 102 Gone 8');
});
