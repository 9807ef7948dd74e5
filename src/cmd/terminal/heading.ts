/** Headings: bold on a terminal that can and wants it. */
import { styleText } from 'node:util';
import type { ProcessContext, Output } from '../process/process-context.ts';

export function heading({ stdout, env }: Pick<ProcessContext, 'stdout' | 'env'>, text: string): string {
  // Node would look at its own streams and environment instead of ours.
  return mayStyle(stdout, env) ? styleText('bold', text, { validateStream: false }) : text;
}

/** Whether there is a terminal at the end of the stream, and nobody minds colours on it. */
export function mayStyle(stream: Output, env: ProcessContext['env']): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}
