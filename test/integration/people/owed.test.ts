/** What is owed, to the cent, on every surface that says it, against the sandbox's own books. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openMirror } from '../../../src/reader/mirror.ts';
import { account } from '../../support/names.ts';
import { ask, otherConnection, packageRoot } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

interface Money {
  readonly amount: string | Money;
  readonly code: string;
}

interface Known {
  readonly vendorid: number;
  readonly vis_state: number | string;
  readonly outstanding_balance: Money | readonly Money[] | null;
  readonly overdue_balance: Money | readonly Money[] | null;
}

/** `state currency outstanding overdue`, amounts as decimals without superfluous digits. */
type Line = string;

/** A sum in millionths. */
function decimal(millionths: bigint): string {
  const digits = String(millionths < 0n ? -millionths : millionths).padStart(7, '0');
  const fraction = digits.slice(-6).replace(/0+$/, '');
  return `${millionths < 0n ? '-' : ''}${digits.slice(0, -6)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Any spelling of an amount in that one. */
function plain(text: string): string {
  const [, sign = '', whole = '', fraction = ''] = /^([+-]?)(\d+)\.?(\d*)$/.exec(text.replaceAll(',', '')) ?? [];
  return decimal(BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction.padEnd(6, '0').slice(0, 6)}`));
}

const stateNames: Readonly<Record<string, string>> = { 0: 'active', 1: 'deleted', 2: 'archived' };

/** The sandbox's own books, of the vendors that the mirror can know. */
function books(at: Testbed<'daemon'>): Line[] {
  const known = new Set(at.query<{ vendorid: number }>('SELECT vendorid FROM vendors').map(({ vendorid }) => vendorid));
  const sums = new Map<string, [bigint, bigint]>();
  for (const vendor of at.sandbox.vendors(account).listed() as unknown as Known[]) {
    if (!known.has(vendor.vendorid)) continue;
    for (const [index, told] of [vendor.outstanding_balance, vendor.overdue_balance].entries())
      for (const entry of Array.isArray(told) ? (told as Money[]) : told === null ? [] : [told as Money]) {
        const { amount, code } = typeof entry.amount === 'object' ? entry.amount : entry;
        const [, sign = '', whole = '', fraction = ''] = /^([+-]?)(\d+)(?:\.(\d{1,6}))?$/.exec(amount as string) ?? [];
        const key = `${stateNames[vendor.vis_state]} ${code}`;
        const sum = sums.get(key) ?? [0n, 0n];
        sum[index] = sum[index]! + BigInt(`${sign === '-' ? '-' : ''}${whole || '0'}${fraction.padEnd(6, '0')}`);
        sums.set(key, sum);
      }
  }
  return [...sums].map(([key, sum]) => [key, ...sum.map(decimal)].join(' ')).sort();
}

interface Row {
  readonly state: string;
  readonly currency: string;
  readonly outstanding: number | string;
  readonly overdue: number | string;
}

/** Numbers as a person would write them: fifteen digits of a binary fraction are exact. */
const numeric = (value: number | string): string =>
  typeof value === 'string'
    ? value
    : value.toLocaleString('en-US', { maximumSignificantDigits: 15, useGrouping: false });

const lineOf = ({ state, currency, outstanding, overdue }: Row): Line =>
  `${state} ${currency} ${plain(numeric(outstanding))} ${plain(numeric(overdue))}`;

const lines = (rows: readonly Row[]): Line[] => rows.map(lineOf).sort();

/** The one of README.md. */
function readmeQuery(): string {
  const text = readFileSync(join(packageRoot, 'README.md'), 'utf8');
  return /# What do we owe\?\nsqlite3 vendors\.db "(.*)"\n/.exec(text)?.[1] ?? '';
}

