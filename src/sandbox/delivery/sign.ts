/** Signs what is delivered. */
import { createHmac } from 'node:crypto';
import type { World } from '../core/worlds.ts';

/** Names and values in the order in which they are sent. */
export type Parameters = readonly (readonly [name: string, value: string])[];

/** The base64 HMAC-SHA256 of the parameters as Python's `json.dumps` writes them, keyed with the verifier. */
export function sign(parameters: Parameters, verifier: string, world: World): string {
  const ordered = world.keyOrder === 'sorted' ? [...parameters].sort(([a], [b]) => (a < b ? -1 : 1)) : parameters;
  return createHmac('sha256', verifier).update(pythonJson(ordered, world.escaping)).digest('base64');
}

function pythonJson(parameters: Parameters, escaping: World['escaping']): string {
  const quote = (text: string): string => (escaping === 'ascii' ? asciiQuote(text) : JSON.stringify(text));
  return `{${parameters.map(([name, value]) => `${quote(name)}: ${quote(value)}`).join(', ')}}`;
}

/** Python escapes everything outside of space to tilde, one `\uXXXX` for each UTF-16 unit. */
function asciiQuote(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
