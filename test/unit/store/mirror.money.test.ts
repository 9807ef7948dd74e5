/** What is owed, as reporting tools sum it, compared with the sandbox. */
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { testbed } from '../../support/testbed.ts';
import type { Record_ } from '../../support/testbed/account.ts';

/** Balances as no service should send them, and as one may. */
const odd: readonly (readonly [amount: string, code: string])[] = [
  ['9259.50', 'USD'],
  ['21541563.79', 'USD'],
  ['0.10', 'USD'],
  ['0.20', 'USD'],
  ['-1000.01', 'USD'],
  ['0.00', 'EUR'],
  ['+12.30', 'EUR'],
  ['5451.00', 'JPY'],
  ['21541563', 'JPY'],
  ['12.345', 'KWD'],
  ['12.50', 'HUF'],
  ['0.1234', 'CLF'],
  ['5.005', 'GBP'],
  ['7', 'XYZ'],
  ['1.25', 'usd'],
  ['3.50', 'EUR '],
  ['9007199254740993.01', 'IDR'],
];
const unreadable: readonly (readonly [string, string])[] = [
  ['1,234.50', 'USD'],
  ['n/a', 'EUR'],
  ['', 'JPY'],
];

const worlds = [[], ['balances=object'], ['visState=text', 'order=shuffled'], ['listDeleted=shown'], ['readOne=404']];

describe('amounts', () => {
  it.each(worlds.map((world) => [world.join(' ') || 'default', world] as const))(
    'are summed by currency to the cent, with every odd balance, in world %s',
    async (_, world) => {
      const at = await testbed({ level: 'account', vendors: 60, world });
      const vendors = at.sandbox.vendors(account);
      for (const [index, [amount, code]] of [...odd, ...unreadable].entries()) {
        const { vendorid } = vendors.create({ vendor_name: `Odd ${index}`, language: 'en' }) as Record_;
        vendors.setBalance(vendorid, 'outstanding', [{ amount, code }]);
        if (index % 2 === 0) vendors.setBalance(vendorid, 'overdue', [{ amount, code }]);
      }
      const both = vendors.create({ vendor_name: 'Both', language: 'en' }) as Record_;
      vendors.setBalance(both.vendorid, 'outstanding', [
        { amount: '1.00', code: 'USD' },
        { amount: '2.00', code: 'EUR' },
      ]);
      await at.pull();

      const rows = at.query<{ currency: string; owed: number; late: number }>(
        'select currency, sum(outstanding) as owed, sum(overdue) as late from payables group by 1 order by 2 desc',
      );
      const hidden = at.query<{ vendorid: number }>('SELECT vendorid FROM vendors');
      const known = new Set(hidden.map(({ vendorid }) => vendorid));
      const owed = sums(vendors.listed(), 'outstanding_balance', known);
      const late = sums(vendors.listed(), 'overdue_balance', known);
      expect(Object.fromEntries(rows.map((row) => [row.currency, cents(row.owed)]))).toEqual(owed);
      for (const row of rows) expect(cents(row.late), row.currency).toBe(late[row.currency] ?? cents(0));
      expect(rows.map((row) => row.owed)).toEqual(rows.map((row) => row.owed).sort((a, b) => b - a));
    },
  );

  it('are null, with one finding, if the text is not a decimal number', async () => {
    const at = await testbed({ level: 'account', vendors: 0 });
    const vendors = at.sandbox.vendors(account);
    const { vendorid } = vendors.create({ vendor_name: 'Odd', language: 'en' }) as Record_;
    vendors.setBalance(vendorid, 'outstanding', [{ amount: '1,234.50', code: 'USD' }]);
    await at.pull();
    await at.pull();
    const amounts = 'outstanding, overdue, outstanding_minor, overdue_minor, minor_digits';
    expect(at.query(`SELECT currency, state, ${amounts} FROM payables`)).toEqual([
      {
        currency: 'USD',
        state: 'active',
        outstanding: null,
        overdue: 0,
        outstanding_minor: null,
        overdue_minor: 0,
        minor_digits: 2,
      },
    ]);
    expect(at.query('SELECT vendorid, kind, fields FROM findings')).toEqual([
      { vendorid: null, kind: 'unreadable_value', fields: '{"field":"outstanding_balance","vendors":1}' },
    ]);
    await at.clock.advance(60_000);
    vendors.setBalance(vendorid, 'overdue', [{ amount: 'soon', code: 'USD' }]);
    await at.pull();
    expect(at.query('SELECT fields FROM findings ORDER BY id')).toEqual([
      { fields: '{"field":"outstanding_balance","vendors":1}' },
      { fields: '{"field":"overdue_balance","vendors":1}' },
    ]);
  });

  it('of two currencies of one vendor are in two rows that can be summed exactly', async () => {
    const at = await testbed({ level: 'account', vendors: 0 });
    const vendors = at.sandbox.vendors(account);
    const { vendorid } = vendors.create({ vendor_name: 'Both', language: 'en' }) as Record_;
    vendors.setBalance(vendorid, 'outstanding', [{ amount: '0.10', code: 'KWD' }]);
    vendors.setBalance(vendorid, 'overdue', [
      { amount: '0.100', code: 'KWD' },
      { amount: '7', code: 'JPY' },
    ]);
    await at.pull();
    expect(
      at.query('SELECT currency, outstanding_minor, overdue_minor, minor_digits FROM payables ORDER BY currency'),
    ).toEqual([
      { currency: 'JPY', outstanding_minor: 0, overdue_minor: 7, minor_digits: 0 },
      { currency: 'KWD', outstanding_minor: 100, overdue_minor: 100, minor_digits: 3 },
    ]);
  });
});

interface Money {
  readonly amount: string;
  readonly code: string;
}

/** What the vendors of a list are owed, by currency, in ten-thousandths, so that nothing is rounded. */
function sums(
  rows: readonly Readonly<Record<string, unknown>>[],
  field: string,
  known: ReadonlySet<number>,
): Record<string, string> {
  const total = new Map<string, bigint>();
  for (const row of rows) {
    if (!known.has(Number(row['vendorid']))) continue;
    const told = row[field];
    const list = (Array.isArray(told) ? told : told === null ? [] : [told]) as (Money | { amount: Money })[];
    for (const entry of list) {
      const { amount, code: sent } = typeof entry.amount === 'object' ? entry.amount : (entry as Money);
      const code = sent.trim().toUpperCase();
      const [, sign = '', whole = '', fraction = ''] = /^([+-]?)(\d+)(?:\.(\d{1,4}))?$/.exec(amount) ?? [];
      const tenThousandths = whole === '' ? 0n : BigInt(`${sign.replace('+', '')}${whole}${fraction.padEnd(4, '0')}`);
      total.set(code, (total.get(code) ?? 0n) + tenThousandths);
    }
  }
  return Object.fromEntries([...total].map(([code, sum]) => [code, cents(Number(sum) / 10_000)]));
}

const cents = (amount: number): string => amount.toFixed(2);
