/**
 * When do windows prove that a list was seen completely, although it never stood still?
 *
 * A page is a window: a contiguous part of the list at one moment. Vendors that do not change keep their relative order from one moment to
 * the next. Take one that did not change and is in no window. It is not in the first window, which begins at the start of the list: so it
 * is behind it. Let it be behind some window, and let a second window
 *
 * - share a vendor with the first, where the list is ordered by something that never changes (an id): the shared vendor is before ours in
 * the first, so also in the second; the second is contiguous, shows the shared one and not ours: so ours is behind all of it;
 *
 * - or begin with an earlier time than the first one's last, where it is ordered by a time: ours has the first one's last time or a later
 * one, so it is behind the second one's beginning, and then behind all of it. Rows of the same time may be in another order for each
 * request: because the comparison is strict, the whole group of that time is inside the second window.
 *
 * So it is behind every window of a chain, including the last. But the last shows the end of the list: a contradiction. This holds whatever
 * was inserted, removed or moved meanwhile, and in whatever order the windows were read. A vendor that moved while the windows were read
 * may be in none of them; windows.ts handles those.
 *
 * A window shows the end if by its own `total` it is the last page and a third of it is free (`holdsEnd`). Where a window showed more rows than its
 * own `total` leaves, the counts count something else (they are capped, or of one page). Then the end is a window of which half is free by its
 * rows, and which begins inside what is joined, if no window of the sweep left a place free before a row that another one showed: this list has
 * no holes, and a list without holes that leaves half a window free has ended (`endsUncounted`). So it is from the start where a walk, or an
 * earlier sweep, showed more vendors than are counted: such a count shows no end, because rows that are counted and not shown may leave as many
 * places free as it claims.
 */
import type { VendorPage } from '../../domain/reading.ts';
import type { ListOrder, TimeEdges } from './list-order.ts';

/** Two neighbouring windows that are not joined; `right` is missing where nothing is known of the rest of the list. */
export interface Gap {
  readonly left: Window;
  readonly right: Window | undefined;
}

/** Joined windows; only those that reach farthest are kept. */
export interface Piece {
  readonly farthest: Window;
  readonly windows: readonly Window[];
}

export interface Chain {
  /** Empty where the windows are joined from the start of the list to its end. */
  readonly gaps: readonly Gap[];
  /** What is joined from the start of the list. */
  readonly joined: Piece;
  /** The window that shows the end of the list. */
  readonly end: Window | undefined;
}

export interface ListWindows {
  /** The window at the start of the list, read before all others. */
  readonly first: Window;
  /** What is known to be joined to it. */
  readonly joined: Piece;
  readonly others: readonly Window[];
  /** Whether a window shows the end of the list; `holdsEnd` by default. */
  readonly showsEnd?: (window: Window) => boolean;
}

/** How many of the farthest windows are tried for joining the next. */
const mostTried = 8;

export function pieceOf(window: Window): Piece {
  return { farthest: window, windows: [window] };
}

/** Joins windows of a list in a known order. */
export function chainOf({ first, joined, others, showsEnd = holdsEnd }: ListWindows, order: ListOrder): Chain {
  const position = positionIn(order);
  const sorted = others
    .filter((window) => Number.isFinite(position.first(window)))
    .sort((a, b) => position.first(a) - position.first(b) || position.last(a) - position.last(b));
  const gaps: Gap[] = [];
  let piece = joined;
  let fromBeginning: Piece | undefined;
  let end = joined.windows.findLast(showsEnd);
  for (const window of sorted) {
    const goesFurther = position.last(window) > position.last(piece.farthest);
    const isEnd = showsEnd(window);
    if (!goesFurther && !isEnd) continue;
    if (piece.windows.some((left) => joins(left, window, order, first))) {
      if (isEnd) end = window;
      piece = goesFurther
        ? { farthest: window, windows: [...piece.windows, window].slice(-mostTried) }
        : { ...piece, windows: [window, ...piece.windows] };
    } else if (goesFurther) {
      gaps.push({ left: piece.farthest, right: window });
      fromBeginning ??= piece;
      piece = pieceOf(window);
      end = isEnd ? window : undefined;
    }
  }
  if (!end) gaps.push({ left: piece.farthest, right: undefined });
  return { gaps, joined: fromBeginning ?? piece, end };
}

/** Whether a vendor that did not change, is behind all of `left` and not in `right`, must be behind all of `right`. */
function joins(left: Window, right: Window, order: ListOrder, first: Window): boolean {
  const position = positionIn(order);
  if (order.key === 'vendorid') return sharesVendor(left, right, position.last(left), order.descending);
  // Ordered by last update, rows as recent as the first window's may have moved while it was read.
  const isOld = order.key !== 'updated_at' || position.last(left) > position.first(first);
  return isOld && holdsLastGroup(left, right, position);
}

export function sharesVendor(left: Window, right: Window, last: number, descending: boolean): boolean {
  const shown = new Set(left.ids);
  for (const id of right.ids) {
    if ((descending ? -id : id) > last) return false;
    if (shown.has(id)) return true;
  }
  return false;
}

/** Whether all rows with the last time of `left` are in `right`: it begins before them. */
export function holdsLastGroup(left: Window, right: Window, position: Position): boolean {
  return position.first(right) < position.last(left);
}