/** `Also owed: 30.30 EUR (overdue 1.00) to archived vendors; …`, on the page and in `status`. */
function othersIn(text: string): Line[] {
  const [, list = ''] = /Also owed: (.*?vendors) ?\./s.exec(text.replace(/\s+/g, ' ')) ?? [];
  return [...list.matchAll(/(-?[\d,.]+) (\w+)(?: \(overdue (-?[\d,.]+)\))? to (\w+) vendors/g)].map(
    ([, outstanding = '', currency = '', overdue = '0', state = '']) =>
      lineOf({ state, currency, outstanding, overdue }),
  );
}

async function onPage(at: Testbed<'daemon'>): Promise<{ table: Line[]; chart: Line[] }> {
  const { body } = await at.look('/');
  const [, rows = ''] = /<table class="owed">.*?<tbody>(.*?)<\/tbody>/s.exec(body) ?? [];
  const active = rows
    .split('</tr>')
    .map((row) =>
      row
        .replace(/<[^>]*>/g, ' ')
        .trim()
        .split(/\s+/),
    )
    .filter(([code]) => code !== '')
    .map(([currency = '', outstanding = '', overdue = '']) =>
      lineOf({ state: 'active', currency, outstanding, overdue }),
    );
  const text = body.replace(/<[^>]*>/g, ' ');
  const charts = [...body.matchAll(/<h3><bdi>(\w+)<\/bdi><\/h3>.*?data-series="([^"]*)"/gs)].map(
    ([, currency = '', data = '']) => {
      const { series } = JSON.parse(data.replaceAll('&#34;', '"')) as { series: { values: number[] }[] };
      const [outstanding = 0, overdue = 0] = series.map(({ values }) => values.at(-1)!);
      return lineOf({ state: 'active', currency, outstanding, overdue });
    },
  );
  return { table: [...active, ...othersIn(text)].sort(), chart: charts };
}

