/** Each condition under which windows prove a list complete, on both sides of its limit. */
import { describe, expect, it } from 'vitest';
import type { ListOrder, ObservedOrder } from '../../../../src/sync/sweep/list-order.ts';
import {
  chainOf,
  endsUncounted,
  holdsEnd,
  pieceOf,
  refutesCount,
  windowFrom,
  windowOf,
  windowOfEnd,
  windowsToEnd,
  type Chain,
  type Window,
} from '../../../../src/sync/sweep/window-chain.ts';
import { joinWindows, type Joined } from '../../../../src/sync/sweep/windows.ts';

/** A window by its ids alone, or by the times of its rows; nowhere near the end unless told. */
function windowOn(rows: readonly number[], told: Partial<Window> = {}): Window {
  const [first = NaN, last = NaN] = [rows[0], rows.at(-1)];
  const edge = { first, last, lastGroup: rows.filter((time) => time === last).length };
  return {
    page: 1,
    size: 4,
    ids: rows,
    times: { created_at: edge, updated_at: edge },
    total: 100,
    pages: 25,
    ...told,
  };
}

/** Shows the end: at least half of it is empty. */
const atEnd = { page: 2, size: 8, pages: 2, total: 12 };

describe('the end of a list', () => {
  const end = windowOn([1, 2], { page: 3, size: 4, pages: 3, total: 10 });

  it.each<[string, Partial<Window>, boolean]>([
    ['its last page, half of it empty, with as many rows as are left', {}, true],
    ['fewer rows than are left', { ids: [1] }, true],
    ['more rows than are left', { ids: [1, 2, 3] }, false],
    ['more than half of it full', { total: 11, ids: [1, 2, 3] }, false],
    ['a third of it and three places empty', { page: 3, size: 9, total: 24 }, true],
    ['less than a third of it empty', { page: 3, size: 9, total: 25 }, false],
    ['a quarter of it empty, however many places that are', { page: 3, size: 12, total: 33 }, false],
    ['less than half of it empty, and two places', { page: 3, size: 6, total: 16 }, false],
    ['less than half of it empty, and three places', { page: 3, size: 7, total: 18 }, true],
    ['a page before the last', { total: 14 }, false],
    ['a page after the last', { total: 8, ids: [] }, false],
    ['its last page, whatever is said of `pages`', { pages: 1_000_000_000 }, true],
  ])('L70 is in a window that is %s: %#', (_, changed, expected) => {
    expect(holdsEnd({ ...end, ...changed })).toBe(expected);
  });

  it.each([
    ['as many rows as its count leaves', 10, [1, 2], false],
    ['one more', 10, [1, 2, 3], true],
    ['fewer, which may be hidden', 10, [1], false],
    ['a row past the end', 8, [1], true],
    ['no row past the end', 4, [], false],
  ])('L1 a count is refuted by a window that shows %s: %#', (_, total, ids, expected) => {
    expect(refutesCount({ ...end, total, ids })).toBe(expected);
  });

  it.each([
    ['half of its places filled', [1, 2], true],
    ['more than half', [1, 2, 3], false],
    ['no row, which shows nothing', [], false],
  ])('L1 where counts mean nothing, is in a window with %s: %#', (_, ids, expected) => {
    expect(endsUncounted({ ...end, ids })).toBe(expected);
  });

  it('is judged by what the answer says, and by what was requested, whatever page the answer says it is', () => {
    const rows = [4, 2].map((vendorid) => ({ vendorid, raw: '{}', vendor: () => ({ vendorid, unknown: new Map() }) }));
    const stamp = { readSeq: 1, begun: 0 };
    const page = { stamp, rows, page: 1, pages: 3, perPage: 9, total: 10, servedAt: undefined };
    const times = windowOn([7, 5]).times;
    expect(windowOf(page, { page: 3, size: 4 }, times)).toEqual({ ...end, ids: [4, 2], times });
  });
});

