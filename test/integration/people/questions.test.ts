/** The ten questions of migrations/README.md, each query as it stands there, against what the sandbox knows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { timestamp } from '../../../src/domain/clock.ts';
import { packageRoot } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { askAsTools, type Row } from '../../support/mirror/reporting-tools.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import type { Record_ } from '../../support/testbed/account.ts';

const day = 86_400_000;

/** The queries, by the number of their question. */
const queries = new Map(
  [
    ...readFileSync(join(packageRoot, 'migrations/README.md'), 'utf8').matchAll(
      /^### (\d+)\. (?:(?!```).)*```sql\n(.*?)```/gms,
    ),
  ].map(([, number, sql = '']) => [Number(number), sql]),
);

interface Money {
  readonly amount: { readonly amount: string; readonly code: string };
}

/** A vendor as the sandbox knew it at a moment. */
interface Known {
  readonly vendorid: number;
  readonly vendor_name: string;
  readonly account_number: string | null;
  readonly phone: string | null;
  readonly country: string | null;
  readonly created_at: string;
  readonly is_1099: boolean;
  readonly vis_state: 0 | 1 | 2;
  readonly tax_defaults: readonly unknown[];
  readonly outstanding_balance: readonly Money[];
  readonly overdue_balance: readonly Money[];
}

type Moment = ReadonlyMap<number, Known>;

interface Story {
  readonly at: Testbed<'account'>;
  readonly moments: Record<'monthEnd' | 'weekAgo' | 'now', Moment>;
  readonly ids: Record<'late' | 'always' | 'renamed' | 'archived' | 'deleted' | 'vanished' | 'twin', number>;
  /** When the mirror learned of the changes of December. */
  readonly learned: string;
}

/** From 20 November, over the end of the month, to 9 December. */
async function story(): Promise<Story> {
  const at = await testbed({ level: 'account', vendors: 80 });
  const vendors = at.sandbox.vendors(account);
  const enter = (vendor_name: string, more: Row = {}): number =>
    (vendors.create({ vendor_name, language: 'en', ...more }) as Record_).vendorid;
  const owe = (id: number, kind: 'outstanding' | 'overdue', amount: string, code = 'USD'): void =>
    void vendors.setBalance(id, kind, [{ amount, code }]);
  const ids = {
    late: enter('Late', { is_1099: true }),
    always: enter('Always late', { account_number: '77-1' }),
    renamed: enter('Old name', { is_1099: false, account_number: 'A1' }),
    archived: enter('Archived', { phone: '+1 (555) 010-0' }),
    deleted: enter('Deleted'),
    vanished: enter('Vanished'),
    twin: enter('  ALWAYS LATE', { account_number: '77-1', phone: '15550100' }),
  };
  owe(ids.late, 'outstanding', '10.10');
  owe(ids.always, 'outstanding', '20.20');
  owe(ids.always, 'overdue', '20.20');
  owe(ids.archived, 'outstanding', '30.30', 'EUR');
  owe(ids.deleted, 'outstanding', '40.40');
  owe(ids.vanished, 'outstanding', '50.50');
  await at.pull();
  const known = new Set(at.query<{ vendorid: number }>('SELECT vendorid FROM vendors').map(({ vendorid }) => vendorid));
  const seen = (): Moment =>
    new Map(
      (vendors.listed() as unknown as Known[])
        .filter(({ vendorid }) => known.has(vendorid))
        .map((vendor) => [vendor.vendorid, vendor]),
    );
  const until = (moment: string): Promise<void> => at.clock.advance(Date.parse(`${moment}Z`) - at.clock.now());

  await until('2026-11-29T12:00:00');
  owe(ids.late, 'outstanding', '11.11');
  await at.pull();
  const monthEnd = seen();
  await until('2026-12-01T09:00:00');
  vendors.archive(ids.archived);
  vendors.delete(ids.deleted);
  vendors.vanish(ids.vanished);
  vendors.edit(ids.renamed, { vendor_name: 'New name', account_number: 'A2', is_1099: true, phone: '5' });
  owe(ids.always, 'overdue', '19.19');
  await at.pull();
  const learned = timestamp(at.clock.now()).slice(0, 16);
  const weekAgo = seen();
  await until('2026-12-08T09:00:00');
  owe(ids.late, 'overdue', '5.05');
  known.add(enter('Newcomer'));
  await at.pull();
  await until('2026-12-08T12:00:00');
  return { at, ids, learned, moments: { monthEnd, weekAgo, now: seen() } };
}

