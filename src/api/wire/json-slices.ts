/**
 * Finds the records in an answer without parsing them: most rows of a sweep equal the stored text byte for byte, and parsing costs more
 * than everything else.
 */
import { MirrorError } from '../../domain/errors.ts';
import { JsonCursor } from '../../domain/json/json-cursor.ts';

/** The byte range of one record, and its id as written (`7`, `"7"`); undefined where it has none or several. */
export interface RecordSlice {
  readonly start: number;
  readonly end: number;
  readonly id: string | undefined;
}

/** The records at a path, and the byte range of the whole value. */
export interface Slices {
  /** Whether it is an array of records, or one record. */
  readonly array: boolean;
  readonly records: readonly RecordSlice[];
  readonly start: number;
  readonly end: number;
}

/** The most records of one answer. */
const mostRecords = 1_000;

/**
 * The record or records at `path` (member names from the root) in the JSON text that begins at byte `from`; undefined where there are none.
 * What follows the text is not checked. Keys are compared as written: escaped spellings are not found.
 * @throws MirrorError `answer_unreadable` where the text is cut off, too deeply nested, or has the path twice or non-objects among the
 * records; `answer_too_large` beyond a thousand records.
 */
export function sliceRecords(
  bytes: Uint8Array,
  from: number,
  path: readonly string[],
  idKey: string,
): Slices | undefined {
  const cursor = new JsonCursor(bytes, from);
  const idName = Buffer.from(idKey);
  let found: Slices | undefined;

  const record = (): RecordSlice => {
    if (!cursor.onObject())
      throw new MirrorError(
        'answer_unreadable',
        `The answer contains something other than an object in ${path.join('.')}.`,
      );
    const start = cursor.at;
    const ids = cursor.skip(idName);
    const [id] = ids;
    return {
      start,
      end: cursor.at,
      id: id !== undefined && ids.length === 1 ? new JsonCursor(bytes, id).literal() : undefined,
    };
  };

  const collect = (): Slices | undefined => {
    const start = cursor.nextStart();
    const array = cursor.onArray();
    const records: RecordSlice[] = [];
    if (array) {
      cursor.elements(() => {
        if (records.length === mostRecords)
          throw new MirrorError('answer_too_large', `The answer contains more than ${mostRecords} records.`);
        records.push(record());
      });
    } else if (cursor.onObject()) records.push(record());
    else cursor.skip();
    return array || records.length > 0 ? { array, records, start, end: cursor.at } : undefined;
  };

  const descend = ([name, ...rest]: readonly string[]): void => {
    if (!cursor.onObject()) {
      cursor.skip();
      return;
    }
    cursor.members((key) => {
      if (key !== name) cursor.skip();
      else if (rest.length > 0) descend(rest);
      else if (found) throw new MirrorError('answer_unreadable', `The answer contains ${path.join('.')} twice.`);
      else found = collect();
    });
  };

  descend(path);
  return found;
}
