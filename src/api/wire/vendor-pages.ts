/**
 * Reads vendors from answers, one or a page; each keeps its original bytes.
 *
 * A list answer without `page` is taken as the page that was asked for; `total` and `pages` are required.
 */
import { createHash } from 'node:crypto';
import { MirrorError } from '../../domain/errors.ts';
import { JsonCursor, withoutMembers } from '../../domain/json-cursor.ts';
import { limits } from '../../domain/limits.ts';
import type { RejectedRecord, VendorPage, VendorReading, VendorRow } from '../../domain/reading.ts';
import type { Vendor } from '../../domain/vendor.ts';
import {
  identifier,
  lackOf,
  member,
  parseJson,
  parseSuccess,
  startOfText,
  unlessRefused,
  wholeNumber,
  type Answered,
} from './document.ts';
import { vendorOf } from './vendor-fields.ts';

/**
 * A row whose text is decoded on demand. Its `raw` is known to be valid JSON only after `vendor()` returned; unparsed, it may be trusted
 * only where it equals a text that was parsed before. Lone surrogates in escapes are replaced, because readers of the file fail on them, and an
 * `updated_at` of null is left out; everything else is as received.
 */
class SlicedRow implements VendorRow {
  readonly vendorid: number;
  readonly excluded: ReadonlySet<string>;
  readonly #record: Uint8Array;
  /** How many members its objects have. */
  readonly #members: number;
  #kept: Uint8Array | undefined;
  #raw: string | undefined;

  constructor(vendorid: number, record: Uint8Array, members: number, excluded: ReadonlySet<string>) {
    this.vendorid = vendorid;
    this.excluded = excluded;
    this.#record = record;
    this.#members = members;
  }

  get raw(): string {
    const { buffer, byteOffset, byteLength } = this.bytes;
    this.#raw ??= wellFormedEscapes(Buffer.from(buffer, byteOffset, byteLength).toString());
    return this.#raw;
  }

  get bytes(): Uint8Array {
    this.#kept ??= this.#withoutNoChange(
      this.excluded.size === 0 ? this.#record : withoutMembers(this.#record, this.excluded),
    );
    return this.#kept;
  }

  /**
   * Every vendor was changed last at some time, so null says no more than leaving it out: as a value, it would contradict what reads by id
   * carry, with each list again.
   */
  #withoutNoChange(record: Uint8Array): Uint8Array {
    return saysNoChange(record) ? withoutMembers(record, onlyChange) : record;
  }

  vendor(): Vendor {
    return vendorOf(this.vendorid, this.raw, this.bytes === this.#record ? this.#members : undefined);
  }
}

const onlyChange: ReadonlySet<string> = new Set(['updated_at']);
const changeMark = Buffer.from('"updated_at"');
const betweenKeyAndValue = new Set(Buffer.from(' \t\r\n:'));
const startOfNull = 0x6e;

/** Whether the record itself, not one of its tax defaults, has an `updated_at` of null. */
function saysNoChange(record: Uint8Array): boolean {
  const bytes = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
  for (let at = bytes.indexOf(changeMark); at !== -1; at = bytes.indexOf(changeMark, at + 1)) {
    let value = at + changeMark.length;
    while (betweenKeyAndValue.has(bytes[value] ?? 0)) value += 1;
    if (bytes[value] !== startOfNull) continue;
    try {
      return member(parseJson(bytes.toString()), 'updated_at') === null;
    } catch {
      // What is no record is told where it is read.
      return false;
    }
  }
  return false;
}

const noFields: ReadonlySet<string> = new Set();

/**
 * Reads a page of the vendor list. `requested` is used where the answer has no page number; `excluded` fields are removed from every
 * record. Records without a usable id, and those that are too large, are listed in `rejected`.
 * @throws MirrorError `answer_unreadable` for anything but a complete page, or the error inside a 200.
 */
export function readVendorPage(
  { bytes, stamp, servedAt }: Answered,
  requested: number,
  excluded = noFields,
): VendorPage {
  const from = startOfText(bytes);
  const slices = sliceRecords(bytes, from, ['response', 'result', 'bill_vendors']);
  if (!slices?.array) {
    const found = member(member(member(parseSuccess(bytes), 'response'), 'result'), 'bill_vendors');
    throw new MirrorError(
      'answer_unreadable',
      `The answer is not a page of vendors: ${lackOf(found, 'bill_vendors')}.`,
    );
  }
  const envelope = Buffer.concat([bytes.subarray(from, slices.start), Buffer.from('[]'), bytes.subarray(slices.end)]);
  const paging = readPaging(
    member(member(unlessRefused(parseJson(envelope.toString())), 'response'), 'result'),
    requested,
  );
  const rows: SlicedRow[] = [];
  const rejected: RejectedRecord[] = [];
  for (const slice of slices.records) {
    try {
      const name = `Row ${rows.length + rejected.length + 1} of page ${requested}`;
      rows.push(new SlicedRow(idOf(slice, name), recordIn(bytes, slice), slice.members, excluded));
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
      const digest = createHash('sha256').update(recordIn(bytes, slice)).digest('base64url');
      rejected.push({ reason: error.message, digest });
    }
  }
  return { stamp, servedAt, ...paging, perPage: paging.perPage ?? rows.length, rows, rejected };
}

/**
 * Reads the answer to a read, create or edit of one vendor, which may also be a list of it alone. An empty list does not say that there is none.
 * @param remedy of a list in its place
 * @throws MirrorError as `readVendorPage`, and `row_unusable`.
 */
