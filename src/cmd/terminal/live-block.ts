/** A block of lines at the end of a terminal's output that is redrawn in place; other output appears above it. */
import { stripVTControlCharacters } from 'node:util';
import { type Output, columnsOf, rowsOf } from '../process/process-context.ts';

/** Where a terminal does not say how high and wide it is. */
const [usualRows, usualColumns] = [24, 80];

const [toEndOfLine, toEndOfScreen] = ['\u001b[K', '\u001b[J'];

export class LiveBlock {
  readonly #stream: Output;
  #drawn: readonly string[] = [];
  #columns = 0;

  constructor(stream: Output) {
    this.#stream = stream;
  }

  /** How many lines have room at once; one is left for the cursor. */
  get room(): number {
    return Math.max(1, rowsOf(this.#stream, usualRows) - 1);
  }

  /** Puts these lines in the place of the last ones; nothing is written where they are the same. None is wider than the terminal. */
  show(lines: readonly string[]): void {
    const shown = lines.slice(0, this.room);
    const isSame = shown.length === this.#drawn.length && shown.every((line, at) => line === this.#drawn[at]);
    if (!isSame || this.#columns !== this.#width()) this.#draw('', shown);
  }

  /** Writes whole lines that stay, and the block again under them. */
  above(text: string): void {
    this.#draw(text, this.#drawn);
  }

  /** Takes the block away. What comes next begins in its place. */
  clear(): void {
    this.#draw('', []);
  }

  /** One write, each line over the old one, so that nothing is empty in between. */
  #draw(above: string, lines: readonly string[]): void {
    const height = this.#height();
    const up = height === 0 ? '' : `\u001b[${height}A`;
    const text = above + lines.map((line) => `${line}\n`).join('');
    this.#stream.write(`\r${up}${text.replaceAll('\n', `${toEndOfLine}\n`)}${toEndOfScreen}`);
    this.#drawn = lines;
    this.#columns = this.#width();
  }

  /** Rows that the block takes now: a terminal that has become narrower has broken its lines. */
  #height(): number {
    const columns = this.#width();
    return this.#drawn.reduce(
      (rows, line) => rows + Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns)),
      0,
    );
  }

  #width(): number {
    return columnsOf(this.#stream, usualColumns);
  }
}
