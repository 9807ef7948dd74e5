import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../../../src/domain/errors.ts';
import type { VendorPage } from '../../../../src/domain/reading.ts';
import { ObservedOrder } from '../../../../src/sync/sweep/list-order.ts';
import { ListReader } from '../../../../src/sync/sweep/list-reader.ts';
import { numberOfFirstPage } from '../../../../src/sync/sweep/page-memory.ts';

const [a, b, c] = [
  [1, 2],
  [3, 4],
  [5, 6],
];
const none: number[] = [];
const refused = new MirrorError('rejected', 'Invalid page.', { errno: 1014 });
const down = new MirrorError('service_unavailable', 'Try later.');
const proxy = new MirrorError('answer_unreadable', 'Not JSON.', { status: 200 });
const unknown = new MirrorError('service_unreachable', 'Reset.');

type Shown = readonly number[] | MirrorError;

function answered(shown: Shown | undefined): Promise<VendorPage> {
  if (shown instanceof MirrorError || !shown) return Promise.reject(shown ?? refused);
  const rows = shown.map((vendorid) => ({ vendorid, raw: '{}', vendor: () => ({ vendorid, unknown: new Map() }) }));
  const counts = { page: 1, pages: 1, perPage: 2, total: rows.length };
  return Promise.resolve({ ...counts, stamp: { readSeq: 1, begun: 0 }, servedAt: undefined, rows });
}

describe('the number of the first page', () => {
  it.each<[string, 0 | 1 | 'undecided' | 'failing' | undefined, Shown[]]>([
    ['pages 0 and 1 show different vendors', 0, [a, b, c]],
    ['page 0 has vendors, and page 1 is refused', 0, [a, refused]],
    ['page 0 is refused', 1, [refused, a]],
    ['page 0 is empty', 1, [none, a]],
    ['page 0 shows page 1, and page 2 other vendors', 1, [a, a, b]],
    ['page 0 shows page 1, and page 2 is empty', 1, [a, a, none]],
    ['page 0 shows page 1, and page 2 is refused', 1, [a, a, refused]],
    ['page 1 may be past the end, and repeat the page before, as page 2 does', 'undecided', [a, a, a]],
    ['page 1 came empty', 'undecided', [a, none]],
    ['the list is empty', 'undecided', [none, none]],
    ['pages 0 and 1 are refused', undefined, [refused, refused]],
    ['page 0 fails each time', 'failing', [down, a]],
    ['page 0 is another server’s page each time', 'failing', [proxy, a]],
    ['page 0 is another server’s page, and page 1 is refused', undefined, [proxy, refused]],
    ['page 0 cannot be reached', undefined, [unknown, a]],
    ['page 1 fails', undefined, [a, down]],
    ['page 2 fails', undefined, [a, a, down]],
  ])('L1 where %s: %s', async (_, expected, pages) => {
    expect(await numberOfFirstPage((number) => answered(pages[number]))).toBe(expected);
  });
});

describe('L1 where page 0 fails, and is answered when it is asked again', () => {
  it.each<[string, number, 0 | 1 | 'failing', Shown[]]>([
    ['once, it is the first page', 1, 0, [a, b, c]],
    ['twice, it is the first page', 2, 0, [a, b, c]],
    ['twice, it may be refused', 2, 1, [refused, b, c]],
  ])('%s', async (_, failures, expected, pages) => {
    let left = failures;
    const fetch = (number: number): Promise<VendorPage> =>
      answered(number === 0 && left-- > 0 ? (left === 0 ? proxy : down) : pages[number]);
    expect(await numberOfFirstPage(fetch, await fetch(1))).toBe(expected);
  });
});

describe('L1 a list that moves by a page between the requests for pages 0 and 1', () => {
  /** Pages of a list from 0, which has moved on by so many pages at each request. */
  const moving =
    (moved: (request: number) => number, asked: number[] = []) =>
    (number: number): Promise<VendorPage> => {
      asked.push(number);
      const at = number - moved(asked.length) + 10;
      return answered([at * 2, at * 2 + 1]);
    };

  it('by vendors that come in does not show that pages count from 1', async () => {
    const fetch = moving((request) => Number(request > 1));
    expect(await numberOfFirstPage(fetch)).toBe(0);
  });

  it('by vendors that are removed does not either', async () => {
    const fetch = moving((request) => -Number(request > 1));
    expect(await numberOfFirstPage(fetch, await fetch(1))).toBe(0);
  });
});

describe('L1 what is remembered of the number of the first page, of a service that counts from 0', () => {
  it.each<[string, 0 | 1 | undefined, { mayAsk: boolean; fails?: number; by?: MirrorError }, number[] | MirrorError]>([
    ['is asked anew after a day, and corrected', 1, { mayAsk: true }, a],
    ['is not asked within a day', 1, { mayAsk: false }, b],
    ['stays where page 0 fails when it is asked', 0, { mayAsk: true, fails: 1 }, a],
    [
      'stays where page 0 keeps failing when it is asked, and the list fails',
      0,
      { mayAsk: true, fails: Infinity },
      down,
    ],
    ['is found at first where page 0 fails twice', undefined, { mayAsk: true, fails: 2 }, a],
    [
      'is not taken for 1 where page 0 cannot be reached',
      undefined,
      { mayAsk: true, fails: Infinity, by: unknown },
      unknown,
    ],
  ])('%s', async (_, firstPage, { mayAsk, fails = 0, by = down }, expected) => {
    let left = fails;
    const page = (number: number): Promise<VendorPage> => answered(number === 0 && left-- > 0 ? by : [a, b, c][number]);
    const reader = new ListReader(
      {
        vendors: { page },
        apply: () => Promise.resolve(new Map()),
        onRequest: () => undefined,
        signal: new AbortController().signal,
        concurrency: 1,
        lag: 0,
        pages: {
          read: () => Promise.resolve({ firstPage, mayAsk, largestPage: 2, countsLists: true }),
          learnFirstPage: () => Promise.resolve(),
          learn: () => Promise.resolve(),
        },
      },
      undefined,
      new ObservedOrder(),
    );
    await reader.learnPages();
    const shown = reader.first().then(({ rows }) => rows.map(({ vendorid }) => vendorid));
    if (expected instanceof MirrorError) await expect(shown).rejects.toBe(expected);
    else expect(await shown).toEqual(expected);
  });
});
