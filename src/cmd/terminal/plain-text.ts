/** Text from outside, made safe for a terminal. */

/** Control characters, and those that turn the direction of what follows: whatever could make a terminal lie. */
const steering = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** The text with every character that could steer a terminal made visible, such as ␊ for a new line. */
export function visible(text: string): string {
  return text.toWellFormed().replace(steering, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '␡' : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** A document as JSON that is the same to every parser, and steers no terminal. */
export function visibleJson(document: object): string {
  return JSON.stringify(document).replace(
    steering,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A text made visible line by line: breaks stay. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}
