/**
 * Text for people: measured and wrapped by the cells that it takes on a terminal, safe for it, with headings, numbers and amounts.
 *
 * Control and bidirectional characters in text from the service are made visible on terminals and escaped in JSON.
 */
import { Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { styleText } from 'node:util';
import { escaped, steeringCharacters } from '../../domain/steering.ts';
import type { Balance } from '../../domain/vendor.ts';
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

/** How many cells of a terminal a text takes; wide characters take two, combining ones none. */
export type Ruler = (text: string) => number;

/** Characters of one cell each that do not combine: Latin, Greek, Cyrillic, Hebrew without points. */
const plain =
  /^[ -~\u00a1-\u00a8\u00aa-\u00ac\u00af-\u02ff\u0370-\u0377\u037a-\u037f\u0388-\u0482\u048a-\u052f\u05d0-\u05ea–—‘’“”…]*$/;
/** Characters that may combine with the one before. */
const joining = /[\p{Mark}\p{Format}\p{Default_Ignorable_Code_Point}\p{Emoji_Modifier}]/u;

/** At most so many measured words are cached. */
const cacheSize = 20_000;

/** A ruler for a plain text; undefined for others. */
function plainRuler(text: string): Ruler | undefined {
  return plain.test(text) ? ({ length }) => length : undefined;
}

/** A ruler for these texts and all parts of them. Most texts are plain; the package that measures others is loaded only when needed. */
export async function rulerFor(texts: Iterable<string>): Promise<Ruler> {
  for (const text of texts) if (!plain.test(text)) return anyRuler();
  return ({ length }) => length;
}

const measured = new Map<string, number>();

async function anyRuler(): Promise<Ruler> {
  const { default: stringWidth } = await import('string-width');
  const wordWidth = (word: string): number => {
    const known = measured.get(word);
    if (known !== undefined) return known;
    const width = plain.test(word) ? word.length : stringWidth(word);
    if (measured.size >= cacheSize) measured.clear();
    measured.set(word, width);
    return width;
  };
  return (text) => {
    if (plain.test(text)) return text.length;
    // Words repeat, in names too, so they are cached; a mark at the beginning of a word would combine with the space before it.
    const words = text.split(' ');
    if (words.some((word) => joining.test(word.charAt(0)))) return stringWidth(text);
    return words.reduce((sum, word) => sum + wordWidth(word), words.length - 1);
  };
}

/** Where a word may be broken that is too long for a line: in an address or a path, after a slash. */
const breakable = /(?<=[^/]\/)(?!\/)/;

/** The cells of the widest part of a text that should not be broken: a word, or a part of an address. */
export function widestWord(text: string, cells: Ruler): number {
  return Math.max(...text.split(' ').flatMap((word) => word.split(breakable).map(cells)));
}

/** The text in lines of at most `width` cells, broken between words; a word that is wider is broken after a slash, else between characters. */
export function wrapped(text: string, width: number, cells: Ruler): string[] {
  if (cells(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const { part, before } of parts(text, width, cells)) {
    const longer = line === '' ? part : line + before + part;
    if (line !== '' && cells(longer) > width) {
      lines.push(line);
      line = part;
    } else line = longer;
  }
  return [...lines, line];
}

interface Part {
  readonly part: string;
  /** What stands before it on the same line. */
  readonly before: '' | ' ';
}

function parts(text: string, width: number, cells: Ruler): Part[] {
  return wordsOf(text, width, cells).flatMap((word) => {
    const broken = cells(word) <= width ? [word] : word.split(breakable).flatMap((part) => pieces(part, width, cells));
    return broken.map((part, at): Part => ({ part, before: at === 0 ? ' ' : '' }));
  });
}

/** The words of a text; a command in backquotes is one word if it fits a line, so that it can be copied. */
function wordsOf(text: string, width: number, cells: Ruler): string[] {
  const words = text.match(/(?:`[^`]*`|[^ ])+/g) ?? [];
  return words.flatMap((word) => (cells(word) <= width ? [word] : word.split(' ')));
}

/** A word in pieces of at most `width` cells; a character that is wider stands alone. */
function pieces(word: string, width: number, cells: Ruler): string[] {
  if (cells(word) <= width) return [word];
  const found: string[] = [];
  let piece = '';
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    if (piece !== '' && cells(piece + segment) > width) {
      found.push(piece);
      piece = '';
    }
    piece += segment;
  }
  return [...found, piece];
}

/** The text with every character that could steer a terminal made visible, such as ␊ for a new line. */
export function visible(text: string): string {
  return text.toWellFormed().replace(steeringCharacters, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '␡' : escaped(character);
  });
}

/** A text made visible line by line: breaks stay. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** What is written to it goes on to a terminal, made visible line by line. */
export function visibleOn(terminal: Output): Transform {
  const decoder = new StringDecoder('utf8');
  let carriageReturn = '';
  const shown = (text: string): string => {
    // One at the end of a line belongs to the break, and may be the last of a piece.
    const whole = carriageReturn + text;
    carriageReturn = whole.endsWith('\r') ? '\r' : '';
    return visibleLines(whole.slice(0, whole.length - carriageReturn.length).replaceAll('\r\n', '\n'));
  };
  const output = new Transform({
    transform: (chunk: Buffer, _encoding, done) => done(null, shown(decoder.write(chunk))),
    flush: (done) => done(null, shown(decoder.end()) + visible(carriageReturn)),
  });
  output.pipe(terminal, { end: false });
  return output;
}

/** Headings: bold on a terminal that supports it, unless NO_COLOR is set. */
export function heading({ stdout, env }: Pick<ProcessContext, 'stdout' | 'env'>, text: string): string {
  // Node would look at its own streams and environment instead of ours.
  return mayStyle(stdout, env) ? styleText('bold', text, { validateStream: false }) : text;
}

/** Whether the stream is a terminal on which styles are wanted. */
export function mayStyle(stream: Output, env: ProcessContext['env']): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** A vendor's amounts: `1200.00 USD; 5.00 EUR`, exactly as the service wrote them; null where there are none. */
export function amounts(balances: readonly Balance[]): string | null {
  return balances.length === 0 ? null : balances.map(({ amount, code }) => `${amount} ${code}`).join('; ');
}
