/** Where a reader of the change feed goes on: a cursor, `epoch:seq`, or the plain `seq` of a change, which nothing can be held against. */

const cursor = /^([0-9a-f]{16}):(\d{1,15})$/;

/** The parts of a cursor; undefined where the text is none. */
export function cursorParts(text: string): { readonly epoch: string; readonly seq: number } | undefined {
  const [, epoch, seq] = cursor.exec(text) ?? [];
  return epoch === undefined ? undefined : { epoch, seq: Number(seq) };
}

/** Whether a text says where to go on. */
export function isCursor(text: string): boolean {
  return cursorParts(text) !== undefined || /^\d{1,15}$/.test(text);
}
