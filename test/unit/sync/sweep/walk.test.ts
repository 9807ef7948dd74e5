import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../../../src/domain/errors.ts';
import type { VendorPage } from '../../../../src/domain/reading.ts';
import { IdSet } from '../../../../src/sync/sweep/id-set.ts';
import { walk, type Walk, type Walked } from '../../../../src/sync/sweep/walk.ts';
import { windowOf } from '../../../../src/sync/sweep/window-chain.ts';
import { testbed } from '../../../support/testbed.ts';

type Answer = Pick<VendorPage, 'page' | 'pages' | 'total'> & { readonly ids: readonly number[] };

/** A page as the service words it; unless told, it is the one that was asked for. */
function pageOf({ page, pages, total, ids }: Answer): VendorPage {
  return {
    stamp: { readSeq: 1, begun: 0 },
    page,
    pages,
    perPage: 2,
    total,
    servedAt: undefined,
    rows: ids.map((vendorid) => ({ vendorid, raw: '{}', vendor: () => ({ vendorid, unknown: new Map() }) })),
  };
}

/** Walks a list that answers each page by `answer`; tells which pages were asked for. */
async function walked(
  answer: (page: number) => Answer,
  changed: Partial<Walk> = {},
): Promise<{ pass: NonNullable<Walked['pass']>; asked: number[] }> {
  const asked: number[] = [];
  const { pass } = await walk({ ...walkOf(answer, asked), ...changed });
  return { pass: pass!, asked };
}

function walkOf(answer: (page: number) => Answer, asked: number[]): Walk {
  const fetch = (page: number): VendorPage => {
    asked.push(page);
    return pageOf(answer(page));
  };
  return {
    concurrency: 1,
    first: fetch(1),
    fullPage: () => 2,
    countsLists: true,
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
    expect(pass).toMatchObject({ total: 6, whole: true, repeated: false, end: 'repeated' });
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

  it.each<[string, Partial<Answer>]>([
    ['counts fewer', { total: 3, pages: 2 }],
    ['counts no more than a page holds', { total: 2, pages: 1 }],
    ['counts nothing', { total: 0, pages: 0 }],
    ['counts a single page', { pages: 1 }],
    ['counts a billion pages', { pages: 1_000_000_000 }],
    ['counts a billion pages and fewer rows', { pages: 1_000_000_000, total: 3 }],
  ])('L1 L20 shows the whole list of a service that %s, whatever it answers past the end', async (_, counts) => {
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
      expect(pass.end, end).toBe(end === 'first' ? 'repeated' : end);
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
  ])('A4 recognises %s a service that answers every page with the first, after a few requests', async (_, answer) => {
    const asked: number[] = [];
    const failure = walk(walkOf(answer, asked));
    await expect(failure).rejects.toMatchObject({ code: 'paging_ignored', exit: 1 });
    expect(asked.length).toBeLessThanOrEqual(5);
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
      // Two of them ask whether pages count from 0.
      expect(run.requests).toBeLessThan(12);
      expect(at.query('SELECT vendorid FROM vendors')).toHaveLength(15);
      expect(at.query("SELECT vendorid FROM vendors WHERE presence <> 'present'")).toEqual([]);
      await at.clock.advance(60_000);
      expect(await at.pull()).toMatchObject({ outcome: 'incomplete', suspects: 0 });
      expect(at.query("SELECT vendorid FROM vendors WHERE presence <> 'present'")).toEqual([]);
    },
  );
});
