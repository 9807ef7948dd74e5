/** A cursor over the bytes of a JSON text: steps into objects and arrays, steps over values, and builds nothing. */
import { MirrorError } from '../../errors.ts';

/** Objects and arrays within each other at most. Deeper texts would parse, and overflow the stack of whoever walks them. */
export const deepest = 32;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Only structure is checked: brackets in number, strings closed, members and elements separated where they are stepped into.
 * What is stepped over may still be no JSON inside, so whoever uses a stepped-over value parses it first.
 */
export class JsonCursor {
  readonly #bytes: Uint8Array;
  #at: number;
  #depth = 0;

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.#at = start;
  }

  /** Where the cursor stands. */
  get at(): number {
    return this.#at;
  }

  onObject(): boolean {
    return this.#next() === openBrace;
  }

  onArray(): boolean {
    return this.#next() === openBracket;
  }

  /** Moves to the next byte that is no white space: the start of a value, where one is due. */
  settle(): number {
    this.#next();
    return this.#at;
  }

  /** Steps through the members of the object here. `visit` gets each key's bytes and must step over or into its value. */
  members(visit: (keyStart: number, keyEnd: number) => void): void {
    this.#enter(openBrace);
    for (let first = true; this.#next() !== closeBrace; first = false) {
      if (!first) this.#take(comma);
      if (this.#next() !== quote) throw this.#broken();
      const keyStart = this.#at + 1;
      this.#stepOverString();
      const keyEnd = this.#at - 1;
      this.#take(colon);
      visit(keyStart, keyEnd);
    }
    this.#leave();
  }

  /** Steps through the elements of the array here. `visit` must step over or into each. */
  elements(visit: () => void): void {
    this.#enter(openBracket);
    for (let first = true; this.#next() !== closeBracket; first = false) {
      if (!first) this.#take(comma);
      visit();
    }
    this.#leave();
  }

  /** Steps over the value here, whatever it is. */
  stepOver(): void {
    const first = this.#next();
    if (first === quote) this.#stepOverString();
    else if (first === openBrace || first === openBracket) this.#stepOverNest();
    else this.#stepOverWord();
  }

  /** Throws unless nothing but white space is left. */
  end(): void {
    if (this.#next() !== undefined) throw this.#broken();
  }

  #next(): number | undefined {
    const bytes = this.#bytes;
    let at = this.#at;
    let byte = bytes[at];
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = bytes[++at];
    this.#at = at;
    return byte;
  }

  #take(byte: number): void {
    if (this.#next() !== byte) throw this.#broken();
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

  #stepOverString(): void {
    const bytes = this.#bytes;
    let at = this.#at + 1;
    for (let byte = bytes[at]; byte !== quote; byte = bytes[at]) {
      if (byte === undefined) throw this.#broken();
      at += byte === backslash ? 2 : 1;
    }
    this.#at = at + 1;
  }

  #stepOverNest(): void {
    const bytes = this.#bytes;
    const room = deepest - this.#depth;
    let depth = 0;
    do {
      const byte = bytes[this.#at];
      if (byte === quote) {
        this.#stepOverString();
        continue;
      }
      if (byte === openBrace || byte === openBracket) depth += 1;
      else if (byte === closeBrace || byte === closeBracket) depth -= 1;
      else if (byte === undefined) throw this.#broken();
      if (depth > room) throw tooDeep();
      this.#at += 1;
    } while (depth > 0);
  }

  #stepOverWord(): void {
    const start = this.#at;
    while (isWordByte(this.#bytes[this.#at])) this.#at += 1;
    if (this.#at === start) throw this.#broken();
  }

  #broken(): MirrorError {
    const where = this.#at >= this.#bytes.length ? 'it ends too early' : `at byte ${this.#at}`;
    return new MirrorError('answer_unreadable', `The answer is no whole JSON: ${where}.`);
  }
}

/** Digits, letters, signs and dots: what numbers, true, false and null are made of. */
function isWordByte(byte: number | undefined): boolean {
  return (
    byte !== undefined &&
    ((byte >= 0x30 && byte <= 0x39) ||
      (byte >= 0x61 && byte <= 0x7a) ||
      (byte >= 0x41 && byte <= 0x5a) ||
      byte === 0x2b ||
      byte === 0x2d ||
      byte === 0x2e)
  );
}

function tooDeep(): MirrorError {
  return new MirrorError(
    'answer_unreadable',
    `The answer nests more than ${deepest} objects and arrays in each other.`,
  );
}
