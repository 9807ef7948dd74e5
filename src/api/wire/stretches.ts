/**
 * Stretches of a page: neighbouring records that are known again by a digest of their bytes, so that what did not change need not be stepped
 * through. The same bytes at a place where a record begins are the same records, whatever stands around them.
 */
import { hash } from 'node:crypto';
import { JsonCursor } from '../../domain/json/json-cursor.ts';
import type { Stretch } from '../../domain/reading.ts';
import type { KnownRecords, RecordSlice } from './json-slices.ts';

/** Records in one stretch at most: all of them are looked at one by one where one changed. */
const longest = 10;

const space = 0x20;
const closeBrace = 0x7d;
const comma = 0x2c;
const closeBracket = 0x5d;

/** Looks for known stretches, in the order in which they stood. */
export class StretchFinder implements KnownRecords {
  readonly #bytes: Uint8Array;
  readonly #stretches: readonly Stretch[];
  #next = 0;

  constructor(bytes: Uint8Array, stretches: readonly Stretch[]) {
    this.#bytes = bytes;
    // Where most are short, because rows came and went, the page is divided anew.
    const records = stretches.reduce((sum, { vendorids }) => sum + vendorids.length, 0);
    this.#stretches = stretches.length > 2 + (2 * records) / longest ? [] : stretches;
  }

  /** The stretch that stands where a record begins; one that was found is not looked for again, nor those before it. */
  at(start: number): Stretch | undefined {
    for (let index = this.#next; index < this.#stretches.length; index += 1) {
      const stretch = this.#stretches[index];
      if (!stretch || !this.#isAt(stretch, start)) continue;
      this.#next = index + 1;
      return stretch;
    }
    return undefined;
  }

  #isAt({ length, digest }: Stretch, start: number): boolean {
    const end = start + length;
    const after = this.#bytes[end];
    // Most that stand elsewhere are told apart without a digest.
    const ends = after === comma || after === closeBracket || (after !== undefined && after <= space);
    if (!ends || this.#bytes[end - 1] !== closeBrace) return false;
    return digestOf(this.#bytes.subarray(start, end)) === digest;
  }
}

/** The records of a stretch, which are found when the first of them is needed. */
export class StretchRecords {
  readonly #bytes: Uint8Array;
  #records: Uint8Array[] | undefined;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  at(index: number): Uint8Array {
    this.#records ??= splitRecords(this.#bytes);
    const record = this.#records[index];
    if (!record) throw new Error(`A stretch of ${this.#records.length} records has no record ${index}.`);
    return record;
  }
}

function splitRecords(bytes: Uint8Array): Uint8Array[] {
  const list = Buffer.concat([Buffer.from('['), bytes, Buffer.from(']')]);
  const cursor = new JsonCursor(list, 0);
  const records: Uint8Array[] = [];
  cursor.elements(() => {
    const start = cursor.nextStart();
    cursor.skip();
    records.push(list.subarray(start, cursor.at));
  });
  return records;
}

/** All records of a page in stretches; `idOf` tells whose record a slice is. */
export function stretchesOf(
  bytes: Uint8Array,
  slices: readonly RecordSlice[],
  idOf: (slice: RecordSlice) => number,
): Stretch[] {
  const stretches: Stretch[] = [];
  let neighbours: RecordSlice[] = [];
  const end = (): void => {
    const [first, last] = [neighbours[0], neighbours.at(-1)];
    if (!first || !last) return;
    const text = bytes.subarray(first.start, last.end);
    stretches.push({ length: text.length, digest: digestOf(text), vendorids: neighbours.map(idOf) });
    neighbours = [];
  };
  for (const slice of slices) {
    if (slice.stretch) {
      end();
      stretches.push(slice.stretch);
    } else if (neighbours.push(slice) === longest) end();
  }
  end();
  return stretches;
}

/** What tells the bytes of records from all others. */
export function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64');
}
