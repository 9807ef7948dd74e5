/** Rows in aligned columns, for a person's eye. */
import type { Edge } from './edge.ts';
import { heading } from './heading.ts';
import { cells, cut, visible } from './plain-text.ts';

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

/** The rows as lines under their titles, as wide as the terminal at most; wherever there is no terminal, nothing is cut. */
export function table<Row>(
  edge: Pick<Edge, 'stdout' | 'env'>,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): string {
  const texts = rows.map((row) => columns.map(({ cell }) => visible(String(cell(row) ?? nothing))));
  const widths = columns.map(({ title }, at) =>
    texts.reduce((widest, line) => Math.max(widest, cells(line[at] ?? '')), cells(title)),
  );
  if (edge.stdout.isTTY && edge.stdout.columns) squeeze(widths, columns, edge.stdout.columns);
  const line = (parts: readonly string[]): string =>
    columns
      .map(({ right }, at) => pad(parts[at] ?? '', widths[at] ?? 0, right ?? false))
      .join(gap)
      .trimEnd();
  const titles = line(columns.map(({ title }) => title));
  return [heading(edge, titles), ...texts.map(line)].join('\n');
}

/** Takes from the widest columns, cell by cell, until the line fits. */
function squeeze(widths: number[], columns: readonly Column<never>[], room: number): void {
  const over = (): number => widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1)) - room;
  for (let left = over(); left > 0; left -= 1) {
    const widest = Math.max(...widths.filter((_, at) => !columns[at]?.right));
    if (widest <= narrowest) return;
    widths[widths.findIndex((width, at) => width === widest && !columns[at]?.right)] = widest - 1;
  }
}

function pad(text: string, width: number, right: boolean): string {
  const fitting = cut(text, width);
  const space = ' '.repeat(Math.max(0, width - cells(fitting)));
  return right ? space + fitting : fitting + space;
}
