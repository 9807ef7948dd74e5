/** What the page says is owed, to the cent, against what the service knows. */
import { expect, it } from 'vitest';
import { grouped, minorUnits } from '../../../src/domain/amounts.ts';
import type { Balance, VisState } from '../../../src/domain/vendor.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

interface Owed {
  readonly amount: Balance;
}

interface Known {
  readonly vis_state: VisState;
  readonly outstanding_balance: readonly Owed[];
  readonly overdue_balance: readonly Owed[];
}

/** Of each currency, what the service's active vendors are owed, and what of that is overdue. */
function atService({ sandbox }: Testbed<'daemon'>): string[][] {
  const sums = new Map<string, [bigint, bigint]>();
  for (const vendor of sandbox.vendors(account).listed() as unknown as Known[])
    if (vendor.vis_state === 0)
      for (const [index, balances] of [vendor.outstanding_balance, vendor.overdue_balance].entries())
        for (const { amount: balance } of balances) {
          const sum = sums.get(balance.code) ?? [0n, 0n];
          sum[index] = (sum[index] ?? 0n) + (minorUnits(balance) ?? 0n);
          sums.set(balance.code, sum);
        }
  return [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, owed]) => [code, ...owed.map((sum) => grouped(sum, code))]);
}

/** The rows of the table on the page. */
async function onPage(at: Testbed<'daemon'>): Promise<string[][]> {
  const { body } = await at.look('/');
  const [, rows = ''] = /<table class="owed">.*?<tbody>(.*?)<\/tbody>/s.exec(body) ?? [];
  return rows
    .split('</tr>')
    .map((row) =>
      row
        .replace(/<[^>]*>/g, ' ')
        .trim()
        .split(/\s+/),
    )
    .filter(([code]) => code !== '');
}

it('equals what the service shows, at first and after each changed vendor, in every currency', async () => {
  const at = await testbed({ level: 'daemon', vendors: 120, seed: 'odd balances' });
  const vendors = at.sandbox.vendors(account);
  const first = await onPage(at);
  expect(first).toEqual(atService(at));
  expect(first.map(([code]) => code)).toEqual(expect.arrayContaining(['EUR', 'JPY', 'KWD']));

  const [one = 0, two = 0, three = 0, four = 0] = vendors.listed().map(({ vendorid }) => Number(vendorid));
  vendors.setBalance(one, 'outstanding', [{ amount: '1234567.89', code: 'EUR' }]);
  vendors.setBalance(two, 'overdue', [{ amount: '-0.01', code: 'EUR' }]);
  for (const id of [one, two]) vendors.edit(id, { phone: '1' });
  vendors.archive(three);
  vendors.delete(four);
  await at.untilQuiet();
  await at.clock.pass(10_000);
  await at.untilQuiet();
  const then = await onPage(at);
  expect(then).toEqual(atService(at));
  expect(then).not.toEqual(first);
  await at.untilRuns(1);
  await at.clock.pass(5_000);
  expect(await onPage(at)).toEqual(atService(at));
});
