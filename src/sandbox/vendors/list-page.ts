/** One page of a list: its rows, in one of the orders that a world may have. */
import type { SeededRandom } from '../core/random.ts';
import { invalid, unknownResource } from '../core/reply.ts';
import type { VendorRecord } from '../core/vendor-record.ts';
import type { World } from '../core/worlds.ts';
import { aged, gone, unreadable, type BookView } from './vendor-book.ts';

/** Rows of the view in the sequence's order; or that there is no such page, where this world says so in no form of its own. Rows that are counted and not shown leave holes: their page is short. */
export function listVendors(
  view: BookView,
  sequence: Sequence,
  query: URLSearchParams,
  world: World,
): { rows: VendorRecord[]; numbers: PageNumbers } | 'no such page' {
  const shown = shownMarks(query, world);
  const counted = shown.slice();
  counted[unreadable] = 1;
  if (world.total === 'counts_hidden') counted[1] = counted[2] = counted[aged] = 1;

  let places = 0;
  for (const [index, mark] of view.marks.entries()) if (isListed(index, world)) places += counted[mark] ?? 0;
  const { offset, limit, page, perPage, isPastEnd } = pageOf(query, places, world);
  if (isPastEnd && world.pastEnd === 'html') return 'no such page';

  const rows: VendorRecord[] = [];
  let place = 0;
  for (let position = 0; position < sequence.length && place < offset + limit; position += 1) {
    const index = sequence.at(position);
    const mark = view.marks[index] ?? gone;
    if (counted[mark] === 0 || !isListed(index, world)) continue;
    if (place >= offset && shown[mark] === 1) rows.push(view.record(index));
    place += 1;
  }
  const total = totalOf(places, rows.length, world);
  const pages = { counted: Math.ceil(total / perPage), one: 1, endless: 1_000_000_000 }[world.pages];
  return { rows, numbers: { page, pages, per_page: perPage, total } };
}

/** Every third vendor is left out, until there are enough of them. */
function isListed(index: number, { unlistedRows }: World): boolean {
  return index % 3 !== 1 || Math.floor(index / 3) >= unlistedRows;
}

/** `total`, as this world counts a list of so many places, of which so many rows are on the page. */
function totalOf(places: number, onPage: number, world: World): number {
  switch (world.total) {
    case 'right':
    case 'counts_hidden':
      return places;
    case 'fewer':
      return places - Math.ceil(places / 10);
    case 'capped':
      return Math.min(places, 20);
    case 'page':
      return onPage;
    case 'zero':
      return 0;
  }
}

/** Which places of a list to show, as this world understands the query. Refuses a page past the last where this world does, and numbers that are none. */
function pageOf(query: URLSearchParams, places: number, world: World) {
  const perPage = perPageOf(query, places, world);
  const first = world.paging === 'zero' ? 0 : 1;
  const requested = world.paging === 'ignored' ? first : pageNumber(query, first, world);
  const last = Math.max(first, first + Math.ceil(places / perPage) - 1);
  const isPastEnd = requested > last;
  if (isPastEnd && world.pastEnd === '404') throw unknownResource('page', 'page', String(requested));
  if (isPastEnd && world.pastEnd === '422')
    throw invalid(1014, 'page', 'page', 'Invalid value for page.', String(requested));
  const wraps = isPastEnd && (world.pastEnd === 'last' || world.pastEnd === 'first');
  const page = wraps ? { last, first }[world.pastEnd] : requested;
  const shown = world.paging === 'echoed' ? first : page;
  return { offset: (shown - first) * perPage, limit: perPage, page, perPage, isPastEnd };
}

function pageNumber(query: URLSearchParams, first: number, world: World): number {
  const name = pageNames(world).page;
  if (query.get(name) === '0' && (first === 0 || world.pageZero === 'first')) return first;
  return positive(query, name, first, 1014);
}

/** What the paging parameters are called. */
export function pageNames({ pageNames: names }: World): { readonly page: string; readonly perPage: string } {
  return {
    per_page: { page: 'page', perPage: 'per_page' },
    limit: { page: 'page', perPage: 'limit' },
    size: { page: 'p', perPage: 'size' },
  }[names];
}

