/** Headings: bold on a terminal that can and wants it. */
import { styleText } from 'node:util';
import type { Edge } from './edge.ts';

export function heading({ stdout, env }: Pick<Edge, 'stdout' | 'env'>, text: string): string {
  if (!stdout.isTTY || env['NO_COLOR'] || env['TERM'] === 'dumb') return text;
  // Node would look at its own streams and environment instead of ours.
  return styleText('bold', text, { validateStream: false });
}
