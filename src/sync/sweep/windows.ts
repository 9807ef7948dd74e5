/**
 * Reads windows of a list until they are joined from its start to its end (window-chain.ts says what that proves).
 *
 * Vendors that were updated meanwhile may have moved from a window that was not read yet into one that was. Where recent updates are first,
 * the start is read again until one window reaches from the first row to what the previous walk showed: all moved vendors are in it. Where
 * they are last, the end is read after everything else.
 */
import { eachBounded } from '../../domain/concurrency.ts';
import type { ObservedOrder } from './list-order.ts';
import {
  beginOf,
  endOf,
  endsUncounted,
  holdsEnd,
  refutesCount,
  type Window,
  chainOf,
  pieceOf,
  type Chain,
  type Gap,
  type Piece,
  windowFrom,
  windowOfEnd,
  windowsToEnd,
  type PageRequest,
} from './window-chain.ts';

export interface WindowWalk {
  /** The window at the start of the list, read before all others; and other windows that are known. */
  readonly first: Window;
  readonly others: readonly Window[];
  readonly order: ObservedOrder;
  /** The largest page of the service, in rows. */
  readonly cap: number;
  readonly concurrency: number;
  /** Whether the list is known to show more vendors than it counts. */
  readonly miscounted: boolean;
  readonly read: (requested: PageRequest, observeTimes: boolean) => Promise<Window | 'no_such_page' | 'size_ignored'>;
}

/** The most windows for each page of the list; beyond that, the list changes too fast. */
const mostPerPage = 3;
const mostForFew = 30;

/** So many rows past the count are followed at most. */
const mostUncounted = 200_000;

/** How often the changing end of a list is read again at most. */
const mostReturns = 12;

/** `joined`: every vendor that did not change was seen. `impossible`: the list has no known order, or the service ignores the page size. */
export type Joined = 'joined' | 'not_joined' | 'impossible';

export async function joinWindows(walk: WindowWalk): Promise<Joined> {
  return new WindowJoiner(walk).run();
}

class WindowJoiner {
  readonly #walk: WindowWalk;
  readonly #first: Window;
  readonly #extent: Extent;
  /** How often windows right of this one were requested without success. */
  readonly #attempts = new Map<Window, number>();
  /** The windows joined from the start: only those to which the next may be joined. */
  #joined: Piece;
  /** All others. */
  #windows: Window[];
  #latest: Window;
  #read = 0;
  #sizeIgnored = false;

  constructor(walk: WindowWalk) {
    this.#walk = walk;
    this.#first = walk.first;
    this.#joined = pieceOf(walk.first);
    this.#windows = [...walk.others];
    this.#latest = walk.others.at(-1) ?? walk.first;
    this.#extent = new Extent(walk.miscounted);
    for (const window of [walk.first, ...walk.others]) this.#extent.add(window);
  }

  async run(): Promise<Joined> {
    if (await this.#join()) return 'joined';
    return this.#sizeIgnored || this.#walk.order.isUnknown() ? 'impossible' : 'not_joined';
  }

  async #join(): Promise<boolean> {
    while (this.#mayRead && !this.#sizeIgnored && !this.#walk.order.isUnknown()) {
      const chain = this.#chain();
      if (chain?.gaps.length === 0) {
        const isSettled = await this.#readMovingEnd();
        const isJoined = this.#chain()?.gaps.length === 0;
        if (isSettled && isJoined) return true;
        if (isJoined) return false;
        continue;
      }
      const gaps = chain?.gaps ?? this.#unread();
      const requested = gaps.flatMap((gap) => this.#across(gap));
      if (requested.length === 0) return false;
      await this.#readAll(requested);
    }
    return false;
  }

  /** The chain of windows; undefined while too few were read to know the order. */
  #chain(): Chain | undefined {
    const [order] = this.#walk.order.candidates();
    if (!order) return undefined;
    const parts = { first: this.#first, joined: this.#joined, others: this.#windows, showsEnd: this.#showsEnd };
    const chain = chainOf(parts, order);
    if (chain.gaps.every(({ right }) => right === undefined)) {
      this.#joined = chain.joined;
      this.#windows = [];
    }
    return chain;
  }

  /** Rows that neighbours share at first; twice as many after each failure. Ordered by id, one row joins them; by a time, a group and one. */
  get #overlap(): number {
    const { cap, order } = this.#walk;
    const fewest = order.candidates()[0]?.key === 'vendorid' ? 1 : 2;
    return Math.max(fewest, Math.round(cap / 20));
  }

  /** How many rows the list has, as far as is known. */
  get #total(): number {
    const { cap, concurrency } = this.#walk;
    if (!this.#extent.isMiscounted) return this.#latest.total;
    return this.#extent.end ?? this.#extent.full + cap * concurrency;
  }

  get #mayRead(): boolean {
    const { isMiscounted, full } = this.#extent;
    if (isMiscounted && full > this.#latest.total + mostUncounted) return false;
    return this.#read < mostForFew + mostPerPage * Math.ceil(this.#total / this.#walk.cap);
  }

  readonly #showsEnd = (window: Window): boolean =>
    (!this.#walk.miscounted && holdsEnd(window)) || this.#extent.endsWith(window);

  /** The part of the list that was not requested yet. */
  #unread(): Gap[] {
    const left = [this.#first, ...this.#windows].reduce((last, window) =>
      endOf(window) > endOf(last) ? window : last,
    );
    return endOf(left) < this.#total ? [{ left, right: undefined }] : [];
  }

