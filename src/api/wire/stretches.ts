/**
 * Stretches of a page: neighbouring records that are recognised by a digest of their bytes, so that unchanged ones need not be parsed. The same
 * bytes where a record begins are the same records, whatever surrounds them.
 */
import { hash } from 'node:crypto';
import { JsonCursor } from '../../domain/json/json-cursor.ts';
import type { Stretch } from '../../domain/reading.ts';
import type { KnownRecords, RecordSlice } from './json-slices.ts';

/** The most records of one stretch: where one changed, all of them are parsed. */
const longest = 10;

const space = 0x20;
const closeBrace = 0x7d;
const comma = 0x2c;
const closeBracket = 0x5d;

/** Finds known stretches, in their earlier order. */
export class StretchFinder implements KnownRecords {
  readonly #bytes: Uint8Array;
  readonly #stretches: readonly Stretch[];
  #next = 0;

  constructor(bytes: Uint8Array, stretches: readonly Stretch[]) {
    this.#bytes = bytes;
    // Where most are short, because rows came and went, the page is divided again.
    const records = stretches.reduce((sum, { vendorids }) => sum + vendorids.length, 0);
    this.#stretches = stretches.length > 2 + (2 * records) / longest ? [] : stretches;
  }

  /** The stretch at the beginning of a record. Stretches up to the last one that was found are not searched again. */
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
    // Most others are excluded without computing a digest.
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

/** All records of a page in stretches; `idOf` returns the vendor of a slice. */
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

/** The digest of records. */
export function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64');
}
