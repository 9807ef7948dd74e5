import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../../../src/domain/errors.ts';
import type { VendorPage } from '../../../../src/domain/reading.ts';
import { IdSet } from '../../../../src/sync/sweep/id-set.ts';
import type { Pass } from '../../../../src/sync/sweep/passes.ts';
import { walk, type Walk } from '../../../../src/sync/sweep/walk.ts';
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
async function walked(answer: (page: number) => Answer): Promise<{ pass: Omit<Pass, 'splitsTimes'>; asked: number[] }> {
  const asked: number[] = [];
  const { pass } = await walk(walkOf(answer, asked));
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
    fetch: (page) => Promise.resolve().then(() => fetch(page)),
    apply: (page, number) => Promise.resolve({ window: windowOf(page, { page: number, size: 2 }), entered: false }),
  };
}

/** Six vendors, two a page. */
const whole = (page: number): Answer => ({ page, pages: 3, total: 6, ids: [page * 2 - 1, page * 2] });

describe('a walk over all pages', () => {
  it('A5 A7 requests each page once, and none past the last', async () => {
    const { pass, asked } = await walked(whole);
    expect(asked).toEqual([1, 2, 3]);
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
    expect(asked).toEqual([1]);
    expect(pass).toMatchObject({ total: 6, whole: true, repeated: false });
  });

  it('A8 follows the number of pages as it grows and shrinks, and notices a changed total', async () => {
    const grown = await walked((page) => ({ ...whole(page), pages: page === 1 ? 2 : 3, total: page === 1 ? 4 : 6 }));
    expect(grown.asked).toEqual([1, 2, 3]);
    expect(grown.pass.total).toBeUndefined();
    const shrunk = await walked((page) => ({ ...whole(page), pages: page === 1 ? 3 : 2, total: page === 1 ? 6 : 4 }));
    expect(shrunk.asked).toEqual([1, 2]);
    expect(shrunk.pass.total).toBeUndefined();
  });

  it('A7 is not whole if a page disappeared', async () => {
    const { pass } = await walked((page) => {
      if (page === 3) throw new MirrorError('not_found', 'There is no such page.');
      return whole(page);
    });
    expect(pass).toMatchObject({ whole: false, total: 6 });
  });

  it('K14 A4 identifies the answered page by its rows, whatever number the answer has', async () => {
    const { pass } = await walked((page) => ({ ...whole(page), page: 1 }));
    expect(pass).toMatchObject({ whole: true, repeated: false, total: 6 });
    expect(pass.ids.size).toBe(6);
  });

  it.each<[string, (page: number) => Answer, boolean]>([
    ['full', whole, true],
    ['not full', (page) => ({ ...whole(page), total: 5, ids: whole(page).ids.slice(0, page === 3 ? 1 : 2) }), false],
  ])('L70 knows whether the last page, and no other, is full: it is %s', async (_, answer, full) => {
    expect((await walked(answer)).pass).toMatchObject({ full, atOnce: false });
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
      expect(run.requests).toBeLessThan(8);
      expect(at.query('SELECT vendorid FROM vendors')).toHaveLength(15);
      expect(at.query("SELECT vendorid FROM vendors WHERE presence <> 'present'")).toEqual([]);
      await at.clock.advance(60_000);
      expect(await at.pull()).toMatchObject({ outcome: 'incomplete', suspects: 0 });
      expect(at.query("SELECT vendorid FROM vendors WHERE presence <> 'present'")).toEqual([]);
    },
  );
});
