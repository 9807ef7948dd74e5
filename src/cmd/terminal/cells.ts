/** Text, measured and broken by the cells that it takes on a terminal. */

/** How many cells of a terminal a text takes; wide characters take two, combining ones none. */
export type Ruler = (text: string) => number;

/** Letters, figures and signs of one cell each, that join with nothing: Latin, Greek, Cyrillic, Hebrew without points. */
const plain =
  /^[ -~\u00a1-\u00a8\u00aa-\u00ac\u00af-\u02ff\u0370-\u0377\u037a-\u037f\u0388-\u0482\u048a-\u052f\u05d0-\u05ea–—‘’“”…]*$/;
/** What may join with a character before it. */
const joining = /[\p{Mark}\p{Format}\p{Default_Ignorable_Code_Point}\p{Emoji_Modifier}]/u;

/** Words that were measured lately, at most. */
const mostKept = 20_000;

/** What measures these texts, and all parts of them. Most are plain; what measures the others takes a while to load. */
export async function rulerFor(texts: Iterable<string>): Promise<Ruler> {
  for (const text of texts) if (!plain.test(text)) return anyRuler();
  return ({ length }) => length;
}

const kept = new Map<string, number>();

async function anyRuler(): Promise<Ruler> {
  const { default: stringWidth } = await import('string-width');
  const wordWidth = (word: string): number => {
    const known = kept.get(word);
    if (known !== undefined) return known;
    const width = plain.test(word) ? word.length : stringWidth(word);
    if (kept.size >= mostKept) kept.clear();
    kept.set(word, width);
    return width;
  };
  return (text) => {
    if (plain.test(text)) return text.length;
    // Words come again and again, in names too; a mark at the beginning of one would join with the space before it.
    const words = text.split(' ');
    if (words.some((word) => joining.test(word.charAt(0)))) return stringWidth(text);
    return words.reduce((sum, word) => sum + wordWidth(word), words.length - 1);
  };
}

/** The text in lines of at most `width` cells, broken between words; a word that is wider is broken between characters. */
export function wrapped(text: string, width: number, cells: Ruler): string[] {
  if (cells(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((one) => pieces(one, width, cells))) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (cells(longer) <= width) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
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
