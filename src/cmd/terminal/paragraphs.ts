/** Running text, broken between words where the terminal ends; as it is where there is no terminal. */
import { rulerFor, wrapped } from './cells.ts';
import type { ProcessContext } from '../process/process-context.ts';

type Terminal = Pick<ProcessContext, 'stdout'>;

/** Less room than this is not worth breaking lines for, in cells. */
const narrowest = 20;

/** A text after `lead`; the lines that follow begin below the text. */
export async function paragraph({ stdout }: Terminal, lead: string, text: string): Promise<string> {
  const cells = await rulerFor([lead, text]);
  const margin = cells(lead);
  const space = stdout.isTTY && stdout.columns ? Math.max(narrowest, stdout.columns - margin) : Infinity;
  return lead + wrapped(text, space, cells).join(`\n${' '.repeat(margin)}`);
}

/** Names and what is said of each, in two columns. */
export async function facts(
  context: Terminal,
  entries: readonly (readonly [name: string, text: string])[],
): Promise<string> {
  const widest = Math.max(...entries.map(([name]) => name.length));
  const lines = entries.map(([name, text]) => paragraph(context, `  ${name.padEnd(widest)}  `, text));
  return (await Promise.all(lines)).join('\n');
}
