/** The size of a terminal. One without a size, as in some containers and under `script`, says 0. */
import type { Output } from './process-context.ts';

/** Characters in a line, or `otherwise` where the terminal does not say. */
export function columnsOf({ columns }: Output, otherwise: number): number {
  return columns === undefined || columns === 0 ? otherwise : columns;
}

/** Lines on the screen, or `otherwise` where the terminal does not say. */
export function rowsOf({ rows }: Output, otherwise: number): number {
  return rows === undefined || rows === 0 ? otherwise : rows;
}
