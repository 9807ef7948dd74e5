/**
 * JSON: a cursor over its bytes that skips values without building any, members cut out of a text that stays otherwise as it is, and what a
 * parsed value is.
 *
 * Excluded fields are cut out of each record's text with it, where an answer is parsed, and no other code sees them: so a page that shows
 * nothing new can still be recognised by comparing bytes, and no part of the program can leak a field that it never had.
 */
import { MirrorError } from './errors.ts';

/** The deepest nesting that is accepted. Deeper texts would parse, but overflow the stack of code that walks them. */
const deepest = 32;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** What a byte outside strings means where only brackets are counted. */
const [nothing, text, opening, closing, afterKey] = [0, 1, 2, 3, 4];
const meanings = new Uint8Array(256).fill(nothing);
meanings[quote] = text;
meanings[openBrace] = meanings[openBracket] = opening;
meanings[closeBrace] = meanings[closeBracket] = closing;
meanings[colon] = afterKey;

const nowhere: readonly number[] = [];

/**
 * Only the structure is checked: balanced brackets, closed strings, separators where it enters. A skipped value may still be invalid JSON
 * inside, so it must be parsed before it is used.
 */
export class JsonCursor {
  readonly #bytes: Uint8Array;
  #at: number;
  #depth = 0;
  #skippedMembers = 0;

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.#at = start;
  }

  /** The byte offset of the cursor; after a skip, the end of the value. */
  get at(): number {
    return this.#at;
  }

  /** Members of all objects in the value that was skipped last, where that was an object or an array. */
  get skippedMembers(): number {
    return this.#skippedMembers;
  }

  /** Skips white space. @returns the byte offset of the next value. */
  nextStart(): number {
    this.#next();
    return this.#at;
  }

  onObject(): boolean {
    return this.#next() === openBrace;
  }

  onArray(): boolean {
    return this.#next() === openBracket;
  }

  /**
   * Steps through the members of the object here. `visit` gets each key (one character for each byte) and the offset of its quote, and must
   * skip or enter the value.
   */
  members(visit: (key: string, start: number) => void): void {
    this.#enter(openBrace);
    for (let first = true; this.#next() !== closeBrace; first = false) {
      if (!first) this.#take(comma);
      if (this.#next() !== quote) throw this.#malformed();
      const start = this.#at;
      const key = this.literal().slice(1, -1);
      this.#take(colon);
      visit(key, start);
    }
    this.#leave();
  }

  /** Steps through the elements of the array here. `visit` must skip or enter each. */
  elements(visit: () => void): void {
    this.#enter(openBracket);
    for (let first = true; this.#next() !== closeBracket; first = false) {
      if (!first) this.#take(comma);
      visit();
    }
    this.#leave();
  }

  /** Skips the value here. @returns its bytes, one character for each. */
  literal(): string {
    const start = this.nextStart();
    this.skip();
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + start, this.#at - start).toString('latin1');
  }

  /** Skips the value here. @returns for an object, the offsets of the values of its own members named `name`, two at most; otherwise nothing. */
  skip(name?: Uint8Array): readonly number[] {
    const first = this.#next();
    if (first === openBrace || first === openBracket) return this.#skipNested(name);
    if (first === quote) this.#skipString();
    else this.#skipLiteral();
    return nowhere;
  }

  /** Throws unless nothing but white space is left. */
  end(): void {
    if (this.#next() !== undefined) throw this.#malformed();
  }

  #next(): number | undefined {
    let byte = this.#bytes[this.#at];
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = this.#bytes[++this.#at];
    return byte;
  }

  #take(byte: number): void {
    if (this.#next() !== byte) throw this.#malformed();
    this.#at += 1;
  }

  #enter(bracket: number): void {
    this.#take(bracket);
    this.#depth += 1;
    if (this.#depth > deepest) throw tooDeep();
  }

  #leave(): void {
    this.#at += 1;
    this.#depth -= 1;
  }

  #skipString(): void {
    const end = endOfString(this.#bytes, this.#at + 1);
    if (end < 0) throw this.#truncated();
    this.#at = end + 1;
  }

  #skipLiteral(): void {
    const start = this.#at;
    while (isOfLiteral(this.#bytes[this.#at])) this.#at += 1;
    if (this.#at === start) throw this.#malformed();
  }

  /** The hot loop of a sweep: every byte of its rows passes here once, so it keeps to local variables. */
  #skipNested(name: Uint8Array | undefined): readonly number[] {
    const bytes = this.#bytes;
    const levelsLeft = deepest - this.#depth;
    let found = nowhere;
    let members = 0;
    let depth = 0;
    let keyStart = 0;
    let at = this.#at;
    do {
      if (at >= bytes.length) throw this.#truncated();
      const meaning = meanings[bytes[at++] ?? 0];
      if (meaning === nothing) continue;
      if (meaning === text) {
        keyStart = at;
        at = endOfString(bytes, at) + 1;
        if (at === 0) throw this.#truncated();
      } else if (meaning === opening) {
        depth += 1;
        if (depth > levelsLeft) throw tooDeep();
      } else if (meaning === closing) depth -= 1;
      else {
        members += 1;
        // Of more than two, two are as good as all.
        if (depth === 1 && found.length < 2 && name && isNamed(bytes, keyStart, name)) found = [...found, at];
      }
    } while (depth > 0);
    this.#at = at;
    this.#skippedMembers = members;
    return found;
  }

  #truncated(): MirrorError {
    return new MirrorError('answer_unreadable', 'The answer is not complete JSON: it ends too early.', {
      remedy: 'It was cut off on its way; try again later. If it is each time, lower service.paging.perPage.',
    });
  }

  #malformed(): MirrorError {
    if (this.#at >= this.#bytes.length) return this.#truncated();
    return new MirrorError('answer_unreadable', `The answer is not JSON: byte ${this.#at} is unexpected.`);
  }
}

/** The offset of the closing quote of the string whose contents begin at `at`; -1 where there is none. */
function endOfString(bytes: Uint8Array, at: number): number {
  for (let byte = bytes[at]; byte !== quote; byte = bytes[at]) {
    if (byte === undefined) return -1;
    at += byte === backslash ? 2 : 1;
  }
  return at;
}

function isNamed(bytes: Uint8Array, start: number, name: Uint8Array): boolean {
  for (let index = 0; index < name.length; index += 1) if (bytes[start + index] !== name[index]) return false;
  return bytes[start + name.length] === quote;
}

/** Digits, letters, signs and the dot: what numbers, true, false and null are made of. */
const ofLiterals = new Set(Buffer.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+.-'));

function isOfLiteral(byte: number | undefined): boolean {
  return byte !== undefined && ofLiterals.has(byte);
}

function tooDeep(): MirrorError {
  return new MirrorError('answer_unreadable', `The answer nests objects and arrays more than ${deepest} levels deep.`, {
    remedy: 'Report it to the service: no record of it is that deep.',
  });
}

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

/** Whether a value, such as one of JSON or YAML, is a map of keys to values. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
