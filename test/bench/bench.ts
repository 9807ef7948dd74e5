/** Measures the rows of the table and how costs grow, and says both. */
import { writeFileSync } from 'node:fs';
import { deliveryRows } from './rows/deliveries.ts';
import { isMet, median, ratio, spread, type Figures, type Goal, type Row, type Sizes } from './rows/figures.ts';
import { measureGrowth, rises, type Curve } from './rows/growth.ts';
import { historyRows } from './rows/history.ts';
import { idleRows } from './rows/idle.ts';
import { longLifeRows } from './rows/long-running.ts';
import { movingRows } from './rows/moving.ts';
import { operatorRows } from './rows/operators.ts';
import { growthPicture } from './rows/picture.ts';
import { programRows } from './rows/programs.ts';
import { pullRows } from './rows/pulls.ts';
import { visibleRows } from './rows/visible.ts';

export interface BenchOptions {
  /** Names of rows, and `growth`; where none is named, all that need not be. */
  readonly only: readonly string[];
  readonly json: boolean;
  /** Where the picture of the growth goes; without it, growth is measured only where it is named. */
  readonly picture: string | undefined;
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
  ...longLifeRows,
  ...historyRows,
  ...idleRows,
];

export async function bench({ only, json, picture, sizes, print, printNotice }: BenchOptions): Promise<void> {
  const isWanted = (name: string): boolean => only.length === 0 || only.includes(name);

  const results: object[] = [];
  for (const row of rows.filter(({ name, onlyNamed }) => (onlyNamed ? only.includes(name) : isWanted(name)))) {
    printNotice(`measuring ${row.name}\n`);
    const figures = await row.measure(sizes);
    results.push(documentOf(row, figures));
    if (!json) print(`${lineOf(row, figures)}\n`);
  }
  let growth: readonly Curve[] = [];
  if (only.includes('growth') || (picture !== undefined && isWanted('growth'))) {
    growth = await measureGrowth(sizes, printNotice);
    if (picture !== undefined) writeFileSync(picture, growthPicture(growth));
    if (!json) for (const curve of growth) print(`${growthLine(curve)}\n`);
  }
  if (json) print(`${JSON.stringify({ node: process.version, rows: results, growth }, null, 2)}\n`);
}

function lineOf(row: Row, figures: Figures): string {
  const { ours, baseline, unit, notes = [] } = figures;
  return [
    `${row.name}: ${row.work}`,
    `  ${amount(median(ours))} ${unit} against ${amount(median(baseline))} ${unit} (${row.baseline})`,
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
  return [{ what, goal: goalText(goal), met: isMet(goal, figures) }, ...(figures.also ?? [])];
}

function growthLine(curve: Curve): string {
  const { name, unit, points } = curve;
  const said = points.map(
    ({ size, costs }) => `${size}: ${amount(median(costs))} ${unit} ±${percent(spread(costs) / 2)}`,
  );
  const risen = rises(curve);
  return `${name}: ${said.join(', ')}; ${risen.length > 0 ? `rises at ${risen.join(', ')}` : 'does not rise'}`;
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
