/** Prints rows in aligned columns. */
import { rulerFor, widestWord, wrapped, type Ruler, heading, visible } from './text.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { print } from './print.ts';

export interface Column<Row> {
  readonly title: string;
  /** For numbers: aligned to the right, and never wrapped. */
  readonly right?: boolean;
  /** Left out if the terminal is too narrow: the lowest number first. A column without a number stays. */
  readonly dropOrder?: number;
  readonly cell: (row: Row) => string | number | null;
}

type Terminal = Pick<ProcessContext, 'stdout' | 'env'>;

const gap = '  ';
/** Shown for a missing value. */
export const nothing = '–';
/** A text that is wider than this is wrapped before another column is left out, in cells. */
const longText = 28;

/** The rows as lines under their titles. */
export function table<Row>(context: Terminal, columns: readonly Column<Row>[], rows: readonly Row[]): Promise<string> {
  return new Table(context, columns).lines(rows);
}

export async function printTable<Row>(
  context: Terminal,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): Promise<void> {
  print(context, await table(context, columns, rows));
}

/**
 * A table that is printed in parts. On a terminal it is no wider than the terminal: first columns are left out, then texts are wrapped
 * between words. If the rest still does not fit, each row is printed as lines of its own, a title and a value each. Which columns stay
 * is decided with the first part; columns may grow with later parts.
 */
export class Table<Row> {
  readonly #context: Terminal;
  #columns: readonly Column<Row>[];
  #widths: number[] = [];
  /** Whether each row is printed as lines of its own. */
  #isStacked = false;

  constructor(context: Terminal, columns: readonly Column<Row>[]) {
    this.#context = context;
    this.#columns = columns;
  }

  /** These rows; the first time under their titles. */
  async lines(rows: readonly Row[]): Promise<string> {
    const isFirst = this.#widths.length === 0;
    const { isTTY, columns: space } = this.#context.stdout;
    let texts = this.#texts(rows);
    const cells = await rulerFor([this.#titles(), ...texts].flat());
    this.#widths = this.#measured(texts, cells);
    if (isTTY && space) {
      if (isFirst) texts = this.#choose(texts, space, cells);
      this.#widths = squeezed(this.#widths, this.#leasts(texts, cells), space);
    }
    if (this.#isStacked) return this.#stacked(texts, isFirst, space ?? Infinity, cells);
    const head = isFirst ? [heading(this.#context, this.#draw(this.#titles(), cells))] : [];
    return [...head, ...texts.map((line) => this.#draw(line, cells))].join('\n');
  }

  /** Decides which columns stay and how rows are printed. @returns the texts of the columns that stay. */
  #choose(texts: readonly string[][], space: number, cells: Ruler): string[][] {
    const leasts = this.#leasts(texts, cells);
    const stay = this.#staying(leasts, space);
    const ofStaying = <Item>(items: readonly Item[]): Item[] => items.filter((_, at) => stay[at]);
    this.#columns = ofStaying(this.#columns);
    this.#widths = ofStaying(this.#widths);
    this.#isStacked = widthOf(ofStaying(leasts)) > space;
    return texts.map(ofStaying);
  }

  #titles(): string[] {
    return this.#columns.map(({ title }) => title);
  }

  #texts(rows: readonly Row[]): string[][] {
    return rows.map((row) => this.#columns.map(({ cell }) => visible(String(cell(row) ?? nothing))));
  }

  #measured(texts: readonly string[][], cells: Ruler): number[] {
    return this.#titles().map((title, at) =>
      texts.reduce((widest, line) => Math.max(widest, cells(line[at] ?? '')), this.#widths[at] ?? cells(title)),
    );
  }

  /** How narrow each column may become without a word being broken; numbers are never wrapped. */
  #leasts(texts: readonly string[][], cells: Ruler): number[] {
    return this.#columns.map(({ title, right }, at) => {
      const measure = right ? cells : (text: string): number => widestWord(text, cells);
      return texts.reduce((least, line) => Math.max(least, measure(line[at] ?? '')), measure(title));
    });
  }

  /** Which columns stay: as many as fit while only long texts are wrapped. */
  #staying(leasts: readonly number[], space: number): boolean[] {
    const needed = this.#widths.map((width, at) => Math.max(leasts[at] ?? 0, Math.min(width, longText)));
    const stay = needed.map(() => true);
    const dropped = this.#columns
      .flatMap(({ dropOrder: drop }, at) => (drop === undefined ? [] : [{ drop, at }]))
      .sort((one, other) => one.drop - other.drop);
    for (const { at } of dropped) {
      if (widthOf(needed.filter((_, index) => stay[index])) <= space) break;
      stay[at] = false;
    }
    return stay;
  }

  #draw(line: readonly string[], cells: Ruler): string {
    const broken = line.map((text, at) =>
      this.#columns[at]?.right ? [text] : wrapped(text, this.#widths[at] ?? 0, cells),
    );
    const height = Math.max(...broken.map(({ length }) => length));
    return Array.from({ length: height }, (_, row) =>
      broken
        .map((lines, at) => padded(lines[row] ?? '', this.#widths[at] ?? 0, this.#columns[at]?.right ?? false, cells))
        .join(gap)
        .trimEnd(),
    ).join('\n');
  }

  /** Each row as lines of its own, with an empty line between two rows. */
  #stacked(texts: readonly string[][], isFirst: boolean, space: number, cells: Ruler): string {
    const titles = this.#titles();
    const margin = Math.max(...titles.map(cells)) + gap.length;
    const rows = texts.map((line) =>
      line
        .map((text, at) => {
          const lead = padded(titles[at] ?? '', margin, false, cells);
          return lead + wrapped(text, Math.max(1, space - margin), cells).join(`\n${' '.repeat(margin)}`);
        })
        .join('\n'),
    );
    return (isFirst ? '' : '\n') + rows.join('\n\n');
  }
}

/** Takes from the widest columns that may still become narrower, cell by cell, until the line fits. */
function squeezed(widths: readonly number[], leasts: readonly number[], space: number): number[] {
  const narrow = [...widths];
  for (let left = widthOf(narrow) - space; left > 0; left -= 1) {
    const spare = narrow.map((width, at) => (width > (leasts[at] ?? 0) ? width : 0));
    const widest = Math.max(...spare);
    if (widest === 0) break;
    narrow[spare.indexOf(widest)] = widest - 1;
  }
  return narrow;
}

function widthOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1));
}

function padded(text: string, width: number, right: boolean, cells: Ruler): string {
  const space = ' '.repeat(Math.max(0, width - cells(text)));
  return right ? space + text : text + space;
}
