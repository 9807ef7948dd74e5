import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../../../src/domain/errors.ts';
import type { VendorPage } from '../../../../src/domain/reading.ts';
import { IdSet } from '../../../../src/sync/sweep/id-set.ts';
import { walk, type Walk, type Walked } from '../../../../src/sync/sweep/walk.ts';
import { windowOf } from '../../../../src/sync/sweep/window-chain.ts';
import { testbed } from '../../../support/testbed.ts';

type Answer = Pick<VendorPage, 'page' | 'pages' | 'total' | 'rejected'> & { readonly ids: readonly number[] };

/** A page as the service words it; unless told, it is the one that was asked for. */
function pageOf({ ids, ...told }: Answer): VendorPage {
  return {
    stamp: { readSeq: 1, begun: 0 },
    perPage: 2,
    servedAt: undefined,
    ...told,
    rows: ids.map((vendorid) => ({ vendorid, raw: '{}', vendor: () => ({ vendorid, unknown: new Map() }) })),
  };
}

/** Walks a list that answers each page by `answer`; tells which pages were asked for. */
async function walked(
  answer: (page: number) => Answer,
  changed: Partial<Walk> = {},
): Promise<{ pass: NonNullable<Walked['pass']>; windows: Walked['windows']; asked: number[] }> {
  const asked: number[] = [];
  const { pass, windows } = await walk({ ...walkOf(answer, asked), ...changed });
  return { pass: pass!, windows, asked };
}

function walkOf(answer: (page: number) => Answer, asked: number[]): Walk {
  const fetch = (page: number): VendorPage => {
    asked.push(page);
    if (asked.length > 1_000) throw new Error('There is no end.');
    return pageOf(answer(page));
  };
  return {
    concurrency: 1,
    first: fetch(1),
    fullPage: () => 2,
    countsLists: true,
    miscounted: false,
    mayBeginTwice: false,
    fetch: (page) => Promise.resolve().then(() => fetch(page)),
    apply: (page, number) => Promise.resolve({ window: windowOf(page, { page: number, size: 2 }), entered: false }),
  };
}

/** Six vendors, two a page. */
const whole = (page: number): Answer => ({ page, pages: 3, total: 6, ids: page > 3 ? [] : [page * 2 - 1, page * 2] });