describe('the ten questions', () => {
  const answer = (told: Story, number: number): Row[] => {
    const now = timestamp(told.at.clock.now());
    return askAsTools(told.at, (queries.get(number) ?? '').replaceAll("'now'", `'${now}'`).replace(/;\s*$/, ''));
  };
  const now = (told: Story): Known[] => [...told.moments.now.values()];

  it('are ten', () => {
    expect([...queries.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('1: contractors and what is owed to each', async () => {
    const told = await story();
    const expected = now(told)
      .filter((vendor) => vendor.is_1099)
      .flatMap((vendor) => owedTo(vendor, 'outstanding_balance'));
    expect(answer(told, 1).map(line)).toHaveLength(expected.length);
    expect(answer(told, 1).map(line).sort()).toEqual(expected.sort());
    expect(expected.length).toBeGreaterThan(2);
  });

  it('2: who became overdue within seven days', async () => {
    const told = await story();
    const before = new Set([...told.moments.weekAgo.values()].flatMap((vendor) => late(vendor)));
    const expected = now(told).flatMap((vendor) => late(vendor).filter((one) => !before.has(one)));
    expect(answer(told, 2).map(({ vendorid, currency }) => `${String(vendorid)} ${String(currency)}`)).toEqual(
      expected,
    );
    expect(answer(told, 2)).toMatchObject([{ vendorid: told.ids.late, currency: 'USD', overdue: 5.05 }]);
  });

  it('3: what changed in fields that matter to the bank or to taxes', async () => {
    const told = await story();
    const change = { account_id: account, vendorid: told.ids.renamed, vendor_name: 'New name', learned_by: 'pull' };
    const at = expect.stringContaining(told.learned) as unknown;
    expect(answer(told, 3)).toEqual([
      { ...change, at, field: 'account_number', old: 'A1', new: 'A2' },
      { ...change, at, field: 'is_1099', old: 'false', new: 'true' },
      { ...change, at, field: 'vendor_name', old: 'Old name', new: 'New name' },
    ]);
  });

  it('4: who may be the same', async () => {
    const told = await story();
    const { always, twin, archived } = told.ids;
    const groups = answer(told, 4).map(({ same, vendorids }) => ({ same, ids: ids(vendorids) }));
    for (const same of ['name', 'account number'])
      expect(groups).toContainEqual({ same, ids: ids(`${always}, ${twin}`) });
    expect(groups).toContainEqual({ same: 'phone', ids: ids(`${archived}, ${twin}`) });
    const expected = [
      ...groupsOf(now(told), ({ vendor_name }) =>
        vendor_name.replace(/^ +| +$/g, '').replace(/[A-Z]/g, (c) => c.toLowerCase()),
      ),
      ...groupsOf(now(told), ({ account_number }) => account_number ?? ''),
      ...groupsOf(now(told), ({ phone }) => (phone ?? '').replace(/[ \-().+/]/g, '')),
    ];
    expect(groups.map((group) => group.ids.join()).sort()).toEqual(expected.sort());
  });

  it('5: who is archived or deleted, and still owed', async () => {
    const told = await story();
    const state = (vendor: Known): string => ['active', 'deleted', 'archived'][vendor.vis_state] ?? '';
    const expected = now(told)
      .filter((vendor) => vendor.vis_state !== 0)
      .flatMap((vendor) =>
        vendor.outstanding_balance
          .filter(({ amount }) => Number(amount.amount) !== 0)
          .map(({ amount }) => `${vendor.vendorid} ${state(vendor)} ${amount.code} ${amount.amount}`),
      );
    const rows = answer(told, 5).map((row) => `${String(row['vendorid'])} ${String(row['state'])} ${amountOf(row)}`);
    expect(rows.sort()).toEqual(expected.sort());
    expect(rows).toContain(`${told.ids.archived} archived EUR 30.30`);
    expect(rows).toContain(`${told.ids.deleted} deleted USD 40.40`);
  });

  it('6: what is owed by currency, now and at the end of last month', async () => {
    const told = await story();
    const rows = answer(told, 6);
    const [then, today] = [sums([...told.moments.monthEnd.values()]), sums(now(told))];
    expect(Object.fromEntries(rows.map((row) => [row['currency'], Number(row['now']).toFixed(2)]))).toEqual(today);
    expect(
      Object.fromEntries(rows.map((row) => [row['currency'], Number(row['end_of_last_month']).toFixed(2)])),
    ).toEqual(then);
    expect(then['USD']).not.toBe(today['USD']);
  });

  it('7: who changed since a date', async () => {
    const told = await story();
    const { late, always, renamed, archived, deleted, vanished } = told.ids;
    const rows = answer(told, 7);
    expect(rows.map(({ vendorid }) => Number(vendorid)).sort((a, b) => a - b)).toEqual(
      [late, always, renamed, archived, deleted, vanished].sort((a, b) => a - b),
    );
    const fields = Object.fromEntries(
      rows.map((row) => [Number(row['vendorid']), String(row['fields']).split(',').sort()]),
    );
    expect(fields[always]).toEqual(['overdue_balance']);
    expect(fields[vanished]).toEqual(['presence']);
    expect(fields[archived]).toEqual(['vis_state']);
    expect(fields[renamed]).toEqual(['account_number', 'is_1099', 'phone', 'vendor_name']);
  });

  it('8: who is new this quarter', async () => {
    const told = await story();
    const expected = now(told)
      .filter(({ created_at }) => created_at >= '2026-10-01')
      .map(({ vendorid }) => vendorid);
    expect(answer(told, 8).map(({ vendorid }) => vendorid)).toEqual(expected.sort((a, b) => a - b));
    expect(expected).toHaveLength(7);
  });

  it('9: which active vendors have no tax data', async () => {
    const told = await story();
    const expected = now(told)
      .filter((vendor) => vendor.vis_state === 0 && !vendor.is_1099 && vendor.tax_defaults.length === 0)
      .map(({ vendorid }) => vendorid);
    expect(answer(told, 9).map(({ vendorid }) => vendorid)).toEqual(expected.sort((a, b) => a - b));
    expect(expected.length).toBeGreaterThan(2);
  });

  it('10: how fresh it all is', async () => {
    const told = await story();
    expect(answer(told, 10)).toMatchObject([
      { account_id: account, callback_verified: null, open_suspects: 0, parked_vendors: 0 },
    ]);
    const [{ minutes_old, safe_as_of }] = answer(told, 10) as [{ minutes_old: number; safe_as_of: string }];
    expect(minutes_old).toBeCloseTo((told.at.clock.now() - Date.parse(`${safe_as_of.replace(' ', 'T')}Z`)) / 60_000, 1);
    expect(minutes_old).toBeLessThan(day / 60_000);
  });
});

const ids = (text: unknown): number[] =>
  String(text)
    .split(', ')
    .map(Number)
    .sort((a, b) => a - b);

function groupsOf(vendors: readonly Known[], by: (vendor: Known) => string): string[] {
  const groups = new Map<string, number[]>();
  for (const vendor of vendors) {
    const value = by(vendor);
    if (vendor.vis_state !== 1 && value !== '') groups.set(value, [...(groups.get(value) ?? []), vendor.vendorid]);
  }
  return [...groups.values()].filter((found) => found.length > 1).map((found) => found.sort((a, b) => a - b).join());
}

/** Lines of what a vendor is owed; one without an amount where it is owed nothing, nor anything is overdue. */
function owedTo(vendor: Known, field: 'outstanding_balance'): string[] {
  const owed = vendor[field].map(({ amount }) => `${vendor.vendorid} ${amount.code} ${amount.amount}`);
  return owed.length > 0 ? owed : [`${vendor.vendorid} null null`];
}

const amountOf = ({ currency, outstanding }: Row): string =>
  outstanding === null ? 'null null' : `${String(currency)} ${Number(outstanding).toFixed(2)}`;
const line = (row: Row): string => `${String(row['vendorid'])} ${amountOf(row)}`;

/** The currencies in which a vendor is overdue. */
function late({ vendorid, overdue_balance }: Known): string[] {
  return overdue_balance
    .filter(({ amount }) => Number(amount.amount) > 0)
    .map(({ amount }) => `${vendorid} ${amount.code}`);
}

function sums(vendors: readonly Known[]): Record<string, string> {
  const total = new Map<string, number>();
  for (const { outstanding_balance } of vendors)
    for (const { amount } of outstanding_balance)
      total.set(amount.code, (total.get(amount.code) ?? 0) + Math.round(Number(amount.amount) * 100));
  return Object.fromEntries([...total].map(([code, cents]) => [code, (cents / 100).toFixed(2)]));
}
