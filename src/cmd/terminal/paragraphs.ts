/** Text for people, wrapped between words at the end of the terminal's line; unchanged where there is no terminal. */
import { plainRuler, rulerFor, widestWord, wrapped, type Ruler } from './cells.ts';
import type { Output, ProcessContext } from '../process/process-context.ts';

type Terminal = Pick<ProcessContext, 'stdout'>;

/** In less room than this, in cells, sentences are hard to read. */
const narrowest = 20;

/** A text after `lead`; further lines begin below the text. If too little room is left beside `lead`, the text stands below it. */
export async function paragraph({ stdout }: Terminal, lead: string, text: string): Promise<string> {
  const { isTTY, columns } = stdout;
  if (!isTTY || !columns) return lead + text;
  const cells = await rulerFor([lead, text]);
  const below = indentOf(lead) + 2;
  const margin = isBeside(lead, text, columns, cells) ? cells(lead) : below;
  const start = margin === below && lead.trim() !== '' ? `${lead.trimEnd()}\n${' '.repeat(margin)}` : lead;
  return start + wrapped(text, Math.max(1, columns - margin), cells).join(`\n${' '.repeat(margin)}`);
}

/** Whether a text may stand beside its lead: all of it, or in lines that are not too short. */
function isBeside(lead: string, text: string, columns: number, cells: Ruler): boolean {
  const room = columns - cells(lead);
  if (lead.trim() === '' || cells(text) <= room) return true;
  const isOneLineBelow = cells(text) <= columns - indentOf(lead) - 2;
  if (isOneLineBelow && room < columns * (2 / 3)) return false;
  return room >= Math.max(narrowest, widestWord(text, cells));
}

/** Names, each with its text, in two columns. */
export async function facts(
  context: Terminal,
  entries: readonly (readonly [name: string, text: string])[],
): Promise<string> {
  const widest = Math.max(...entries.map(([name]) => name.length));
  const lines = entries.map(([name, text]) => paragraph(context, `  ${name.padEnd(widest)}  `, text));
  return (await Promise.all(lines)).join('\n');
}

/**
 * The lines of a text, each wrapped under its own indentation; a line of one word stays whole, so that it can be copied. Only plain text:
 * what measures others takes a while to load.
 */
export function wrappedLines({ isTTY, columns }: Output, text: string): string {
  if (!isTTY || !columns) return text;
  return text
    .split('\n')
    .map((line) => {
      const cells = plainRuler(line);
      const indent = ' '.repeat(indentOf(line));
      if (!cells || cells(line) <= columns || !line.trim().includes(' ')) return line;
      const lines = wrapped(line.trimStart(), Math.max(1, columns - indent.length), cells);
      return lines.map((part) => indent + part).join('\n');
    })
    .join('\n');
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
