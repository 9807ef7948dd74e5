/**
 * Characters that steer what shows a text: controls, and those that turn the direction of what follows. Text of the service may hold them, and
 * a terminal or a page would show something else than is there.
 */

const steering = '\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069';

/** All of them, line breaks too. */
export const steeringCharacters = new RegExp(`[\\u0000-\\u001f${steering}]`, 'g');

/** Those that JSON does not escape by itself. */
const inJson = new RegExp(`[${steering}]`, 'g');

/** A document as JSON that is the same to every parser, and steers nothing. @param indent spaces; on one line where it is left out */
export function jsonText(document: unknown, indent?: number): string {
  return JSON.stringify(document, null, indent).replace(inJson, escaped);
}

/** As JSON and JavaScript write it. */
export function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