/** The value of a filter that a query has, in a form of this world. */
export function filterIn(query: URLSearchParams, name: string, { filterForm }: World): string | null {
  const forms = { search: `search[${name}]`, filter: `filter[${name}]`, plain: name };
  const known = filterForm === 'any' ? Object.values(forms) : [forms[filterForm]];
  return known.map((form) => query.get(form)).find((value) => value !== null) ?? null;
}

/** 1 at each mark whose vendors this query shows. */
function shownMarks(query: URLSearchParams, world: World): Uint8Array {
  const shown = new Uint8Array(256);
  const wanted = world.visStateFilter === 'honoured' ? filterIn(query, 'vis_state', world) : null;
  if (wanted === null) {
    shown[0] = 1;
    if (world.listDeleted !== 'hidden') shown[1] = 1;
    if (world.listArchived === 'shown') shown[2] = 1;
  } else if (['0', '1', '2'].includes(wanted)) shown[Number(wanted)] = 1;
  return shown;
}

/** Vendor numbers in an order; -1 at a place that is no longer used. */
export interface Sequence {
  readonly length: number;
  at(position: number): number;
}

/** Keeps a list in the order of last updates, without sorting again. */
export class UpdateOrder implements Sequence {
  #order: number[];
  /** Where in the order each vendor stands now; its earlier places are void. */
  readonly #place = new Map<number, number>();

  constructor(count: number, updated: (index: number) => number) {
    const times = Float64Array.from({ length: count }, (_, index) => updated(index));
    this.#order = Array.from(times.keys()).sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0));
    this.#index();
  }

  get length(): number {
    return this.#order.length;
  }

  at(position: number): number {
    const index = this.#order[position] ?? -1;
    return this.#place.get(index) === position ? index : -1;
  }

  /** This vendor has just been updated. */
  touch(index: number): void {
    this.#place.set(index, this.#order.length);
    this.#order.push(index);
    if (this.#order.length <= 2 * this.#place.size + 64) return;
    this.#order = this.#order.filter((_, position) => this.at(position) >= 0);
    this.#index();
  }

  #index(): void {
    for (const [position, index] of this.#order.entries()) this.#place.set(index, position);
  }
}

/** The sequence of `length` vendors in an order that needs no memory. */
export function sequenceOf(order: 'id' | 'newest' | 'shuffled', length: number, random: SeededRandom): Sequence {
  switch (order) {
    case 'id':
      return { length, at: (position) => position };
    case 'newest':
      return { length, at: (position) => length - 1 - position };
    case 'shuffled': {
      const mixed = random.permutation(length);
      return { length, at: (position) => mixed[position] ?? -1 };
    }
  }
}

/** The orders in which a list may show its rows. */
export function reversed(sequence: Sequence): Sequence {
  const { length } = sequence;
  return { length, at: (position) => sequence.at(length - 1 - position) };
}

/** The numbers that stand beside the rows of a page. */
interface PageNumbers {
  readonly page: number;
  readonly pages: number;
  readonly per_page: number;
  readonly total: number;
}

const defaultPerPage = 15;
const maxPerPage = 100;

function perPageOf(query: URLSearchParams, total: number, world: World): number {
  const name = pageNames(world).perPage;
  switch (world.perPage) {
    case 'ignored':
      return defaultPerPage;
    case 'all':
      return Math.max(total, defaultPerPage);
    case 'honoured':
      return positive(query, name, defaultPerPage, 1013);
    case 'capped':
      return Math.min(positive(query, name, defaultPerPage, 1013), maxPerPage);
  }
}

function positive(query: URLSearchParams, name: string, initial: number, errno: number): number {
  const text = query.get(name);
  if (text === null) return initial;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw invalid(errno, 'page', name, `Invalid value for ${name}.`, text);
}

/** One page of rows that are all at hand, and are no vendors: such pages are counted from 1, and one past the last is refused, the last, or empty. */
export function pageOfRows<T>(
  rows: readonly T[],
  query: URLSearchParams,
  world: World,
): { rows: T[]; numbers: PageNumbers } {
  const paging = world.paging === 'zero' ? 'honoured' : world.paging;
  const pastEnd = world.pastEnd === '404' || world.pastEnd === 'last' ? world.pastEnd : 'empty';
  const total = rows.length;
  const { offset, limit, page, perPage } = pageOf(query, total, { ...world, paging, pastEnd });
  const pages = Math.ceil(total / perPage);
  return { rows: rows.slice(offset, offset + limit), numbers: { page, pages, per_page: perPage, total } };
}
