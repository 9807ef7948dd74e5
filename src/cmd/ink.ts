/** Colour and weight, where the reader is a terminal that wants them. */
import { styleText } from 'node:util';
import type { Edge, Output } from './edge.ts';

type Style = (text: string) => string;

export interface Ink {
  readonly strong: Style;
  readonly faint: Style;
  readonly good: Style;
  readonly bad: Style;
}

const plain: Style = (text) => text;

/** The ink for a stream: none for files and pipes, for a dumb terminal, and where NO_COLOR is set. */
export function inkFor({ env }: Pick<Edge, 'env'>, stream: Output): Ink {
  if (!stream.isTTY || env['NO_COLOR'] || env['TERM'] === 'dumb')
    return { strong: plain, faint: plain, good: plain, bad: plain };
  return {
    strong: (text) => styleText('bold', text),
    faint: (text) => styleText('dim', text),
    good: (text) => styleText('green', text),
    bad: (text) => styleText('red', text),
  };
}
