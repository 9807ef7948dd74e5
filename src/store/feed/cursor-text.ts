/** Cursors of the change feed as text: `epoch:seq`, or the plain `seq` of a change, which cannot be checked against a history. */

const cursor = /^([0-9a-f]{16}):(\d{1,15})$/;

/** The parts of a cursor; undefined for other text. */
export function cursorParts(text: string): { readonly epoch: string; readonly seq: number } | undefined {
  const [, epoch, seq] = cursor.exec(text) ?? [];
  return epoch === undefined ? undefined : { epoch, seq: Number(seq) };
}

/** Whether a text is a cursor or a plain `seq`. */
export function isCursor(text: string): boolean {
  return cursorParts(text) !== undefined || /^\d{1,15}$/.test(text);
}
