/** Rows in aligned columns, for a person's eye. */
import { rulerFor, wrapped, type Ruler } from './cells.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { heading } from './heading.ts';
import { visible } from './plain-text.ts';

export interface Column<Row> {
  readonly title: string;
  /** For numbers: aligned to the right, and never broken. */
  readonly right?: boolean;
  /** Left out where the terminal is too narrow: the lowest number first. A column without one stays. */
  readonly drop?: number;
  readonly cell: (row: Row) => string | number | null;
}

type Terminal = Pick<ProcessContext, 'stdout' | 'env'>;

const gap = '  ';
/** What stands for a value that is not there. */
export const nothing = '–';
/** A longer text is rather broken into lines than that another column is left out for it, in cells. */
const longText = 28;
/** No column is narrower. */
const narrowest = 6;

/** The rows as lines under their titles. */
export function table<Row>(context: Terminal, columns: readonly Column<Row>[], rows: readonly Row[]): Promise<string> {
  return new Table(context, columns).lines(rows);
}

/**
 * A table that comes in parts. On a terminal it is no wider than that: columns are left out, and long texts broken between words. Which
 * columns stay is decided with the first part; columns may grow with later ones.
 */
export class Table<Row> {
  readonly #context: Terminal;
  #columns: readonly Column<Row>[];
  #widths: number[] = [];

  constructor(context: Terminal, columns: readonly Column<Row>[]) {
    this.#context = context;
    this.#columns = columns;
  }

  /** These rows, under the titles where they are the first. */
  async lines(rows: readonly Row[]): Promise<string> {
    const isFirst = this.#widths.length === 0;
    let texts = rows.map((row) => this.#columns.map(({ cell }) => visible(String(cell(row) ?? nothing))));
    const titles = (): string[] => this.#columns.map(({ title }) => title);
    const cells = await rulerFor([titles(), ...texts].flat());
    const measured = titles().map((title, at) =>
      texts.reduce((widest, line) => Math.max(widest, cells(line[at] ?? '')), this.#widths[at] ?? cells(title)),
    );
    const { isTTY, columns: space } = this.#context.stdout;
    this.#widths = measured;
    if (isTTY && space) {
      if (isFirst) {
        const stay = this.#staying(measured, space);
        const ofStaying = <Item>(items: readonly Item[]): Item[] => items.filter((_, at) => stay[at]);
        this.#columns = ofStaying(this.#columns);
        this.#widths = ofStaying(measured);
        texts = texts.map(ofStaying);
      }
      this.#squeeze(space);
    }
    const head = isFirst ? [heading(this.#context, this.#draw(titles(), cells))] : [];
    return [...head, ...texts.map((line) => this.#draw(line, cells))].join('\n');
  }

  /** Which columns stay: as many as fit while no text is broken that is not long. */
  #staying(widths: readonly number[], space: number): boolean[] {
    const needed = widths.map((width, at) => (this.#columns[at]?.right ? width : Math.min(width, longText)));
    const stay = needed.map(() => true);
    const dropped = this.#columns
      .flatMap(({ drop }, at) => (drop === undefined ? [] : [{ drop, at }]))
      .sort((one, other) => one.drop - other.drop);
    for (const { at } of dropped) {
      if (widthOf(needed.filter((_, index) => stay[index])) <= space) break;
      stay[at] = false;
    }
    return stay;
  }

  /** Takes from the widest columns of text, cell by cell, until the line fits. */
  #squeeze(space: number): void {
    const isText = (at: number): boolean => !this.#columns[at]?.right;
    for (let left = widthOf(this.#widths) - space; left > 0; left -= 1) {
      const widest = Math.max(...this.#widths.filter((_, at) => isText(at)));
      if (widest <= narrowest) return;
      const at = this.#widths.findIndex((width, index) => width === widest && isText(index));
      this.#widths[at] = widest - 1;
    }
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
}

function widthOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1));
}

function padded(text: string, width: number, right: boolean, cells: Ruler): string {
  const space = ' '.repeat(Math.max(0, width - cells(text)));
  return right ? space + text : text + space;
}
