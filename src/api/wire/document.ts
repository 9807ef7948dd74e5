/** Parses the bytes of an answer as JSON, and refuses everything that is not a complete JSON document. */
import { isUtf8 } from 'node:buffer';
import { MirrorError } from '../../domain/errors.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import { refusal } from './error-forms.ts';
import { JsonCursor } from '../../domain/json/json-cursor.ts';

/** A successful answer that is not parsed yet. */
export interface Answered {
  /** The body, expected to be UTF-8 JSON. */
  readonly bytes: Uint8Array;
  readonly stamp: ReadStamp;
  /** The time of the service's Date header, milliseconds since 1970; undefined where there is none. */
  readonly servedAt: number | undefined;
}

/** The offset of the JSON text, after a byte order mark. @throws MirrorError `answer_unreadable` where it is not UTF-8. */
export function startOfText(bytes: Uint8Array): number {
  if (!isUtf8(bytes)) throw new MirrorError('answer_unreadable', 'The answer is not UTF-8.');
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/** Parses any answer. @throws MirrorError `answer_unreadable` where it is empty, cut off, not UTF-8, not JSON or too deeply nested. */
export function parseDocument(bytes: Uint8Array): unknown {
  const start = startOfText(bytes);
  if (start === bytes.length) throw new MirrorError('answer_unreadable', 'The answer is empty.');
  const cursor = new JsonCursor(bytes, start);
  cursor.skip();
  cursor.end();
  return parseJson(Buffer.from(bytes.buffer, bytes.byteOffset + start, bytes.length - start).toString());
}

/** Parses a successful answer. @throws MirrorError the error that it may contain, or `answer_unreadable`. */
export function parseSuccess(bytes: Uint8Array): unknown {
  return unlessRefused(parseDocument(bytes));
}

/** The document, unless it contains an error form: the service sends some errors with status 200. */
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
