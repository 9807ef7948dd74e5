/** Text, measured and cut by the cells that it takes on a terminal. */

/** How many cells of a terminal a text takes; wide characters take two, combining ones none. */
export type Ruler = (text: string) => number;

const plain = /^[ -~–]*$/;

/** What measures these texts, and all parts of them. Most are plain; what measures the others takes a while to load. */
export async function rulerFor(texts: Iterable<string>): Promise<Ruler> {
  if ([...texts].every((text) => plain.test(text))) return ({ length }) => length;
  const { default: stringWidth } = await import('string-width');
  return (text) => (plain.test(text) ? text.length : stringWidth(text));
}

/** The text, cut to `width` cells with an ellipsis where it is longer. */
export function cut(text: string, width: number, cells: Ruler): string {
  if (cells(text) <= width) return text;
  let kept = '';
  let taken = 1;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    taken += cells(segment);
    if (taken > width) break;
    kept += segment;
  }
  return `${kept}…`;
}
