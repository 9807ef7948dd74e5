/** Rows in aligned columns, for a person's eye. */
import { cut, rulerFor, type Ruler } from './cells.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { heading } from './heading.ts';
import { visible } from './plain-text.ts';

export interface Column<Row> {
  readonly title: string;
  /** For numbers: aligned to the right, and never cut. */
  readonly right?: boolean;
  readonly cell: (row: Row) => string | number | null;
}

const gap = '  ';
/** What stands for a value that is not there. */
export const nothing = '–';
/** A column is never cut below this. */
const narrowest = 6;

/** The rows as lines under their titles, no wider than the terminal; where there is none, nothing is cut. */
export async function table<Row>(
  context: Pick<ProcessContext, 'stdout' | 'env'>,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): Promise<string> {
  const titles = columns.map(({ title }) => title);
  const lines = rows.map((row) => columns.map(({ cell }) => visible(String(cell(row) ?? nothing))));
  const cells = await rulerFor([titles, ...lines].flat());
  const widths = titles.map((title, at) =>
    lines.reduce((widest, line) => Math.max(widest, cells(line[at] ?? '')), cells(title)),
  );
  if (context.stdout.isTTY && context.stdout.columns) squeeze(widths, columns, context.stdout.columns);
  const draw = (line: readonly string[]): string =>
    line
      .map((text, at) => padded(text, widths[at] ?? 0, columns[at]?.right ?? false, cells))
      .join(gap)
      .trimEnd();
  return [heading(context, draw(titles)), ...lines.map(draw)].join('\n');
}

/** Takes from the widest columns, cell by cell, until the line fits. */
function squeeze(widths: number[], columns: readonly Column<never>[], space: number): void {
  const over = (): number => widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1)) - space;
  for (let left = over(); left > 0; left -= 1) {
    const widest = Math.max(...widths.filter((_, at) => !columns[at]?.right));
    if (widest <= narrowest) return;
    widths[widths.findIndex((width, at) => width === widest && !columns[at]?.right)] = widest - 1;
  }
}

function padded(text: string, width: number, right: boolean, cells: Ruler): string {
  const fitting = cut(text, width, cells);
  const space = ' '.repeat(Math.max(0, width - cells(fitting)));
  return right ? space + fitting : fitting + space;
}
