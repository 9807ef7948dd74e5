/**
 * A form body as ordered pairs, from the raw bytes (WHATWG URL, urlencoded parsing): the signature is over the values in the order in
 * which they came.
 */

export type Pairs = readonly (readonly [name: string, value: string])[];

/** Strict: what is not UTF-8 is refused; a byte order mark is a character like others. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const escaped = /[%+\x80-\xff]/;

/** The pairs of a body in order of arrival; undefined where a name or value is not UTF-8. An escape that is none stands for itself. */
export function parseForm(body: Uint8Array): Pairs | undefined {
  // One character a byte, until the escapes are undone.
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  try {
    return bytes
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => {
        const equals = pair.indexOf('=');
        return equals < 0 ? [decode(pair), ''] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
      });
  } catch {
    return undefined;
  }
}

function decode(text: string): string {
  // Most names and values are plain ASCII, and stand for themselves.
  if (!escaped.test(text)) return text;
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return utf8.decode(Buffer.from(bytes, 'latin1'));
}
