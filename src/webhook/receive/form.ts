/** Parses a form body (WHATWG URL, urlencoded) into ordered pairs, because the signature depends on the order of the values. */

export type Pairs = readonly (readonly [name: string, value: string])[];

/** Strict: invalid UTF-8 throws; a byte order mark is kept as a character. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const escaped = /[%+\x80-\xff]/;

/** The pairs of a body in order; undefined where a name or value is not UTF-8. An invalid escape is kept as it is. */
export function parseForm(body: Uint8Array): Pairs | undefined {
  // One character for each byte, until escapes are decoded.
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
  // Most names and values are plain ASCII and need no decoding.
  if (!escaped.test(text)) return text;
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return utf8.decode(Buffer.from(bytes, 'latin1'));
}
