/**
 * The vendors of one account, and their recent past, for copies that lag. Those that an account begins with are invented, each from its seed and
 * number alone; while one is unchanged it is invented again when it is needed, so that a hundred thousand take a few hundred kilobytes.
 */
import type { VendorEntry } from '../core/memory.ts';
import type { VendorRecord, State } from '../core/vendor-record.ts';
import type { World } from '../core/worlds.ts';
import { seededRandom, mix } from '../core/random.ts';
import { oddVendor } from './odd-vendors.ts';
import { plainVendor } from './plain-vendors.ts';

/** The mark of a number: a vis_state, or one of these. */
export const gone = 255;
export const unreadable = 254;
/** Of a view for lists: deleted so long ago that they do not show it any more. */
export const aged = 253;

export interface BookOptions {
  readonly seed: number;
  /** What its invented vendors are like. */
  readonly records: World['records'];
  /** How many vendors the account begins with. */
  readonly count: number;
  /** How many of them the token may not read. */
  readonly unreadable: number;
  /** How long the past is remembered, in milliseconds. */
  readonly memory: number;
  /** Vendors that differ from those that the account began with, by number; null for one that vanished. */
  readonly changed?: readonly (readonly [index: number, entry: VendorEntry | null])[];
  /** Called with the new state of a vendor; null if it vanished. */
  readonly onWrite?: (index: number, entry: VendorEntry | null) => void;
}

/** The book as it was at a moment. */
export interface BookView {
  /** For each vendor number its vis_state, `unreadable`, or `gone`; it may be longer than the book, and is not to be kept. */
  readonly marks: Readonly<Uint8Array>;
  readonly record: (index: number) => VendorRecord;
}

/** How many invented vendors are cached. */
const cacheSize = 200;

interface Past {
  readonly at: number;
  readonly index: number;
  readonly mark: number;
  readonly held: VendorEntry | undefined;
}

export class VendorBook {
  readonly #options: BookOptions;
  readonly #changed = new Map<number, VendorEntry>();
  readonly #invented = new Map<number, VendorEntry>();
  #marks: Uint8Array;
  #length: number;
  /** What was before each change, oldest first. */
  #past: Past[] = [];