describe('two windows', () => {
  const ofIds: ListOrder = { key: 'vendorid', descending: false };
  const rising: ListOrder = { key: 'created_at', descending: false };
  const byUpdate: ListOrder = { key: 'updated_at', descending: true };
  const chain = (order: ListOrder, first: Window, ...others: Window[]): Chain =>
    chainOf({ first, joined: pieceOf(first), others }, order);
  const gapsOf = (...windows: Parameters<typeof chain>): number => chain(...windows).gaps.length;

  it.each<[string, ListOrder, readonly number[], readonly number[], boolean]>([
    ['share their last and first vendor', ofIds, [1, 2, 3], [3, 4, 5], true],
    ['share no vendor', ofIds, [1, 2, 3], [4, 5, 6], false],
    ['overlap and share no vendor', ofIds, [1, 2, 4], [3, 5, 6], false],
    ['overlap and share one behind another', ofIds, [1, 2, 4], [3, 4, 6], true],
    ['share a vendor, the highest first', { ...ofIds, descending: true }, [9, 8, 7], [7, 6, 5], true],
    ['share none, the highest first', { ...ofIds, descending: true }, [9, 8, 7], [6, 5, 4], false],
    ['overlap by a time', rising, [10, 20, 30], [29, 40, 50], true],
    ['meet in a time, whose rows may be in any order', rising, [10, 20, 30], [30, 40, 50], false],
    ['overlap by an update', byUpdate, [90, 80, 70], [71, 60, 50], true],
    ['meet in an update', byUpdate, [90, 80, 70], [70, 60, 50], false],
    [
      'overlap by updates, the first one all of one time, which may have moved',
      byUpdate,
      [90, 90],
      [91, 60, 50],
      false,
    ],
    ['overlap by creations, the first one all of one time', { ...rising, descending: true }, [90, 90], [91, 60], true],
  ])('L70 that %s are joined: %#', (_, order, left, right, joined) => {
    // Where the order is by a time, ids say nothing.
    const ids = order.key === 'vendorid' ? {} : { ids: [1] };
    expect(gapsOf(order, windowOn(left, ids), windowOn(right, { ...atEnd, ...ids }))).toBe(joined ? 0 : 1);
  });

  it('L70 are joined in whatever order they were read, and one without rows or times says nothing', () => {
    const first = windowOn([1, 2, 3]);
    const [next, last] = [windowOn([3, 4, 5]), windowOn([5, 6], atEnd)];
    const empty = windowOn([], { ...atEnd, times: undefined });
    for (const others of [
      [next, last, empty],
      [next, empty, last],
      [last, next, empty],
      [last, empty, next],
      [empty, next, last],
      [empty, last, next],
    ])
      expect(gapsOf(ofIds, first, ...others)).toBe(0);
    expect(gapsOf(rising, windowOn([10, 30]), empty, windowOn([20, 40], atEnd))).toBe(0);
    expect(gapsOf(rising, windowOn([10, 30], { times: undefined }), windowOn([20, 40], atEnd))).toBe(1);
  });

  it('L70 leave no gap where one is between rows of another', () => {
    const first = windowOn([1, 2, 3, 9]);
    const end = windowOn([9, 10], atEnd);
    expect(gapsOf(ofIds, first, windowOn([4, 5]), end)).toBe(0);
    expect(gapsOf(ofIds, windowOn([1, 2, 3]), windowOn([3, 20], atEnd), windowOn([4, 8]))).toBe(0);
    // It ends in the same time, and may show other rows of it.
    expect(gapsOf(rising, windowOn([10, 20, 30], atEnd), windowOn([30, 30]))).toBe(0);
    // The list ended before: so a shorter one shows the end, and the longer one still reaches farthest.
    expect(gapsOf(ofIds, first, windowOn([3, 4], atEnd), windowOn([5, 7]))).toBe(0);
    // Only one that is joined does.
    expect(gapsOf(ofIds, first, windowOn([4, 5], atEnd))).toBe(1);
    expect(gapsOf(ofIds, first, windowOn([4, 5], atEnd), end)).toBe(0);
  });

  it('L70 that are not joined leave their gap behind what is joined to the beginning', () => {
    const [first, next, beyond] = [windowOn([1, 2, 3]), windowOn([3, 4]), windowOn([8, 9], atEnd)];
    expect(chain(ofIds, first, next, beyond)).toEqual({
      gaps: [{ left: next, right: beyond }],
      joined: { farthest: next, windows: [first, next] },
      end: beyond,
    });
  });

  it('L70 leave a gap to the end unless the one that reaches farthest shows it', () => {
    const first = windowOn([1, 2, 3]);
    expect(gapsOf(ofIds, first, windowOn([3, 4, 5]))).toBe(1);
    expect(gapsOf(ofIds, first, windowOn([3, 4, 5]), windowOn([4, 5], atEnd))).toBe(0);
    expect(gapsOf(ofIds, first, windowOn([3, 4, 5], atEnd), windowOn([8, 9]))).toBe(2);
    expect(gapsOf(ofIds, first, windowOn([2, 3]), windowOn([3, 4], atEnd))).toBe(0);
    expect(gapsOf(ofIds, windowOn([1, 2], atEnd))).toBe(0);
  });
});

