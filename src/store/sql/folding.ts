/** How text is compared where people search and sort: without case and accents. Statements know it as the function `folded`. */

/** Letters that no accent can be taken from, as they are written where a keyboard lacks them. */
const written: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ı: 'i',
};
const special = new RegExp(`[${Object.keys(written).join('')}]`, 'g');

export function folded(value: unknown): unknown {
  return typeof value === 'string' ? foldedText(value) : value;
}

export function foldedText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(special, (letter) => written[letter] ?? letter);
}