  constructor(options: BookOptions) {
    this.#options = options;
    const { seed, count } = options;
    this.#length = count;
    this.#marks = Uint8Array.from({ length: count + 64 }, (_, index) =>
      index < count ? firstState(seed, index) : gone,
    );
    const step = count / options.unreadable;
    for (let nth = 0; nth < Math.min(options.unreadable, count); nth += 1)
      this.#marks[Math.floor((nth + 0.5) * step)] = unreadable;
    for (const [index, entry] of options.changed ?? []) {
      this.#extend(index);
      if (entry) this.#put(index, entry);
      else this.#marks[index] = gone;
    }
  }

  get records(): World['records'] {
    return this.#options.records;
  }

  get length(): number {
    return this.#length;
  }

  /** The number of the vendor with this id, present or not; undefined if there never was one. */
  indexOf(id: number): number | undefined {
    const index = indexOf(this.#options.seed, id);
    return index !== undefined && index < this.#length ? index : undefined;
  }

  now(): BookView {
    return { marks: this.#marks, record: (index) => this.#held(index).record };
  }

  /** The book as it was at `at`, as far back as it remembers. */
  asOf(at: number): BookView {
    const later = this.#past.filter((past) => past.at > at).reverse();
    if (later.length === 0) return this.now();
    const marks = this.#marks.slice();
    const held = new Map<number, VendorEntry | undefined>();
    for (const past of later) {
      marks[past.index] = past.mark;
      held.set(past.index, past.held);
    }
    return {
      marks,
      record: (index) => (held.get(index) ?? (held.has(index) ? this.#invent(index) : this.#held(index))).record,
    };
  }

  /** Enters a vendor under the next id. */
  add(at: number, make: (id: number) => VendorRecord): { index: number; record: VendorRecord } {
    const index = this.#length;
    const record = make(idOf(this.#options.seed, index));
    this.#remember(at, index);
    this.#extend(index);
    this.#write(index, record, 1);
    return { index, record };
  }

  replace(at: number, index: number, record: VendorRecord): void {
    const { version } = this.#held(index);
    this.#remember(at, index);
    this.#write(index, record, version + 1);
  }

  /** Removes a vendor without a trace. */
  remove(at: number, index: number): void {
    this.#remember(at, index);
    this.#marks[index] = gone;
    this.#options.onWrite?.(index, null);
  }

  /** The token may no longer read a vendor, or may read it again. Not kept in a file. */
  withhold(at: number, index: number, isWithheld: boolean): void {
    this.#remember(at, index);
    this.#marks[index] = isWithheld ? unreadable : this.#held(index).record.state;
  }

  /** How often this vendor has been written, from 1. */
  version(index: number): number {
    return this.#held(index).version;
  }

  #held(index: number): VendorEntry {
    return this.#changed.get(index) ?? this.#invent(index);
  }

  #invent(index: number): VendorEntry {
    const known = this.#invented.get(index);
    if (known) return known;
    const { seed, count, records } = this.#options;
    const held = { record: inventVendor(seed, index, count, records), version: 1 };
    if (this.#invented.size < cacheSize) this.#invented.set(index, held);
    return held;
  }

  #write(index: number, record: VendorRecord, version: number): void {
    this.#put(index, { record, version });
    this.#options.onWrite?.(index, { record, version });
  }

  #put(index: number, entry: VendorEntry): void {
    this.#changed.set(index, entry);
    this.#marks[index] = entry.record.state;
  }

  /** There are vendors up to this number. */
  #extend(index: number): void {
    this.#length = Math.max(this.#length, index + 1);
    if (this.#length <= this.#marks.length) return;
    const larger = new Uint8Array(this.#length * 2).fill(gone);
    larger.set(this.#marks);
    this.#marks = larger;
  }

  #remember(at: number, index: number): void {
    if (this.#options.memory === 0) return;
    const oldest = this.#past.findIndex((past) => past.at >= at - this.#options.memory);
    if (oldest > 0) this.#past.splice(0, oldest);
    if (oldest === -1) this.#past = [];
    this.#past.push({ at, index, mark: this.#marks[index] ?? gone, held: this.#changed.get(index) });
  }
}

const day = 86_400_000;
/** Invented vendors were created and edited in the ten years from 2015-01-01 on. */
const firstDay = 1_420_070_400_000;
const years = 3_650 * day;

const salt = { id: 1, state: 2, times: 3, rest: 4 };

/** Ids grow with the number, distinct and with gaps: number 3 is one of 1021 to 1027. */
export function idOf(seed: number, index: number): number {
  return 1_000 + index * 7 + (mix(seed ^ salt.id, index) % 7);
}

/** The number of the vendor with this id, if an id of this account can be so. */
function indexOf(seed: number, id: number): number | undefined {
  const index = Math.floor((id - 1_000) / 7);
  return index >= 0 && idOf(seed, index) === id ? index : undefined;
}

/** About 3 % begin deleted and 2 % archived. */
function firstState(seed: number, index: number): State {
  const percent = mix(seed ^ salt.state, index) % 100;
  if (percent < 3) return 1;
  return percent < 5 ? 2 : 0;
}

/** When vendor `index` of `count` was created and last edited. */
export function firstTimes(seed: number, index: number, count: number): { created: number; updated: number } {
  const created = firstDay + Math.floor((years * index) / count / 1_000) * 1_000;
  const age = firstDay + years - created;
  return { created, updated: created + (mix(seed ^ salt.times, index) % Math.max(1, Math.floor(age / 1_000))) * 1_000 };
}

/** Vendor `index` of the `count` with which an account of that seed begins. */
export function inventVendor(seed: number, index: number, count: number, records: World['records']): VendorRecord {
  const random = seededRandom(mix(seed ^ salt.rest, index));
  const times = firstTimes(seed, index, count);
  const invent = { plain: plainVendor, odd: oddVendor }[records];
  return {
    vendorid: idOf(seed, index),
    state: firstState(seed, index),
    ...invent(random, times.created, index),
    ...times,
  };
}