describe('requests for windows', () => {
  it('L70 begin at or before their row, reach as far as a page may, and hold as many rows as possible', () => {
    for (let cap = 1; cap <= 7; cap += 1)
      for (let row = 0; row <= 30; row += 1) {
        const { page, size } = windowFrom(row, cap);
        expect([row, cap, (page - 1) * size <= row, size <= cap, size >= Math.ceil(cap / 2)]).toEqual([
          ...[row, cap],
          ...[true, true, true],
        ]);
        const reach = Array.from({ length: cap - Math.ceil(cap / 2) + 1 }, (_, less) => cap - less);
        const ends = reach.map((other) => (Math.floor(row / other) + 1) * other);
        expect(page * size).toBe(Math.max(...ends));
        expect(size).toBe(reach[ends.indexOf(page * size)]);
      }
  });

  it('L70 for the end begin at or before their row and have half of them empty where such a request exists, otherwise a third', () => {
    const isFit = (row: number, total: number, size: number, most: number): boolean => {
      const begin = (Math.ceil(total / size) - 1) * size;
      // A third of it is free and three places, or half.
      const fits = { 8: 5, 7: 4, 6: 3, 5: 2, 4: 2 }[size] ?? 0;
      return begin >= 0 && begin <= row && total - begin <= Math.min(most, fits);
    };
    for (let total = 0; total <= 30; total += 1)
      for (let row = 0; row <= total; row += 1) {
        const sizes = [8, 7, 6, 5, 4].filter((size) => isFit(row, total, size, 8));
        const size = sizes.find((one) => isFit(row, total, one, one / 2)) ?? sizes[0];
        expect([total, row, windowOfEnd(row, total, 8)]).toEqual([
          ...[total, row],
          size === undefined ? undefined : { page: Math.ceil(total / size), size },
        ]);
      }
  });

  it.each([
    [15, 6],
    [20, 1],
    [25, 0],
    [100, 0],
  ])('L22 for the end exist for nearly every total: of 20,000 with %i a page, for all but %i', (cap, most) => {
    let without = 0;
    for (let total = 1; total <= 20_000; total += 1) {
      const requested = windowOfEnd(total, total, cap);
      if (!requested) without += 1;
      else {
        const begin = (requested.page - 1) * requested.size;
        const shown = { ...windowOn([]), ...requested, total, ids: Array.from({ length: total - begin }, () => 1) };
        if (!holdsEnd(shown)) throw new Error(`not the end of ${total}`);
      }
    }
    expect(without).toBe(most);
  });

  it.each([2, 5, 8])(
    'L70 to the end overlap by %i rows, or by fewer where they must, and leave no row out',
    (overlap) => {
      for (let total = 8; total <= 60; total += 1) {
        let known = 8;
        let requests = 0;
        for (const { page, size } of windowsToEnd({ row: 8, total, cap: 8 }, overlap)) {
          expect((page - 1) * size).toBeLessThan(known);
          known = Math.max(known, page * size);
          // As many as are requested at once.
          if (++requests === 20) break;
        }
        expect(known, `of ${total}`).toBeGreaterThanOrEqual(total);
      }
    },
  );

  it('L70 to the end are over with the first that shows the end', () => {
    for (let total = 26; total <= 200; total += 1) {
      const isEnd: boolean[] = [];
      for (const { page, size } of windowsToEnd({ row: 25, total, cap: 25 }, 2)) {
        const ids = Array.from({ length: Math.max(0, total - (page - 1) * size) }, () => 1);
        isEnd.push(holdsEnd({ ...windowOn([]), page, size, total, ids }));
        if (isEnd.length === 20) break;
      }
      expect(isEnd.indexOf(true), `of ${total}`).toBe(isEnd.length - 1);
    }
  });

  it('L70 to the end are none where a page has two rows, which could not overlap', () => {
    expect([...windowsToEnd({ row: 2, total: 7, cap: 2 }, 1)]).toEqual([]);
  });
});

