/** Amounts of older files are converted as new ones are. */
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { currencyDigits, decimalAmount, minorUnits } from '../../../../src/domain/amounts.ts';
import { ask, migrations, openDatabase, temporaryFolder } from '../../../support/mirror-file.ts';

/** Currencies that counted as having no digits after the point. */
const once = new Set(['HUF', 'COP', 'IDR']);

const amounts = [
  '1200.00',
  '0.50',
  '-3.10',
  '+7',
  '5451',
  '12.345',
  '5.005',
  '1,234.50',
  '1e3',
  '.5',
  '5.',
  '',
  'n/a',
  '--5',
  '1.2.3',
  ' 3.50 ',
];
const codes = ['USD', 'JPY', 'KWD', 'CLF', 'XYZ', ...once];
const balances = codes.flatMap((code) => amounts.map((amount) => ({ amount, code })));

/** What the program of then made of an amount. */
function minorThen(balance: { amount: string; code: string }): bigint | null {
  return minorUnits(once.has(balance.code) ? { ...balance, code: 'JPY' } : balance);
}

it('amounts of every currency and form in older files become the numbers that are written today', async () => {
  const folder = temporaryFolder();
  const older = join(folder, 'migrations');
  mkdirSync(join(older, 'mirror'), { recursive: true });
  for (const name of readdirSync(join(migrations, 'mirror')))
    if (name < '0004') cpSync(join(migrations, 'mirror', name), join(older, 'mirror', name));
  const path = join(folder, 'vendors.db');
  const { sqlite } = await openDatabase(path, older);
  const addBalance = sqlite.prepare("INSERT INTO vendor_balances VALUES ('6BApk', ?, 'outstanding', ?, ?, ?)");
  const addSpan = sqlite.prepare(
    "INSERT INTO balance_spans VALUES ('6BApk', ?, ?, '', NULL, ?, ?, NULL, NULL), ('6BApk', ?, ?, '', NULL, NULL, NULL, ?, ?)",
  );
  for (const [index, balance] of balances.entries()) {
    const [id, { code, amount }, minor] = [index + 1, balance, minorThen(balance)];
    addBalance.run(id, code, amount, minor);
    addSpan.run(id, code, amount, minor, id + 1_000, code, amount, minor);
  }
  sqlite.close();

  await (await openDatabase(path)).close();
  const rows = ask(
    path,
    `SELECT s.outstanding AS amount, s.code, b.amount_minor AS balance, s.outstanding_minor AS span, s.outstanding_units AS units,
       s.outstanding_amount AS number, s.overdue_units + s.overdue_amount AS none, s.minor_digits AS digits, o.overdue_minor AS late,
       o.overdue_units AS late_units, o.overdue_amount AS late_number, o.outstanding_units + o.outstanding_amount AS none_too
     FROM _balance_spans s JOIN vendor_balances b USING (account_id, vendorid)
     JOIN _balance_spans o ON o.vendorid = s.vendorid + 1000 ORDER BY s.vendorid`,
  );
  expect(rows).toEqual(
    balances.map((balance) => {
      const minor = minorUnits(balance);
      const [number, units] = [decimalAmount(balance), minor === null ? null : Number(minor)];
      return {
        ...balance,
        ...{ balance: units, span: units, units, number, none: 0, digits: currencyDigits(balance.code) },
        ...{ late: units, late_units: units, late_number: number, none_too: 0 },
      };
    }),
  );
});
