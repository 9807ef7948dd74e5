/**
 * Finds records in the bytes of an answer without parsing them: most rows of a sweep equal what the mirror holds to the byte, and
 * parsing them only to see that costs more than all the rest of a sweep.
 */
import { MirrorError } from '../../errors.ts';
import { JsonCursor } from './json-cursor.ts';

/** Where one record stands in the bytes, and the literal of its id (`7`, `"7"`); undefined where it has none, or more than one. */
export interface RecordSlice {
  readonly start: number;
  readonly end: number;
  readonly id: string | undefined;
}

export interface Slices {
  /** Whether an array of records stands there, or one record. */
  readonly array: boolean;
  readonly records: readonly RecordSlice[];
  /** The value at the path: everything of the answer that is not the envelope. */
  readonly start: number;
  readonly end: number;
}

/** Records of one answer at most. */
const mostRecords = 1_000;

/**
 * The record or records at `path` (member names from the root) of the JSON text that begins at byte `from`; undefined where the path
 * leads to neither. Keys are compared as bytes: a key spelled with escapes is not found.
 * @throws MirrorError `answer_unreadable` where the text is cut, too deep, holds the path twice, or something else among its records;
 * `answer_too_large` past a thousand records.
 */
export function sliceRecords(
  bytes: Uint8Array,
  from: number,
  path: readonly string[],
  idKey: string,
): Slices | undefined {
  const cursor = new JsonCursor(bytes, from);
  const names = path.map((name) => Buffer.from(name));
  const idName = Buffer.from(idKey);
  let found: Slices | undefined;

  const record = (): RecordSlice => {
    const start = cursor.settle();
    if (!cursor.onObject())
      throw unreadable(`The answer holds something other than an object among its ${path.at(-1) ?? ''}.`);
    let id: string | undefined;
    let ids = 0;
    cursor.members((keyStart, keyEnd) => {
      const isId = equal(bytes, keyStart, keyEnd, idName);
      const at = isId ? cursor.settle() : 0;
      cursor.stepOver();
      if (!isId) return;
      ids += 1;
      id = latin1(bytes, at, cursor.at);
    });
    return { start, end: cursor.at, id: ids === 1 ? id : undefined };
  };

  const collect = (): Slices | undefined => {
    const start = cursor.settle();
    const array = cursor.onArray();
    const records: RecordSlice[] = [];
    if (array) {
      cursor.elements(() => {
        if (records.length === mostRecords)
          throw new MirrorError('answer_too_large', `The answer holds more than ${mostRecords} records.`);
        records.push(record());
      });
    } else if (cursor.onObject()) records.push(record());
    else cursor.stepOver();
    return array || records.length > 0 ? { array, records, start, end: cursor.at } : undefined;
  };

  const descend = (level: number): void => {
    if (!cursor.onObject()) {
      cursor.stepOver();
      return;
    }
    cursor.members((keyStart, keyEnd) => {
      const name = names[level];
      if (!name || !equal(bytes, keyStart, keyEnd, name)) cursor.stepOver();
      else if (level < names.length - 1) descend(level + 1);
      else if (found) throw unreadable(`The answer holds ${path.join('.')} twice.`);
      else found = collect();
    });
  };

  descend(0);
  cursor.end();
  return found;
}

function equal(bytes: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  if (end - start !== name.length) return false;
  for (let index = 0; index < name.length; index += 1) if (bytes[start + index] !== name[index]) return false;
  return true;
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}

function unreadable(message: string): MirrorError {
  return new MirrorError('answer_unreadable', message);
}