describe('a walk over all pages', () => {
  it('A5 A7 L1 requests each page once, and one past the last if that is full', async () => {
    const { pass, asked } = await walked(whole);
    expect(asked).toEqual([1, 2, 3, 4]);
    expect(pass.end).toBe('empty');
    const short = await walked((page) => ({
      ...whole(page),
      total: 5,
      ids: whole(page).ids.slice(0, page === 3 ? 1 : 2),
    }));
    expect(short.asked).toEqual([1, 2, 3]);
    expect(short.pass.end).toBe('counted');
    expect(pass).toMatchObject({ total: 6, whole: true, repeated: false, entered: false });
    expect([...pass.ids]).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('shows the vendors of its own pages where the sweep collects them, whatever the sweep sees later', async () => {
    const seen = new IdSet();
    const plan = walkOf(whole, []);
    const apply: Walk['apply'] = async (page, number) => {
      const applied = await plan.apply(page, number);
      seen.addAll(applied.window.ids);
      return applied;
    };
    const { pass } = await walk({ ...plan, apply, seen });
    seen.addAll([7]);
    expect(pass).toMatchObject({ total: 6, whole: true, repeated: false });
    expect([...pass!.ids]).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('A6 accepts everything on the first page, whatever size was requested', async () => {
    const { pass, asked } = await walked(() => ({ page: 1, pages: 3, total: 6, ids: [1, 2, 3, 4, 5, 6] }));
    expect(asked).toEqual([1, 2]);
    expect(pass).toMatchObject({ total: 6, pages: 1, whole: true, repeated: false, end: 'repeated' });
  });

  it('A6 does not take for everything a first page that shows one of its vendors twice', async () => {
    const failure = walked(() => ({ page: 1, pages: 3, total: 6, ids: [1, 2, 3, 4, 5, 5] }));
    await expect(failure).rejects.toMatchObject({ code: 'paging_ignored' });
  });

  it('A8 follows the number of pages as it grows and shrinks, and notices a changed total', async () => {
    const grown = await walked((page) => ({ ...whole(page), pages: page === 1 ? 2 : 3, total: page === 1 ? 4 : 6 }));
    expect(grown.asked).toEqual([1, 2, 3]);
    expect(grown.pass.total).toBeUndefined();
    const shrunk = await walked((page) => ({ ...whole(page), pages: page === 1 ? 3 : 2, total: page === 1 ? 6 : 4 }));
    expect(shrunk.asked).toEqual([1, 2]);
    expect(shrunk.pass.total).toBeUndefined();
  });

  it.each<[string, number, object]>([
    ['is not whole if a page before others disappeared', 2, { whole: false, end: 'empty' }],
    ['ends where the service refuses a page and answers page 1', 3, { whole: true, end: 'refused' }],
  ])('A7 L1 %s', async (_, missing, expected) => {
    const { pass, asked } = await walked((page) => {
      if (page === missing) throw new MirrorError('not_found', 'There is no such page.');
      return whole(page);
    });
    expect(pass).toMatchObject({ total: 6, ...expected });
    expect(asked.at(-1)).toBe(missing === 3 ? 1 : 4);
  });

  it('K14 A4 identifies the answered page by its rows, whatever number the answer has', async () => {
    const { pass } = await walked((page) => ({ ...whole(page), page: 1 }));
    expect(pass).toMatchObject({ whole: true, repeated: false, total: 6 });
    expect(pass.ids.size).toBe(6);
  });

  const six = [1, 2, 3, 4, 5, 6];
  const listed = (page: number): number[] => six.slice(page * 2 - 2, page * 2);
  const refuse = (): never => {
    throw new MirrorError('rejected', 'Invalid page.', { errno: 1014 });
  };

  it.each<[string, Partial<Answer>, Partial<Walked['pass']>]>([
    ['counts fewer', { total: 3, pages: 2 }, { pages: 3, beyond: true }],
    ['counts no more than a page holds', { total: 2, pages: 1 }, { pages: 3, beyond: true }],
    ['counts nothing', { total: 0, pages: 0 }, { pages: 3, beyond: true }],
    ['counts a single page', { pages: 1 }, { pages: 3, beyond: false }],
    ['counts a billion pages', { pages: 1_000_000_000 }, { pages: 200_000, beyond: false }],
    ['counts a billion pages and fewer rows', { pages: 1_000_000_000, total: 3 }, { pages: 200_000, beyond: true }],
  ])('L1 L20 shows the whole list of a service that %s, whatever it answers past the end', async (_, counts, told) => {
    const answers: Record<string, (page: number) => readonly number[]> = {
      empty: () => [],
      refused: refuse,
      repeated: () => listed(3),
      first: () => listed(1),
    };
    for (const [end, pastEnd] of Object.entries(answers)) {
      const { pass, asked } = await walked((page) => ({
        ...{ page, pages: 3, total: 6, ...counts },
        ids: page > 3 ? pastEnd(page) : listed(page),
      }));
      expect([...pass.ids], end).toEqual(six);
      expect(pass, end).toMatchObject({ ...told, repeated: false, end: end === 'first' ? 'repeated' : end });
      expect(asked.length, end).toBeLessThanOrEqual(6);
    }
  });

  it.each([
    [5, [[1, 2, 3], [4], [5], [6, 7]]],
    [7, [[1, 2], [3, 4, 5], [6, 7], [8, 9, 10], [11]]],
    [6, [[1], [2, 3, 4], [5, 6], [7]]],
  ])(
    'L1 does not end at a page that is not full where pages before are not full either, and %i are counted: %j',
    async (total, pages) => {
      const fetch = (page: number): VendorPage => ({
        ...pageOf({ page, pages: Math.ceil(total / 3), total, ids: pages[page - 1] ?? [] }),
        perPage: 3,
      });
      const { pass } = await walk({
        ...walkOf(whole, []),
        ...{ first: fetch(1), fetch: (page) => Promise.resolve(fetch(page)), fullPage: () => 3 },
      });
      expect([...pass!.ids]).toEqual(pages.flat());
    },
  );

  it('L1 L70 does not end at a page that is not full where a single page was counted, before a service counted a longer list', async () => {
    const plan = (countsLists: boolean, asked: number[]): Walk => ({
      ...walkOf((page) => ({ page, pages: 1, total: 1, ids: page === 1 ? [1] : [] }), asked),
      countsLists,
    });
    const [known, unknown]: [number[], number[]] = [[], []];
    await walk(plan(true, known));
    await walk(plan(false, unknown));
    expect([known, unknown]).toEqual([[1], [1, 2]]);
  });

  it('L1 does not end where as many rows are shown as are counted, if the list was seen to show more than that', async () => {
    // A row that the token may not read leaves a hole, so that the second page is not full.
    const ids = [[1, 2], [3], [5, 6]];
    const answer = (page: number): Answer => ({ page, pages: 2, total: 3, ids: ids[page - 1] ?? [] });
    expect([...(await walked(answer)).pass.ids]).toEqual([1, 2, 3]);
    expect([...(await walked(answer, { miscounted: true })).pass.ids]).toEqual([1, 2, 3, 5, 6]);
  });

  it.each([
    [false, [[1, 2, 3], 2, undefined]],
    [true, [[1, 2, 3], 3, 'empty']],
  ])(
    'L1 follows a list whose total changed to its end only if the list was seen to show more than that: %s',
    async (miscounted, expected) => {
      const ids = [[1, 2], [3]];
      const answer = (page: number): Answer => ({ page, pages: 1, total: page + 1, ids: ids[page - 1] ?? [] });
      const { pass, asked } = await walked(answer, { miscounted });
      expect([[...pass.ids], asked.length, pass.end]).toEqual(expected);
    },
  );

  it.each<[string, (page: number) => readonly number[], object]>([
    ['as a whole', (page) => listed(Math.max(1, page - 1)), { repeated: false, end: 'empty' }],
    ['in part', (page) => (page === 2 ? [2] : listed(Math.max(1, page - 1))), { repeated: true, end: 'empty' }],
    ['and so does each that follows', () => listed(1), { repeated: false, end: 'repeated', pages: 1 }],
  ])(
    'L1 does not end at a second page that repeats the first %s, while nobody knows from which number pages count',
    async (_, ids, expected) => {
      for (const counts of [
        { total: 0, pages: 0 },
        { total: 2, pages: 1 },
      ]) {
        const { pass, asked } = await walked((page) => ({ page, ...counts, ids: ids(page) }), { mayBeginTwice: true });
        expect(pass).toMatchObject(expected);
        expect([...pass.ids]).toEqual(asked.length > 3 ? six : listed(1));
      }
    },
  );

  it('L1 ends where the count says so only at or after the page that is counted as the last, and if no more are counted', async () => {
    const three = (pages: number) => (page: number) => ({
      page,
      pages,
      total: 3,
      ids: [1, 2, 3].slice(page * 2 - 2, page * 2),
    });
    const counted = await walked(three(2), { countsLists: false });
    expect([counted.asked, counted.pass.end]).toEqual([[1, 2], 'counted']);
    const more = await walked(three(3));
    expect([more.asked, more.pass.end]).toEqual([[1, 2, 3], 'empty']);
    const none = await walked(() => ({ page: 1, pages: 0, total: 0, ids: [] }), { countsLists: false });
    expect([none.asked, none.pass.end]).toEqual([[1], 'counted']);
  });

  it.each([
    ['any page of the service had', { fullPage: () => 2 }, 100],
    ['a page may have, as it says', { fullPage: () => 100 }, 2],
  ])('L1 does not end at a page that has as many rows as %s', async (_, changed, perPage) => {
    const plan = walkOf(whole, []);
    const { asked } = await walked(whole, { ...changed, first: { ...plan.first, perPage } });
    expect(asked.at(-1)).toBe(4);
  });

  it('L1 notices a total that changes with each page, and follows the list to its end where more are shown than any counted', async () => {
    const { pass } = await walked((page) => ({ page, pages: 1, total: 1 + (page % 2), ids: listed(page) }));
    expect(pass).toMatchObject({ total: undefined, counted: 2, beyond: true, end: 'empty' });
    expect([...pass.ids]).toEqual(six);
  });

  it.each<[string, (page: number) => Partial<Answer>, boolean]>([
    ['each page counts its own rows', (page) => ({ total: page === 1 ? 2 : 1 }), true],
    ['it changes', (page) => ({ total: page === 1 ? 3 : 2 }), false],
    ['each page has as many rows as are counted', () => ({ total: 2, ids: [1, 2] }), false],
  ])('L1 sees in a page that repeats one before whether `total` counts pages: %s', async (_, told, beyond) => {
    const ids = [[1, 2], [2]];
    const { pass } = await walked((page) => ({ page, pages: 1, total: 0, ids: ids[page - 1] ?? [], ...told(page) }));
    expect(pass).toMatchObject({ beyond });
  });

  it.each([
    ['nothing', 0, 6],
    ['what pages before counted', 6, 6],
    ['another number', 7, undefined],
  ])(
    'A8 notices by an empty page past the end that the list changed, where that counts %s: %#',
    async (_, told, total) => {
      const { pass } = await walked((page) => ({ ...whole(page), total: page > 3 ? told : 6 }));
      expect(pass).toMatchObject({ total, end: 'empty' });
    },
  );

  it('L1 requests no more of the counted pages where all vendors were shown and a page is empty', async () => {
    const pages = [[1], [2, 3], [4, 5]];
    const { asked } = await walked((page) => ({ page, pages: 6, total: 5, ids: pages[page - 1] ?? [] }), {
      fullPage: () => 1,
    });
    expect(asked).toEqual([1, 2, 3, 4]);
  });

  it('L1 gives up after a hundred pages more than showed vendors, however many are counted', async () => {
    const { asked, pass } = await walked((page) => ({ page, pages: 500_000, total: 1_000_000, ids: listed(page) }));
    expect(asked).toHaveLength(3 + 103);
    expect(pass).toMatchObject({ pages: 200_000, end: 'empty' });
  });

  it('L1 looks behind empty pages of hidden vendors as far as vendors are counted, where the service says that there is one page', async () => {
    const hiding = (pages: number): Promise<Awaited<ReturnType<typeof walked>>> =>
      walked((page) => ({ page, pages, total: 10, ids: { 1: [1, 2], 2: [3], 5: [4, 5] }[page] ?? [] }));
    for (const { pass, asked } of [await hiding(1), await hiding(5)]) {
      expect([...pass.ids]).toEqual([1, 2, 3, 4, 5]);
      expect(pass.end).toBe('empty');
      expect(asked).toEqual([1, 2, 3, 4, 5, 6]);
    }
  });

  it('L1 looks behind an empty second page as far as vendors are counted, where the service says that there is one page', async () => {
    const { pass, asked } = await walked((page) => ({
      ...{ page, pages: 1, total: 7 },
      ids: { 1: [1, 2], 3: [3, 4], 4: [5] }[page] ?? [],
    }));
    expect([...pass.ids]).toEqual([1, 2, 3, 4, 5]);
    expect([pass.end, asked]).toEqual(['empty', [1, 2, 3, 4, 5]]);
  });

  it('L1 takes an empty page before the end for none, and says that the list has as many pages as it counts', async () => {
    const pages = [[1, 2], [], [3, 4]];
    const hole = await walked((page) => ({ page, pages: 3, total: 6, ids: pages[page - 1] ?? [] }));
    expect(hole.asked).toEqual([1, 2, 3, 4]);
    expect(hole.pass).toMatchObject({ whole: true, end: 'empty' });
    const one = await walked((page) => ({ ...whole(page), ids: page > 1 ? [] : [1, 2] }));
    expect(one.pass).toMatchObject({ pages: 3, end: 'empty' });
  });

  it.each([
    ['that is counted', 4, 2, [[1, 2], [], [3, 4]]],
    ['past what is counted', 3, 3, [[1, 2], [3, 4], [], [5, 6]]],
  ])('L5 takes for no end a page whose records have no usable id, %s', async (_, total, unusable, pages) => {
    const { pass, asked } = await walked((page) => ({
      ...{ page, pages: 2, total, ids: pages[page - 1] ?? [] },
      ...(page === unusable && { rejected: Array.from({ length: 2 }, () => ({ reason: 'No id.', digest: '' })) }),
    }));
    expect([...pass.ids]).toEqual(pages.flat());
    expect([asked.length, pass.end]).toEqual([pages.length + 1, 'empty']);
  });

  it('L1 sees the end of a list that moved by a page past it that shows a new vendor beside a known one', async () => {
    const { pass } = await walked((page) => ({
      page,
      pages: 2,
      total: 4,
      ids:
        [
          [1, 2],
          [3, 4],
          [4, 5],
        ][page - 1] ?? [],
    }));
    expect([...pass.ids]).toEqual([1, 2, 3, 4, 5]);
    expect(pass).toMatchObject({ repeated: true, end: 'empty' });
  });

  it('A2 takes for no end a counted page that repeats one before', async () => {
    const { pass } = await walked((page) => ({ ...whole(page), ids: page === 3 ? [3, 4] : whole(page).ids }));
    expect(pass).toMatchObject({ repeated: true, end: 'empty' });
  });

  it.each([
    ['not_found', true],
    ['rejected', true],
    ['service_unavailable', false],
    [undefined, false],
  ] as const)('L1 ends by no error but one that says that there is no such page: %s', async (code, isEnd) => {
    const failure = walked((page) => {
      if (page > 3) throw code ? new MirrorError(code, 'No.') : new TypeError('No.');
      return whole(page);
    });
    if (isEnd) expect((await failure).pass.end).toBe('refused');
    else await expect(failure).rejects.toThrow('No.');
  });

  it('shows at one moment only a list that ends on its first page', async () => {
    const atOnce = async (answer: (page: number) => Answer): Promise<boolean> => (await walked(answer)).pass.atOnce;
    expect(await atOnce(() => ({ page: 1, pages: 1, total: 1, ids: [1] }))).toBe(true);
    expect(await atOnce(whole)).toBe(false);
  });

  it('P8 shows no more than 200,000 vendors beyond what is counted', async () => {
    const beyond = (more: number): ReturnType<typeof walked> => {
      const seen = new IdSet(Array.from({ length: 200_002 + more }, (_, nth) => nth + 1));
      return walked((page) => ({ ...whole(page), total: 2 }), { seen });
    };
    expect((await beyond(0)).pass.ids.size).toBe(200_002);
    await expect(beyond(1)).rejects.toMatchObject({
      code: 'sweep_incomplete',
      message: 'The service shows 200000 vendors more than the 2 that it counts, and no end.',
    });
  });

  it('A2 notices a vendor that occurs twice', async () => {
    const { pass } = await walked((page) => ({ ...whole(page), ids: page === 2 ? [2, 3] : whole(page).ids }));
    expect(pass).toMatchObject({ repeated: true });
    expect(pass.ids.size).toBe(5);
  });

  it('A3 distinguishes orders of the same vendors, whichever page comes first', async () => {
    const orderOf = async (answer: (page: number) => Answer): Promise<number> => (await walked(answer)).pass.order;
    const plain = await orderOf(whole);
    expect(await orderOf(whole)).toBe(plain);
    expect(await orderOf((page) => ({ ...whole(page), ids: whole(page).ids.toReversed() }))).not.toBe(plain);
    const moved = (page: number): Answer => ({ ...whole(page), ids: page < 3 ? whole(3 - page).ids : [5, 6] });
    expect(await orderOf(moved)).not.toBe(plain);
  });

  it.each([
    ['by its number', (page: number): Answer => ({ ...whole(1), page: Math.min(page, 1) })],
    ['by its rows alone', (page: number): Answer => ({ ...whole(1), page })],
    ['by the rows that it counts, although it names a single page', (): Answer => ({ ...whole(1), pages: 1 })],
  ])('A4 recognises %s a service that answers every page with the first, after a few requests', async (_, answer) => {
    for (const mayBeginTwice of [false, true]) {
      const asked: number[] = [];
      const failure = walk({ ...walkOf(answer, asked), mayBeginTwice });
      await expect(failure).rejects.toMatchObject({ code: 'paging_ignored', exit: 1 });
      expect(asked.length).toBeLessThanOrEqual(6);
    }
  });

  it('A4 L1 does not confuse one page with room for all that is counted, not all of it shown, with a service that ignores the page', async () => {
    const only = (): Answer => ({ page: 1, pages: 1, total: 3, ids: [1, 2] });
    const { pass } = await walked(only, { first: { ...pageOf(only()), perPage: 3 } });
    expect(pass).toMatchObject({ end: 'repeated', counted: 3 });
  });

  it.each([
    [1, 3],
    [7, 3],
    [8, 1],
  ])(
    'A4 looks at a first page of %i rows %i times more, before it calls the page parameter ignored',
    async (rows, times) => {
      const asked: number[] = [];
      const ids = Array.from({ length: rows }, (_, nth) => nth + 1);
      const failure = walk(walkOf(() => ({ page: 1, pages: 3, total: 3 * rows, ids }), asked));
      await expect(failure).rejects.toMatchObject({ code: 'paging_ignored' });
      expect(asked.slice(2).filter((page) => page === 1)).toHaveLength(times);
    },
  );

  it('A4 does not confuse a second page that shows the first and one of it twice with a service that ignores the page', async () => {
    const { pass } = await walked((page) => ({ ...whole(page), ids: page === 2 ? [1, 2, 1] : whole(page).ids }));
    expect(pass.repeated).toBe(true);
  });

  it('A4 does not confuse a shuffled list that repeats its first page with a service that ignores the page', async () => {
    let firsts = 0;
    const { pass } = await walked((page) => {
      // By chance, page 1 shows the same two once more.
      if (page === 1) return firsts++ < 2 ? whole(1) : { ...whole(1), ids: [5, 6] };
      return page === 2 ? { ...whole(2), ids: [1, 2] } : whole(page);
    });
    expect(pass.repeated).toBe(true);
  });
});

describe('a walk over a list that is seen to change', () => {
  const grown = (page: number): Answer => ({ ...whole(page), total: page === 1 ? 6 : 7 });
  const entering: Partial<Walk> = {
    apply: (page, number) =>
      Promise.resolve({ window: windowOf(page, { page: number, size: 2 }), entered: number === 2 }),
  };

  it.each<[string, (page: number) => Answer, Partial<Walk>]>([
    ['by its total', grown, {}],
    ['by a vendor that entered', whole, entering],
  ])('%s, ends where another proof takes over, and otherwise goes on', async (_, answer, changed) => {
    const over = await walked(answer, { ...changed, onMove: () => true });
    expect(over).toMatchObject({ asked: [1, 2, 3], pass: undefined });
    expect(over.windows.map(({ ids }) => ids)).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    const on = await walked(answer, { ...changed, onMove: () => false });
    expect(on.asked.slice(0, 3)).toEqual([1, 2, 3]);
    expect(on.pass.entered).toBe('apply' in changed);
  });

  it('has the next pages on their way while the first one is applied', async () => {
    const asked: number[] = [];
    const plan = walkOf(whole, asked);
    let isApplied = (): void => undefined;
    const applied = new Promise<void>((resolve) => (isApplied = resolve));
    const order: number[] = [];
    const { pass } = await walk({
      ...plan,
      concurrency: 2,
      fetch: (page) => {
        if (page === 3) isApplied();
        return plan.fetch(page);
      },
      apply: async (page, number) => {
        if (number === 1) await applied;
        order.push(number);
        return plan.apply(page, number);
      },
    });
    expect(pass?.end).toBe('empty');
    expect(order[0]).toBe(1);
  });

  it('throws what applying the first page threw, after the requests under way ended', async () => {
    const asked: number[] = [];
    const plan = walkOf(whole, asked);
    let underWay = 0;
    const refused = walk({
      ...plan,
      fetch: async (page) => {
        underWay += 1;
        return plan.fetch(page).finally(() => (underWay -= 1));
      },
      apply: () => Promise.reject(new Error('full')),
    });
    await expect(refused).rejects.toThrow('full');
    expect(underWay).toBe(0);
  });

  it('goes to its end where nothing changes', async () => {
    const still = await walked(whole, { onMove: () => expect.unreachable() });
    expect(still.pass.end).toBe('empty');
  });
});

describe('a walk with several requests at a time', () => {
  /** Answers page 2 only after page 3 was answered. */
  const late = (answer: (page: number) => Answer, asked: number[], first: number, then: number): Walk => {
    const plan = walkOf(answer, asked);
    let answered = (): void => undefined;
    const other = new Promise<void>((resolve) => (answered = resolve));
    return {
      ...plan,
      concurrency: 2,
      fetch: async (page) => {
        if (page === then) await other;
        return plan.fetch(page).finally(() => {
          if (page === first) answered();
        });
      },
    };
  };

  it('L1 sees the last page as such, though a page before it comes later', async () => {
    const asked: number[] = [];
    const five = (page: number): Answer => ({ ...whole(page), total: 5, ids: [[1, 2], [3, 4], [5]][page - 1] ?? [] });
    const { pass } = await walk(late(five, asked, 3, 2));
    expect(asked).toEqual([1, 3, 2]);
    expect(pass).toMatchObject({ end: 'counted', repeated: false });
  });

  it('L1 counts an empty page before the last as one of the list, though it comes later', async () => {
    const { windows, pass } = await walk(
      late((page) => ({ ...whole(page), ids: page === 2 ? [] : whole(page).ids }), [], 3, 2),
    );
    expect(windows).toHaveLength(3);
    expect(pass).toMatchObject({ end: 'empty', pages: 3 });
  });

  it('L1 sees the end in the first page behind the last, whichever comes first', async () => {
    const { pass } = await walk(
      late(
        (page) => {
          if (page === 4) throw new MirrorError('not_found', 'There is no such page.');
          return { page, pages: 4, total: 8, ids: page < 3 ? whole(page).ids : [] };
        },
        [],
        4,
        3,
      ),
    );
    expect(pass).toMatchObject({ end: 'empty' });
  });

  it.each<[string, Partial<Walk>, (page: number) => readonly number[], string[]]>([
    ['pages are full', {}, (page) => (page < 6 ? [page, page + 100] : []), ['2', '3 4 5', '6 7 8']],
    [
      'the last of them is not full',
      {},
      (page) => [[], [1, 2], [3, 4], [5, 6], [7, 8], [9]][page] ?? [],
      ['2', '3 4 5', '6'],
    ],
    ['none of them is', {}, (page) => (page < 4 ? [page] : []), ['2', '3', '4']],
    [
      'nobody knows whether the second page was the first again',
      { mayBeginTwice: true },
      (page) => (page < 4 ? [[], [1, 2], [1, 2], [3, 4]][page]! : []),
      ['2', '3', '4 5 6'],
    ],
  ])(
    'L1 requests pages past what is counted alone, and beyond a full one together, where %s',
    async (_, changed, ids, expected) => {
      const batches: number[][] = [];
      let open: number[] = [];
      // One more than the list has, so that no count ends the walk.
      const total = 1 + Array.from({ length: 9 }, (_, index) => ids(index + 1)).flat().length;
      const plan = walkOf((page) => ({ page, pages: 1, total, ids: ids(page) }), []);
      await walk({
        ...plan,
        ...changed,
        concurrency: 3,
        fetch: (page) => {
          if (open.length === 0) batches.push(open);
          open.push(page);
          return plan.fetch(page).finally(() => (open = []));
        },
      });
      expect(batches.map((pages) => pages.join(' '))).toEqual(expected);
    },
  );
});

describe('a pull from a service that ignores the page parameter', () => {
  it.each(['paging=ignored', 'paging=echoed'])(
    'A4 %s: the pull ends with one clear sentence and exit code 1, and no vendor is gone',
    async (world) => {
      const at = await testbed({ level: 'account', vendors: 60, world: [world, 'perPage=ignored'] });
      const run = await at.pull();
      expect(run).toMatchObject({ outcome: 'incomplete', suspects: 0, error: { code: 'paging_ignored', exit: 1 } });
      expect(run.error!.message).toMatch(
        /^The service ignores the page parameter: page \d of \d was answered with page 1 again, so only 15 of \d\d vendors can be read\.$/,
      );
      // Three of them ask whether pages count from 0.
      expect(run.requests).toBeLessThan(14);
      expect(at.query('SELECT vendorid FROM vendors')).toHaveLength(15);
      expect(at.query("SELECT vendorid FROM vendors WHERE presence <> 'present'")).toEqual([]);
      await at.clock.advance(60_000);
      expect(await at.pull()).toMatchObject({ outcome: 'incomplete', suspects: 0 });
      expect(at.query("SELECT vendorid FROM vendors WHERE presence <> 'present'")).toEqual([]);
    },
  );
});