  /** The next windows to request for a gap; none where everything was tried. */
  #across({ left, right }: Gap): PageRequest[] {
    const { cap, order, concurrency } = this.#walk;
    const attempt = this.#attempts.get(left) ?? 0;
    this.#attempts.set(left, attempt + 1);
    const shared = this.#overlap * 2 ** attempt;
    if (shared >= 2 * cap) return [];
    const [known] = order.candidates();
    // The window must begin before all rows of the last time.
    const group = known && known.key !== 'vendorid' ? (left.times?.[known.key].lastGroup ?? 0) : 0;
    const total = this.#total;
    const row = Math.min(endOf(left), Math.max(total, beginOf(left) + left.ids.length)) - group;
    if (right) return [windowFrom(row - shared, cap)];
    if (attempt > 0) return [windowOfEnd(row - shared, total, cap) ?? windowFrom(row - shared, cap)];
    // A few at a time: the more time between two neighbours, the more has changed.
    return firstFew(windowsToEnd({ row, total, cap }, this.#overlap), 2 * concurrency);
  }

  async #readAll(requested: readonly PageRequest[]): Promise<void> {
    await eachBounded(requested, this.#walk.concurrency, async (page) => {
      if (!this.#sizeIgnored) await this.#readWindow(page);
    });
  }

  async #readWindow(requested: PageRequest, observeTimes = false): Promise<Window | undefined> {
    this.#read += 1;
    const window = await this.#walk.read(requested, observeTimes);
    if (window === 'size_ignored') this.#sizeIgnored = true;
    if (window === 'no_such_page') this.#extent.addNone();
    if (typeof window === 'string') return undefined;
    this.#extent.add(window);
    this.#windows.push(window);
    this.#latest = window;
    return window;
  }

  /** @returns whether all vendors that moved during the reading were seen since. */
  async #readMovingEnd(): Promise<boolean> {
    const direction = this.#walk.order.byUpdate();
    if (direction === 'falling') return this.#readBeginning();
    return direction === undefined || this.#readEndLast();
  }

  /** Reads from the start until one window reaches further than where the previous walk began. */
  async #readBeginning(): Promise<boolean> {
    const { cap } = this.#walk;
    let limit = this.#first.times?.updated_at.first ?? NaN;
    for (let returns = 0; returns < mostReturns; returns++) {
      const front = await this.#readWindow({ page: 1, size: cap }, true);
      if (!front?.times) return false;
      const { first, last } = front.times.updated_at;
      if (last < limit || this.#showsEnd(front)) return true;
      if (!(await this.#walkDown(front, limit))) return false;
      limit = first;
    }
    return false;
  }

  /** Where more moved than one window shows: joins windows from `front` until one shows rows older than `limit`. */
  async #walkDown(front: Window, limit: number): Promise<boolean> {
    const { cap } = this.#walk;
    let [known, times, attempt] = [front, front.times?.updated_at, 0];
    while (this.#mayRead && times) {
      const { last, lastGroup } = times;
      if (last < limit || this.#showsEnd(known)) return true;
      const back = this.#overlap * 2 ** attempt + lastGroup;
      if (back >= 2 * cap) return false;
      const next = await this.#readWindow(windowFrom(endOf(known) - back, cap), true);
      if (!next?.times) return false;
      const { updated_at: shown } = next.times;
      if (shown.first > last && shown.last < last) [known, times, attempt] = [next, shown, 0];
      else attempt += 1;
    }
    return false;
  }

  /** Vendors move to the end: it is enough to read the end after everything else. */
  async #readEndLast(): Promise<boolean> {
    for (let returns = 0; returns < mostReturns; returns++) {
      const total = this.#total;
      const requested = windowOfEnd(Math.max(0, total - this.#overlap), total, this.#walk.cap);
      const last = requested && (await this.#readWindow(requested));
      const chain = last && this.#chain();
      if (!chain || chain.gaps.length > 0) return false;
      if (chain.end === last) return true;
    }
    return false;
  }
}

/** How far a list reaches whose counts are refuted, and whether it leaves holes. */
class Extent {
  /** Whether a window showed more rows than its own `total` leaves, or that is known. */
  isMiscounted: boolean;
  /** Rows up to which windows were full. */
  full = 0;
  #nearestShort = Infinity;
  #rows = 0;
  /** The first row that a window which is not full did not show. */
  #nearestFree = Infinity;

  constructor(isMiscounted: boolean) {
    this.isMiscounted = isMiscounted;
  }

  add(window: Window): void {
    const { ids, size } = window;
    this.isMiscounted ||= refutesCount(window);
    if (ids.length >= size) this.full = Math.max(this.full, endOf(window));
    else this.#nearestShort = Math.min(this.#nearestShort, endOf(window));
    if (ids.length > 0 && ids.length < size)
      this.#nearestFree = Math.min(this.#nearestFree, beginOf(window) + ids.length);
    if (ids.length > 0) this.#rows = Math.max(this.#rows, beginOf(window) + ids.length);
  }

  /** There was no such page. */
  addNone(): void {
    this.#nearestShort = Math.min(this.#nearestShort, Number.MAX_SAFE_INTEGER);
  }

  /** How many rows there are; undefined where no window reached the end. */
  get end(): number | undefined {
    return this.#nearestShort > this.full && this.#nearestShort < Infinity
      ? Math.max(this.#rows, this.full)
      : undefined;
  }

  endsWith(window: Window): boolean {
    return this.isMiscounted && this.end !== undefined && this.#nearestFree >= this.#rows && endsUncounted(window);
  }
}

function firstFew<T>(items: Iterable<T>, most: number): T[] {
  const few: T[] = [];
  for (const item of items) {
    few.push(item);
    if (few.length === most) break;
  }
  return few;
}
