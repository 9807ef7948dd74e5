/** Text, measured and cut by the cells that it takes on a terminal. */
import stringWidth from 'string-width';

/** How many cells of a terminal the text takes; wide characters take two, combining ones none. */
export function cells(text: string): number {
  // Most text is plain, and measuring the rest is slow.
  return /^[ -~–]*$/.test(text) ? text.length : stringWidth(text);
}

const graphemes = new Intl.Segmenter();

/** The text, cut to `width` cells with an ellipsis where it is longer. */
export function cut(text: string, width: number): string {
  if (cells(text) <= width) return text;
  let kept = '';
  let taken = 1;
  for (const { segment } of graphemes.segment(text)) {
    taken += cells(segment);
    if (taken > width) break;
    kept += segment;
  }
  return `${kept}…`;
}
