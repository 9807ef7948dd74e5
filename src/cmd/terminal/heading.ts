/** Headings: bold on a terminal that supports it, unless NO_COLOR is set. */
import { styleText } from 'node:util';
import type { ProcessContext, Output } from '../process/process-context.ts';

export function heading({ stdout, env }: Pick<ProcessContext, 'stdout' | 'env'>, text: string): string {
  // Node would look at its own streams and environment instead of ours.
  return mayStyle(stdout, env) ? styleText('bold', text, { validateStream: false }) : text;
}

/** Whether the stream is a terminal on which styles are wanted. */
export function mayStyle(stream: Output, env: ProcessContext['env']): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}
