/** What is owed to the active vendors of an account, one row for each currency. */
import { money } from '../../domain/amounts.ts';
import type { CurrencyTotal } from '../../store/reports/account-reports.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { counted } from '../terminal/counted.ts';
import { table } from '../terminal/table.ts';

type Total = CurrencyTotal | undefined;

export async function owedTable(context: ProcessContext, totals: readonly CurrencyTotal[]): Promise<string> {
  const of = (code: string, wanted: CurrencyTotal['kind']): Total =>
    totals.find((total) => total.kind === wanted && total.code === code);
  const rows = [...new Set(totals.map(({ code }) => code))].map((code) => ({
    code,
    outstanding: of(code, 'outstanding'),
    overdue: of(code, 'overdue'),
  }));
  if (rows.length === 0) return 'Nothing is owed to active vendors.';
  const left = totals.reduce((sum, { unreadable }) => sum + unreadable, 0);
  const drawn = await table(
    context,
    [
      { title: 'currency', dropOrder: 2, cell: ({ code }) => code },
      { title: 'vendors', right: true, dropOrder: 1, cell: ({ outstanding }) => outstanding?.vendors ?? 0 },
      { title: 'outstanding', right: true, cell: ({ code, outstanding }) => amount(code, outstanding) },
      { title: 'overdue', right: true, cell: ({ code, overdue }) => amount(code, overdue) },
    ],
    rows,
  );
  return left === 0
    ? drawn
    : `${drawn}\n${counted(left, 'amount')} that cannot be read ${left === 1 ? 'is' : 'are'} left out.`;
}

function amount(code: string, total: Total): string {
  return money(total?.minor ?? 0n, code);
}
