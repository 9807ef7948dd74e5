/** Removes members from the text of a JSON object; everything else stays byte for byte. */
import { JsonCursor } from './json-cursor.ts';

interface Member {
  readonly isCut: boolean;
  /** Where its key begins, and where its value ends. */
  readonly start: number;
  readonly end: number;
}

/**
 * The UTF-8 text of an object without its own members of these names, however their keys are escaped; the same bytes where it has none of
 * them.
 * @throws MirrorError `answer_unreadable` where the text is not an object, or is malformed.
 */
export function withoutMembers(bytes: Uint8Array, names: ReadonlySet<string>): Uint8Array {
  const cursor = new JsonCursor(bytes, 0);
  const members: Member[] = [];
  cursor.members((key, start) => {
    cursor.skip();
    members.push({ isCut: names.has(nameOf(key)), start, end: cursor.at });
  });
  if (!members.some(({ isCut }) => isCut)) return bytes;
  const kept: Uint8Array[] = [];
  let from = 0;
  let keptOne = false;
  for (const [index, { isCut, start, end }] of members.entries()) {
    keptOne ||= !isCut;
    if (!isCut) continue;
    // A member is cut with the comma before it; the first ones, with the comma after them.
    const cutFrom = keptOne ? (members[index - 1]?.end ?? start) : start;
    const cutTo = keptOne ? end : (members[index + 1]?.start ?? end);
    if (cutFrom > from) kept.push(bytes.subarray(from, cutFrom));
    from = cutTo;
  }
  return Buffer.concat([...kept, bytes.subarray(from)]);
}

/** The same for a string. */
export function textWithoutMembers(json: string, names: ReadonlySet<string>): string {
  const bytes = Buffer.from(json);
  const left = withoutMembers(bytes, names);
  return left === bytes ? json : Buffer.from(left).toString();
}

/** The key as JSON.parse reads it, without NUL as in the mirror. */
function nameOf(key: string): string {
  const text = Buffer.from(key, 'latin1').toString();
  if (!text.includes('\\')) return text;
  try {
    return (JSON.parse(`"${text}"`) as string).replaceAll('\0', '');
  } catch {
    return text;
  }
}
