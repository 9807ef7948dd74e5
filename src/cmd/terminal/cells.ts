/** Measures and wraps text by the cells that it takes on a terminal. */

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
export function plainRuler(text: string): Ruler | undefined {
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