interface Walked {
  readonly joined: Joined;
  readonly reads: number;
}

/** Joins windows that are joined already, and answers what is read then with these, the last one again and again. */
async function walked(
  direction: 'falling' | 'rising' | undefined,
  answers: readonly Window[],
  known: { first: Window; others: readonly Window[] } = {
    first: windowOn([100, 100, 90]),
    others: [windowOn([95, 50], atEnd)],
  },
): Promise<Walked> {
  const order = {
    candidates: () => [{ key: 'updated_at', descending: direction !== 'rising' }],
    byUpdate: () => direction,
    isUnknown: () => false,
  } as unknown as ObservedOrder;
  let reads = 0;
  const joined = await joinWindows({
    ...known,
    order,
    cap: 4,
    concurrency: 1,
    miscounted: false,
    read: () => Promise.resolve(answers[Math.min(reads++, answers.length - 1)] ?? 'no_such_page'),
  });
  return { joined, reads };
}

describe('a list whose recent updates are first', () => {
  const quiet = windowOn([100, 90, 80, 70]);
  const front = windowOn([120, 110, 105, 101]);

  it.each<[string, readonly Window[], Walked]>([
    [
      'ends with a row older than where the walk began',
      [windowOn([110, 105, 100, 99])],
      { joined: 'joined', reads: 1 },
    ],
    [
      'ends in the time at which the walk began, so that others of it may be behind',
      [windowOn([110, 100, 100, 100])],
      { joined: 'not_joined', reads: 3 },
    ],
    ['ends with the list', [windowOn([110, 100], atEnd)], { joined: 'joined', reads: 1 }],
    ['has no times', [windowOn([], { times: undefined })], { joined: 'not_joined', reads: 1 }],
    ['is not there', [], { joined: 'not_joined', reads: 1 }],
  ])('L70 is seen whole where its front %s: %#', async (_, answers, expected) => {
    expect(await walked('falling', answers)).toEqual(expected);
  });

  it.each<[string, readonly Window[], Joined]>([
    ['overlaps it and reaches behind it', [front, windowOn([105, 101, 95]), windowOn([120, 110, 95])], 'joined'],
    ['begins in its last time', [front, windowOn([101, 95])], 'not_joined'],
    ['begins behind it', [front, windowOn([100, 95])], 'not_joined'],
    ['ends in its last time', [front, windowOn([105, 101])], 'not_joined'],
    ['ends in the time at which the walk began', [front, windowOn([105, 101, 100])], 'not_joined'],
    ['has no times', [front, windowOn([105, 95], { times: undefined })], 'not_joined'],
    ['ends with the list', [front, windowOn([105, 100], atEnd), windowOn([120, 95])], 'joined'],
  ])('L70 is seen whole where what follows a front of recent rows %s: %#', async (_, answers, expected) => {
    expect((await walked('falling', answers)).joined).toBe(expected);
  });

  it('L70 is read from its front until nothing is newer than at the front before, at most twelve times', async () => {
    const again = [front, windowOn([105, 101, 95]), windowOn([130, 125, 121]), windowOn([125, 110]), quiet];
    expect(await walked('falling', again)).toEqual({ joined: 'joined', reads: 5 });
    const newer = Array.from({ length: 30 }, (_, nth) => [
      windowOn([1_000 + 10 * nth, 1_000 + 10 * nth - 4]),
      windowOn([1_000 + 10 * nth - 3, 50]),
    ]).flat();
    expect(await walked('falling', newer)).toEqual({ joined: 'not_joined', reads: 24 });
  });
});

