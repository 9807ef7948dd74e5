/** JSON as Python's `json.dumps` writes it: the service's sample signs that form. */
import type { Pairs } from './form.ts';

/** Escapes that JSON leaves open. */
export interface Escaping {
  /** Characters outside space to tilde as `\uXXXX` for each UTF-16 unit; otherwise unescaped. */
  readonly ascii: boolean;
  /** `/` as `\/`. */
  readonly slash: boolean;
}

/** An object of text values, in the given order, with a space after each colon and comma. */
export function pythonJson(pairs: Pairs, { ascii, slash }: Escaping): string {
  const quote = (text: string): string => {
    const json = JSON.stringify(text);
    const written = ascii ? json.replace(/[^ -~]/g, escapeUnit) : json;
    return slash ? written.replaceAll('/', '\\/') : written;
  };
  return `{${pairs.map(([name, value]) => `${quote(name)}: ${quote(value)}`).join(', ')}}`;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
