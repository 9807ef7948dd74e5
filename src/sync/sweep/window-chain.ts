/**
 * When do windows prove that a list was seen whole, although it never stood still?
 *
 * A page is a window: a contiguous piece of the list, as it stood at one moment. Vendors that nobody touches keep their order
 * among each other from one moment to the next. Take one that stood still all along and is in no window. It is not in the
 * first window, which begins at the beginning: so it stands behind it. Let it stand behind some window, and let a second one
 *
 * - share a vendor with the first, where the list is ordered by something that never changes (a number): the shared vendor stands
 *   before ours in the first, so it does in the second; the second is contiguous, shows the shared one and not ours: ours stands
 *   behind all of it;
 * - or begin with an earlier time than the first one's last, where it is ordered by a time: ours bears the first one's last time or
 *   a later one, so it stands behind the second one's beginning, and then behind all of it. Rows of one time may stand
 *   in another order for each request: because the comparison is strict, the whole group of that time is inside the second window.
 *
 * So it stands behind every window of a chain, the last included. But the last shows the end of the list: a contradiction.
 * This holds whatever was inserted, removed or moved meanwhile, and in whatever sequence the windows were read. A vendor
 * that moved while the windows were read may be in none of them; windows.ts says what is done about those.
 */
import type { ListOrder } from './list-order.ts';
import { holdsEnd, type Window } from './window.ts';

/** Two neighbouring windows that are not joined; `right` is missing where the list goes on and nothing is known of it. */
export interface Gap {
  readonly left: Window;
  readonly right: Window | undefined;
}

/** Windows that are joined to each other, of which those that reach farthest are kept. */
export interface Piece {
  readonly farthest: Window;
  readonly windows: readonly Window[];
}

export interface Chain {
  /** None where the windows are joined from the beginning to the end. */
  readonly gaps: readonly Gap[];
  /** What is joined from the beginning on. */
  readonly joined: Piece;
  /** The window that shows the end of the list. */
  readonly end: Window | undefined;
}

export interface ListWindows {
  /** The window that begins at the beginning, and was read before all others. */
  readonly first: Window;
  /** What is known to be joined to it. */
  readonly joined: Piece;
  readonly others: readonly Window[];
}

/** So many windows that reach farthest are tried as the one to which the next is joined. */
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

/** Whether a vendor that stood still behind all of `left`, and is not in `right`, stands behind all of `right`. */
function joins(left: Window, right: Window, order: ListOrder, first: Window): boolean {
  const position = positionIn(order);
  if (order.key === 'vendorid') return sharesVendor(left, right, position.last(left), order.descending);
  // By last update, rows as young as the first window's own may have moved while it was read.
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

/** Whether all rows that bear the last time of `left` are in `right`: it begins before them. */
export function holdsLastGroup(left: Window, right: Window, position: Position): boolean {
  return position.first(right) < position.last(left);
}

/** Where a window begins and ends, in numbers that rise along the list. */
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
