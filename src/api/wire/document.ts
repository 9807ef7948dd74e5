/** From the bytes of an answer to a JSON document, with everything refused that is not wholly one. */
import { isUtf8 } from 'node:buffer';
import { MirrorError } from '../../domain/errors.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import { refusal } from './error-forms.ts';
import { JsonCursor } from '../../domain/json/json-cursor.ts';

/** An answer of success on its way to being read. */
export interface Answered {
  /** UTF-8 JSON, not yet looked at. */
  readonly bytes: Uint8Array;
  readonly stamp: ReadStamp;
  /** The service's clock when it answered, milliseconds since 1970; undefined where it does not say. */
  readonly servedAt: number | undefined;
}

/** Where the JSON of an answer begins: past a byte order mark. */
export function startOfText(bytes: Uint8Array): number {
  if (!isUtf8(bytes)) throw new MirrorError('answer_unreadable', 'The answer is not UTF-8.');
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/**
 * The document of an answer, of any form.
 * @throws MirrorError `answer_unreadable` where it is empty, cut, not UTF-8, not JSON or too deep.
 */
export function parseDocument(bytes: Uint8Array): unknown {
  const start = startOfText(bytes);
  if (start === bytes.length) throw new MirrorError('answer_unreadable', 'The answer is empty.');
  const cursor = new JsonCursor(bytes, start);
  cursor.stepOver();
  cursor.end();
  return parseJson(Buffer.from(bytes.buffer, bytes.byteOffset + start, bytes.length - start).toString());
}

/** The document of an answer of success. @throws MirrorError the refusal that hides in it, or `answer_unreadable`. */
export function parseSuccess(bytes: Uint8Array): unknown {
  return unlessRefused(parseDocument(bytes));
}

/** The document, unless it holds one of the error forms: with status 200 too, errors count before results. */
export function unlessRefused(document: unknown): unknown {
  const refused = refusal(200, document);
  if (refused) throw refused;
  return document;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MirrorError('answer_unreadable', 'The answer is not JSON.');
  }
}
