/** What a terminal shows: supports only the few sequences that the program uses. */
import { stripVTControlCharacters } from 'node:util';

const escape = '\u001b';
const pieces = new RegExp(`${escape}\\[\\d*[A-Za-z]|\\r|\\n|[^${escape}\\r\\n]+`, 'g');
const styles = new RegExp(`${escape}\\[[\\d;]*m`, 'g');

/** The lines on the screen, without styles. @throws Error for a sequence that it does not know. */
export function screenOf(written: string): string[] {
  const lines: string[] = [''];
  let row = 0;
  let isAtStart = true;
  for (const [piece] of written.replace(styles, '').matchAll(pieces)) {
    if (piece === '\n') {
      row += 1;
      lines[row] ??= '';
      isAtStart = true;
    } else if (piece.startsWith(escape)) {
      const does = piece.at(-1);
      if (does === 'A') row -= Number(piece.slice(2, -1));
      else if (does === 'J') lines.splice(row, lines.length, '');
      else if (does === 'K') lines[row] = isAtStart ? '' : lines[row]!;
      else throw new Error(`The screen does not know ${JSON.stringify(piece)}.`);
    } else {
      isAtStart = piece === '\r';
      if (!isAtStart) lines[row] = piece;
    }
  }
  return lines.map((line) => stripVTControlCharacters(line).trimEnd());
}
