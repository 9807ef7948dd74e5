/** Measures the rows of the table, and prints them. */
import { deliveryRows } from './rows/deliveries.ts';
import { isMet, median, ratio, spread, type Figures, type Goal, type Row, type Sizes } from './rows/figures.ts';
import { movingRows } from './rows/moving.ts';
import { operatorRows } from './rows/operators.ts';
import { postgresRows } from './rows/postgres.ts';
import { programRows } from './rows/programs.ts';
import { pullRows } from './rows/pulls.ts';
import { visibleRows } from './rows/visible.ts';

export interface BenchOptions {
  /** Names of rows; all where none is named. */
  readonly only: readonly string[];
  readonly json: boolean;
  readonly sizes: Sizes;
  readonly print: (text: string) => void;
  readonly printNotice: (text: string) => void;
}

export const rows: readonly Row[] = [
  ...pullRows,
  ...movingRows,
  ...deliveryRows,
  ...visibleRows,
  ...operatorRows,
  ...programRows,
  ...postgresRows,
];

export async function bench({ only, json, sizes, print, printNotice }: BenchOptions): Promise<void> {
  const results: object[] = [];
  const isAsked = (row: Row): boolean =>
    only.length === 0 ? sizes.postgres !== undefined || !postgresRows.includes(row) : only.includes(row.name);
  for (const row of rows.filter(isAsked)) {
    printNotice(`measuring ${row.name}\n`);
    const figures = await row.measure(sizes);
    results.push(documentOf(row, figures));
    if (!json) print(`${lineOf(row, figures)}\n`);
  }
  if (json) print(`${JSON.stringify({ node: process.version, rows: results }, null, 2)}\n`);
}

function lineOf(row: Row, figures: Figures): string {
  const { ours, baseline, unit, notes = [] } = figures;
  return [
    `${row.name}: ${row.work}`,
    `  ${amount(median(ours))} ${unit} against ${amount(median(baseline))} ${unit} (${row.baseline})`,
    ...(row.goal ? [] : [`  ${ratio(figures).toFixed(2)} ×`]),
    ...conditions(row, figures).map(({ what, goal, met }) => `  ${what}, goal ${goal}: ${met ? 'met' : 'missed'}`),
    ...notes.map((note) => `  ${note}`),
    `  noise: baseline ±${percent(spread(baseline) / 2)}, ours ±${percent(spread(ours) / 2)}, ${ours.length} samples of each`,
  ].join('\n');
}

function documentOf(row: Row, figures: Figures): object {
  const { name, work, baseline, goal } = row;
  const met = conditions(row, figures).every((condition) => condition.met);
  return { name, work, baseline, goal, met, ratio: ratio(figures), figures };
}

function conditions({ goal }: Row, figures: Figures): NonNullable<Figures['also']> {
  const what = `${ratio(figures).toFixed(2)} ×`;
  return [...(goal ? [{ what, goal: goalText(goal), met: isMet(goal, figures) }] : []), ...(figures.also ?? [])];
}

function goalText(goal: Goal): string {
  return 'atMost' in goal ? `at most ${goal.atMost} ×` : `at least ${goal.atLeast} ×`;
}

function amount(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function percent(part: number): string {
  return `${(part * 100).toFixed(0)} %`;
}