/** Start and end of a window, as numbers that rise along the list. */
type Position = Record<'first' | 'last', (window: Window) => number>;

function positionIn({ key, descending }: ListOrder): Position {
  const sign = descending ? -1 : 1;
  if (key === 'vendorid')
    return { first: ({ ids }) => sign * (ids[0] ?? NaN), last: ({ ids }) => sign * (ids.at(-1) ?? NaN) };
  return {
    first: ({ times }) => sign * (times?.[key].first ?? NaN),
    last: ({ times }) => sign * (times?.[key].last ?? NaN),
  };
}

/** A window: what one page showed of the list at one moment, without its records. */
export interface Window {
  /** The requested page, from 1, and its size: the window begins at row `(page - 1) * size`. */
  readonly page: number;
  readonly size: number;
  /** Vendor ids in the order of the page. */
  readonly ids: readonly number[];
  /** The times at both ends; undefined where they were not read. */
  readonly times: TimeEdges | undefined;
  /** `total` and `pages` of the answer. */
  readonly total: number;
  readonly pages: number;
}

export function windowOf(page: VendorPage, requested: { page: number; size: number }, times?: TimeEdges): Window {
  const { rows, total, pages } = page;
  return { ...requested, total, pages, times, ids: rows.map(({ vendorid }) => vendorid) };
}

/** The first row of a window, counted from 0 when it was read. */
export function beginOf({ page, size }: Window): number {
  return (page - 1) * size;
}
export function endOf({ page, size }: Window): number {
  return page * size;
}

/**
 * Whether the list ends inside the window. A short page alone proves nothing, because rows may be counted and not shown. The window must be
 * the last page by its own `total`, which must leave enough of it empty, because it may have been counted at another moment than the
 * rows; and it may not show more rows than `total` leaves: so the list does not end there only if more rows entered between the two moments
 * of one answer than are free, and as many on this very page are counted and not shown. What it says of `pages` is not needed: that is counted from `total`, or wrong.
 */
export function holdsEnd(window: Window): boolean {
  const left = window.total - beginOf(window);
  return left > 0 && left <= rowsAtEnd(window.size) && window.ids.length <= left;
}

/**
 * The most rows of a window that may show the end: a third of it must be free, and three places, or half. If it had to be half, no size of a
 * page would show the end of 6 of 1,000 totals where a page has 15 rows; so it is 4 of 10,000, and none where it has 25 or more.
 */
function rowsAtEnd(size: number): number {
  return Math.max(size / 2, Math.min(size - 3, (size * 2) / 3));
}

/** Whether the window shows more rows than its own `total` leaves for it. */
export function refutesCount(window: Window): boolean {
  return window.ids.length > Math.max(0, window.total - beginOf(window));
}

/** Whether half of the window is free, by the rows that it shows. */
export function endsUncounted({ ids, size }: Window): boolean {
  return ids.length > 0 && ids.length <= size / 2;
}

/** Chooses page number and size so that a window begins at or before a row and reaches as far as possible. */
export interface PageRequest {
  readonly page: number;
  readonly size: number;
}

/** The window that begins at or before `row` and reaches farthest, with `cap` rows down to half of that. */
export function windowFrom(row: number, cap: number): PageRequest {
  let best: PageRequest = { page: 1, size: cap };
  for (let size = cap; size >= smallest(cap); size--) {
    const page = Math.floor(Math.max(0, row) / size) + 1;
    if (page * size > best.page * best.size) best = { page, size };
  }
  return best;
}

/** The window that begins at or before `row` and would show the end of a list of `total` rows: with half of it free, where one exists. */
export function windowOfEnd(row: number, total: number, cap: number): PageRequest | undefined {
  let other: PageRequest | undefined;
  for (let size = cap; size >= smallest(cap); size--) {
    const page = Math.ceil(total / size);
    const begin = (page - 1) * size;
    if (page === 0 || begin > row || total - begin > rowsAtEnd(size)) continue;
    if (total - begin <= size / 2) return { page, size };
    other ??= { page, size };
  }
  return other;
}

/**
 * Windows from `row`, up to which the list is known, to the end of a list of `total` rows; each begins `overlap` rows before the end of the
 * previous one, or fewer where it must reach further.
 */
export function* windowsToEnd(
  { row, total, cap }: { row: number; total: number; cap: number },
  overlap: number,
): Generator<PageRequest> {
  for (let known = Math.min(row, total); ;) {
    const end = firstOf(overlap, (shared) => windowOfEnd(known - shared, total, cap));
    if (end) yield end;
    if (end) return;
    const next = firstOf(overlap, (shared) => {
      const requested = windowFrom(known - shared, cap);
      return requested.page * requested.size > known ? requested : undefined;
    });
    if (!next) return;
    yield next;
    known = next.page * next.size;
  }
}

function smallest(cap: number): number {
  return Math.max(1, Math.ceil(cap / 2));
}

/** The first result, trying from `overlap` shared rows down to one. */
function firstOf(overlap: number, find: (shared: number) => PageRequest | undefined): PageRequest | undefined {
  for (let shared = overlap; shared >= 1; shared--) {
    const found = find(shared);
    if (found !== undefined) return found;
  }
  return undefined;
}
