/** How text is compared where people search and sort: without case and accents. Statements know it as the function `folded`. */

export function folded(value: unknown): unknown {
  return typeof value === 'string' ? foldedText(value) : value;
}

export function foldedText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase();
}