export function readVendor({ bytes, stamp }: Answered, excluded = noFields, remedy?: string): VendorReading {
  parseSuccess(bytes);
  const from = startOfText(bytes);
  const slices =
    sliceRecords(bytes, from, ['response', 'result', 'bill_vendor']) ??
    listOf(sliceRecords(bytes, from, ['response', 'result', 'bill_vendors'])) ??
    listOf(sliceRecords(bytes, from, ['response', 'result']));
  if (!slices) throw new MirrorError('answer_unreadable', 'The answer has no response.result.bill_vendor.');
  const [slice, ...others] = slices.records;
  if (!slice || others.length > 0)
    throw new MirrorError(
      'answer_unreadable',
      `The answer is a list of ${slices.records.length} vendors instead of one.`,
      { remedy },
    );
  return { stamp, row: new SlicedRow(idOf(slice, 'The vendor'), recordIn(bytes, slice), slice.members, excluded) };
}

function listOf(slices: Slices | undefined): Slices | undefined {
  return slices?.array ? slices : undefined;
}

function recordIn(bytes: Uint8Array, { start, end }: RecordSlice): Uint8Array {
  return bytes.subarray(start, end);
}

function idOf(slice: RecordSlice, name: string): number {
  const id = identifierOf(slice.id ?? '');
  if (id === undefined) throw new MirrorError('row_unusable', `${name} has no usable vendorid${shown(slice.id)}.`);
  if (slice.isTooLarge)
    throw new MirrorError(
      'row_unusable',
      `${name}, vendor ${id}, is larger than a vendor may be here: ${limits.record / 2 ** 20} MB, and ${limits.recordMembers} members of objects, or ${limits.recordMembersBeyond} on a page of more than ${limits.listMembers}.`,
    );
  return id;
}

function shown(literal: string | undefined): string {
  return literal !== undefined && /^[\x20-\x7e]{1,40}$/.test(literal) ? ` (${literal})` : '';
}

/** Checks the literal, not the parsed number: 2^53+1 and 1.0 would look like whole numbers. */
function identifierOf(literal: string): number | undefined {
  return identifier(/^"\d+"$/.test(literal) ? literal.slice(1, -1) : literal);
}

export interface Paging {
  readonly page: number;
  readonly pages: number;
  readonly perPage: number | undefined;
  readonly total: number;
}

/** Whatever answers with a list in its place is the service. */
const reportPaging = 'Report it to the service: its lists are to say how many pages and rows there are.';

/** The paging fields of any list. `per_page` may be missing, and so may `page`, which then is the requested one. */
export function readPaging(result: unknown, requested: number): Paging {
  const number = (name: string): number | undefined => {
    const value = member(result, name);
    const whole = wholeNumber(value);
    if (value !== undefined && whole === undefined)
      throw new MirrorError('answer_unreadable', `The answer's ${name} is not a whole number.`, {
        remedy: reportPaging,
      });
    return whole;
  };
  const [page = requested, pages, perPage, total] = [
    number('page'),
    number('pages'),
    number('per_page'),
    number('total'),
  ];
  if (pages === undefined || total === undefined)
    throw new MirrorError('answer_unreadable', 'The answer does not say how many pages and rows there are.', {
      remedy: reportPaging,
    });
  return { page, pages, perPage, total };
}

/** Replaces a lone surrogate escape such as `\ud800` by `�`; pairs and all other escapes stay. */
function wellFormedEscapes(text: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text;
  return text.replace(
    /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)/g,
    (escape) => (escape.length === 6 && /^\\u[dD][89a-fA-F]/.test(escape) ? '\\ufffd' : escape),
  );
}

/**
 * Finds the records in an answer without parsing them: most rows of a sweep equal the stored text byte for byte, and parsing costs more
 * than everything else.
 */

/** The byte range of one record, and its id as written (`7`, `"7"`); undefined where it has none or several. */
interface RecordSlice {
  readonly start: number;
  readonly end: number;
  readonly id: string | undefined;
  /** How many members its objects have. */
  readonly members: number;
  readonly isTooLarge: boolean;
}

/** The records at a path, and the byte range of the whole value. */
export interface Slices {
  /** Whether it is an array of records, or one record. */
  readonly array: boolean;
  readonly records: readonly RecordSlice[];
  readonly start: number;
  readonly end: number;
}

/** The most records of one answer: more than an account may have, because some services show all on one page. */
const mostRecords = 250_000;

/**
 * The record or records at `path` (member names from the root) in the JSON text that begins at byte `from`; undefined where there are none.
 * What follows the text is not checked. Keys are compared as written: escaped spellings are not found.
 * @throws MirrorError `answer_unreadable` where the text is cut off, too deeply nested, or has the path twice; `answer_too_large` beyond
 * `mostRecords`. What is no object among the records has no id.
 */
function sliceRecords(bytes: Uint8Array, from: number, path: readonly string[]): Slices | undefined {
  const cursor = new JsonCursor(bytes, from);
  const idName = Buffer.from('vendorid');
  let found: Slices | undefined;

  let objects = 0;
  let allMembers = 0;
  const record = (): RecordSlice => {
    const isRecord = cursor.onObject();
    if (isRecord) objects += 1;
    const start = cursor.at;
    const ids = cursor.skip(isRecord ? idName : undefined);
    const [id] = ids;
    const members = isRecord ? cursor.skippedMembers : 0;
    allMembers += members;
    // A page is stored at once, and nothing else runs meanwhile.
    const most = allMembers > limits.listMembers ? limits.recordMembersBeyond : limits.recordMembers;
    return {
      start,
      end: cursor.at,
      members,
      isTooLarge: cursor.at - start > limits.record || members > most,
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
      // One that is none is set aside; where none is, these are no records.
      if (objects === 0 && records.length > 0)
        throw new MirrorError('answer_unreadable', `The answer contains no objects in ${path.join('.')}.`);
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