describe('a list whose recent updates are last, or in no order of updates', () => {
  // The end of fourteen rows can be requested, two rows before it.
  const atEnd = { page: 2, size: 12, pages: 2, total: 14 };
  const known = { first: windowOn([10, 20, 30]), others: [windowOn([25, 50], atEnd)] };

  it.each<[string, readonly Window[], Joined]>([
    ['shows the end and is joined', [windowOn([45, 60], atEnd)], 'joined'],
    ['is not joined', [windowOn([50, 60], atEnd)], 'not_joined'],
    ['no longer shows the end', [windowOn([45, 60], { ...atEnd, total: 30 })], 'not_joined'],
    ['is not there', [], 'not_joined'],
  ])('L70 is seen whole where the window that is read last %s: %#', async (_, answers, expected) => {
    expect((await walked('rising', answers, known)).joined).toBe(expected);
  });

  it('L70 is seen whole by the windows alone', async () => {
    expect(await walked(undefined, [])).toEqual({ joined: 'joined', reads: 0 });
  });
});

describe('a list that is known to show more vendors than it counts', () => {
  /** A list in the order of ids, of which no row that is `hidden` is shown, and what its `total` counts. */
  const joinedOf = async (rows: number, hidden: readonly number[], total: number): Promise<[Joined, number[]]> => {
    const shown: number[] = [];
    const read = ({ page, size }: { page: number; size: number }): Window => {
      const places = Array.from({ length: size }, (_, nth) => (page - 1) * size + nth + 1);
      const ids = places.filter((id) => id <= rows && !hidden.includes(id));
      shown.push(...ids);
      return windowOn(ids, { page, size, total, pages: Math.ceil(total / size) });
    };
    const order = {
      candidates: () => [{ key: 'vendorid', descending: false }],
      byUpdate: () => undefined,
      isUnknown: () => false,
    } as unknown as ObservedOrder;
    const joined = await joinWindows({
      ...{ first: read({ page: 1, size: 8 }), others: [], order, cap: 8, concurrency: 1, miscounted: true },
      read: (requested) => Promise.resolve(read(requested)),
    });
    return [joined, [...new Set(shown)].sort((a, b) => a - b)];
  };

  it.each([
    [18, 10, [11, 12, 13, 14]],
    [27, 12, [10, 12, 13, 15]],
  ])('L1 has not ended where its count does: it has %i rows, counts %i, and hides %j', async (rows, total, hidden) => {
    const [joined] = await joinedOf(rows, hidden, total);
    expect(joined).toBe('not_joined');
  });

  it.each([
    [18, 10],
    [27, 20],
    [33, 8],
    [41, 0],
  ])('L1 is seen whole where it has %i rows, counts %i, and hides none', async (rows, total) => {
    const [joined, shown] = await joinedOf(rows, [], total);
    expect(joined).toBe('joined');
    expect(shown).toHaveLength(rows);
  });
});
