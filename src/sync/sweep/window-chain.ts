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
 */
import type { ListOrder } from './list-order.ts';
import { holdsEnd, type Window } from './window.ts';

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
}

/** How many of the farthest windows are tried for joining the next. */
const mostTried = 8;

export function pieceOf(window: Window): Piece {
  return { farthest: window, windows: [window] };
}

/** Joins windows of a list in a known order. */
export function chainOf({ first, joined, others }: ListWindows, order: ListOrder): Chain {
  const position = positionIn(order);
  const sorted = others
    .filter((window) => Number.isFinite(position.first(window)))
    .sort((a, b) => position.first(a) - position.first(b) || position.last(a) - position.last(b));
  const gaps: Gap[] = [];
  let piece = joined;
  let fromBeginning: Piece | undefined;
  let end = joined.windows.findLast(holdsEnd);
  for (const window of sorted) {
    const goesFurther = position.last(window) > position.last(piece.farthest);
    const showsEnd = holdsEnd(window);
    if (!goesFurther && !showsEnd) continue;
    if (piece.windows.some((left) => joins(left, window, order, first))) {
      if (showsEnd) end = window;
      piece = goesFurther
        ? { farthest: window, windows: [...piece.windows, window].slice(-mostTried) }
        : { ...piece, windows: [window, ...piece.windows] };
    } else if (goesFurther) {
      gaps.push({ left: piece.farthest, right: window });
      fromBeginning ??= piece;
      piece = pieceOf(window);
      end = showsEnd ? window : undefined;
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