/** What an analyst, a clerk at a terminal and programs read from a copy of the file. */
async function elsewhere(at: Testbed<'daemon'>): Promise<Readonly<Record<string, Line[]>>> {
  const { baseUrl } = at.settings.service;
  const other = await testbed({
    level: 'command',
    settings: `accounts: ["${account}"]\nservice: { baseUrl: "${baseUrl}", auth: { accessToken: t } }`,
  });
  otherConnection(at.settings.database).exec(`VACUUM INTO '${other.database}'`);
  const status = (await other.run('status')).stdout;
  const table = [
    ...status.matchAll(/^\s*([A-Za-z]{3})\s+\d+\s+(-?[\d,.]+) [A-Za-z]{3}\s+(-?[\d,.]+) [A-Za-z]{3}\s*$/gm),
  ];
  const csv = (await other.run('export', '-', '--view', 'owed')).stdout.replace('\ufeff', '').trim().split(/\r?\n/);
  const [head = '', ...cells] = csv;
  const column = (row: string, name: string): string => row.split(',')[head.split(',').indexOf(name)] ?? '';
  const today = '(SELECT max(day) FROM owed_by_day)';
  const mirror = await openMirror(other.database);
  try {
    return {
      'the query of README.md': lines(ask<Row>(other.database, readmeQuery())),
      status: [
        ...table.map(([, currency = '', outstanding = '', overdue = '']) =>
          lineOf({ state: 'active', currency, outstanding, overdue }),
        ),
        ...othersIn(status),
      ].sort(),
      owed_by_day: lines(ask<Row>(other.database, `SELECT * FROM owed_by_day WHERE day = ${today}`)),
      'an export': lines(
        cells.map((row) => ({
          state: column(row, 'state'),
          currency: column(row, 'currency'),
          outstanding: column(row, 'outstanding').replace(/^'/, ''),
          overdue: column(row, 'overdue').replace(/^'/, ''),
        })),
      ),
      'a program': lines((await mirror.owed()) as unknown as Row[]),
      payables: lines(
        ask<Row>(
          other.database,
          `SELECT state, currency, sum(outstanding) AS outstanding, sum(overdue) AS overdue FROM payables GROUP BY 1, 2`,
        ),
      ),
    };
  } finally {
    mirror.close();
  }
}

/** Balances as no service should send them, and as one may. */
const odd: readonly (readonly [amount: string, code: string])[] = [
  ['21541563.79', 'USD'],
  ['0.10', 'USD'],
  ['0.20', 'USD'],
  ['-1000.01', 'USD'],
  ['-0.02', 'CAD'],
  ['0.00', 'CHF'],
  ['+12.30', 'EUR'],
  ['5451.00', 'JPY'],
  ['12.345', 'KWD'],
  ['0.1234', 'CLF'],
  ['5.005', 'GBP'],
  ['0.01', 'GBP'],
  ['7', 'XYZ'],
  ['2140000000.00', 'SEK'],
  ['9007199254740.99', 'IDR'],
];

const worlds = [
  [],
  ['balances=object', 'visState=text', 'listDeleted=shown', 'order=shuffled'],
  ['records=odd', 'listArchived=hidden', 'readOne=404', 'values=named'],
];

describe('L77 what is owed is the same, to the cent, on the page, its charts, in status, the README, a view, an export and a program', () => {
  it.each(worlds.map((world) => [world.join(' ') || 'default', world] as const))('in world %s', async (_, world) => {
    const at = await testbed({ level: 'daemon', vendors: 60, seed: 'owed', world, begins: Date.UTC(2026, 10, 19, 22) });
    const vendors = at.sandbox.vendors(account);
    const owe = (id: number, [amount, code]: readonly [string, string], kind: 'outstanding' | 'overdue'): unknown =>
      vendors.setBalance(id, kind, [{ amount, code }]);
    const ids = odd.map((balance, index) => {
      const vendorid = Number(vendors.create({ vendor_name: `Odd ${index}`, language: 'en' })['vendorid']);
      owe(vendorid, balance, 'outstanding');
      if (index % 2 === 0) owe(vendorid, balance, 'overdue');
      return vendorid;
    });
    const settle = async (): Promise<void> => {
      await at.untilQuiet();
      await at.untilRuns(2);
      await at.untilQuiet();
      await at.clock.pass(10_000);
    };
    await settle();
    const expectSame = async (): Promise<Line[]> => {
      const expected = books(at);
      const { table, chart } = await onPage(at);
      // A currency in which nothing is owed any more may be shown, or not.
      const nonZero = (list: Line[]): Line[] => list.filter((line) => !line.endsWith(' 0 0'));
      expect(nonZero(table), 'the page').toEqual(nonZero(expected));
      for (const line of nonZero(chart)) expect(expected, 'the chart').toContain(line);
      for (const [surface, found] of Object.entries(await elsewhere(at)))
        expect(nonZero(found), surface).toEqual(nonZero(expected));
      return expected;
    };
    const first = await expectSame();

    // Whoever is archived or deleted is still owed, and is named; whoever comes back changes no day before.
    vendors.archive(ids[0]!);
    vendors.archive(ids[13]!);
    vendors.delete(ids[3]!);
    vendors.edit(ids[1]!, { phone: '1' });
    owe(ids[5]!, ['0.07', 'CHF'], 'outstanding');
    await settle();
    const then = await expectSame();
    expect(then).not.toEqual(first);
    expect(then.filter((line) => line.startsWith('archived'))).not.toEqual([]);
    const closings = (): unknown =>
      at.query(`SELECT * FROM owed_by_day WHERE day = '2026-11-19' ORDER BY day, state, currency`);
    await at.clock.pass(3 * 3_600_000);
    await at.untilQuiet();
    const before = closings();
    expect(before).not.toEqual([]);
    vendors.restore(ids[0]!);
    vendors.archive(ids[7]!);
    await settle();
    await expectSame();
    expect(closings()).toEqual(before);
    expect((await onPage(at)).chart.length).toBeGreaterThan(0);
  });
});
