/** A JSON object without some of its members, which are cut out of its text: all that stays is as it was received. */
import { JsonCursor } from './json-cursor.ts';

interface Member {
  readonly isCut: boolean;
  /** Where its key begins, and where its value ends. */
  readonly start: number;
  readonly end: number;
}

/**
 * The UTF-8 text of an object without its own members of these names, however their keys are spelled; the same bytes where it has none of them.
 * @throws MirrorError `answer_unreadable` where the text is no object, or broken where it is stepped through.
 */
export function withoutMembers(bytes: Uint8Array, names: ReadonlySet<string>): Uint8Array {
  const cursor = new JsonCursor(bytes, 0);
  const members: Member[] = [];
  cursor.members((key, start) => {
    cursor.stepOver();
    members.push({ isCut: names.has(nameOf(key)), start, end: cursor.at });
  });
  if (!members.some(({ isCut }) => isCut)) return bytes;
  const kept: Uint8Array[] = [];
  let from = 0;
  let keptOne = false;
  for (const [index, { isCut, start, end }] of members.entries()) {
    keptOne ||= !isCut;
    if (!isCut) continue;
    // With a member goes the comma before it; with the first ones, the comma behind.
    const cutFrom = keptOne ? (members[index - 1]?.end ?? start) : start;
    const cutTo = keptOne ? end : (members[index + 1]?.start ?? end);
    if (cutFrom > from) kept.push(bytes.subarray(from, cutFrom));
    from = cutTo;
  }
  return Buffer.concat([...kept, bytes.subarray(from)]);
}

/** The same of a text. */
export function textWithoutMembers(json: string, names: ReadonlySet<string>): string {
  const bytes = Buffer.from(json);
  const left = withoutMembers(bytes, names);
  return left === bytes ? json : Buffer.from(left).toString();
}

/** A key as a parser reads it, and as the mirror names it: without NUL. */
function nameOf(key: string): string {
  const text = Buffer.from(key, 'latin1').toString();
  if (!text.includes('\\')) return text;
  try {
    return (JSON.parse(`"${text}"`) as string).replaceAll('\0', '');
  } catch {
    return text;
  }
}
