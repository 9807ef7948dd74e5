import { describe, expect, it } from 'vitest';
import { IdSet } from '../../../../src/sync/sweep/id-set.ts';
import { Passes, type Conclusion, type Pass } from '../../../../src/sync/sweep/passes.ts';

function pass(ids: readonly number[], told: Partial<Omit<Pass, 'ids'>> = {}): Pass {
  return {
    ids: new IdSet(ids),
    order: ids[0] ?? 0,
    total: 4,
    pages: 2,
    whole: true,
    repeated: false,
    entered: false,
    splitsTimes: false,
    counted: told.total ?? 4,
    beyond: ids.length > (told.total ?? 4),
    end: 'empty',
    atOnce: false,
    began: 0,
    ended: 0,
    ...told,
  };
}

/** The conclusion after each pass. */
function conclusions(...passes: readonly Pass[]): Conclusion[] {
  const proof = new Passes(0);
  return passes.map((one) => proof.add(one));
}

const complete = { complete: true, proof: 'passes', pages: 2, unreadable: 0 };

const nine = [1, 2, 3, 4, 5, 6, 7, 8, 9];

describe('a list is proven complete', () => {
  it('A9 by as many distinct vendors as its total', () => {
    expect(conclusions(pass([1, 2, 3, 4]))).toEqual([{ ...complete, proof: 'plain', shown: 4 }]);
  });

  it('A3 by several passes that show them together while the total is constant', () => {
    expect(conclusions(pass([1, 2], { repeated: true }), pass([2, 3], { repeated: true }), pass([4]))).toMatchObject([
      { complete: false },
      { complete: false },
      complete,
    ]);
    const again = { repeated: true };
    expect(conclusions(pass([1, 2], again), pass([3, 4], again))[1]).toEqual({ ...complete, shown: 4 });
  });

  it('A8 by no pass during which the total changed, and none from before', () => {
    const moved = pass([1, 2, 3, 4], { total: undefined });
    expect(conclusions(pass([1, 2]), moved, pass([3, 4]))).toMatchObject([
      { complete: false, startsOver: false },
      { complete: false, startsOver: true, afterLag: true },
      { complete: false },
    ]);
    expect(conclusions(pass([1, 2]), pass([3, 4], { total: 5 }))).toMatchObject([
      { complete: false },
      { complete: false },
    ]);
    // What was seen while five were counted is nothing to four.
    expect(conclusions(pass([1, 2, 3], { total: 5 }), pass([4]))[1]!.complete).toBe(false);
  });

  it('L1 by passes during which the total changed, once more vendors were shown than are counted', () => {
    const changed = { total: undefined, counted: 8, beyond: false, repeated: true };
    const proof = new Passes(0);
    const passes = Array.from({ length: 20 }, (_, nth) =>
      proof.add(nth === 0 ? pass(nine, { total: 8 }) : pass(nine.slice(nth % 3), { ...changed, order: nth })),
    );
    expect(passes.findIndex((conclusion) => conclusion.complete)).toBe(19);
    expect(passes[1]).toMatchObject({ startsOver: false, afterLag: false });
  });

  it('A1 A2 by no pass that showed a vendor which may have entered meanwhile', () => {
    expect(conclusions(pass([1, 2, 3, 4], { entered: true }))).toMatchObject([{ complete: false, startsOver: true }]);
  });

  const short = (told: Partial<Pass> = {}): Pass => pass(nine, { total: 11, ...told });

  it.each([
    ['on several pages', short()],
    ['on one page, in whatever order', pass([1, 2], { pages: 1 })],
  ])('A9 by the same shortfall twice in a row, %s: the service counts vendors that cannot be read', (_, one) => {
    expect(conclusions(one, { ...one, order: one.order + (one.pages === 1 ? 1 : 0) })).toEqual([
      expect.objectContaining({ complete: false }),
      { ...complete, pages: one.pages, shown: one.ids.size, unreadable: 2 },
    ]);
  });

  it.each([
    ['of other vendors', pass([...nine.slice(1), 10], { total: 11, order: 1 })],
    ['in another order', short({ order: 2 })],
    ['with a vendor that came twice', short({ repeated: true })],
    ['with a page that was answered as another', short({ whole: false })],
    ['with another total', short({ total: 12 })],
    ['with a vendor that may have entered', short({ entered: true })],
    ['whose end was seen in another way', short({ end: 'repeated' })],
  ])('A9 not by a shortfall after one %s', (_, before) => {
    expect(conclusions(before, short())).toMatchObject([{ complete: false }, { complete: false }]);
  });

  it('A3 A9 not by a few vendors on several pages that agree by chance: ten passes must agree', () => {
    const alike = Array.from({ length: 10 }, () => pass([1, 2, 3]));
    expect(conclusions(...alike).map((conclusion) => conclusion.complete)).toEqual([...nine.map(() => false), true]);
    expect(conclusions(...alike.slice(1), pass([1, 2, 3], { order: 9 }))).not.toContainEqual(
      expect.objectContaining({ complete: true }),
    );
  });

  it('A3 A9 by twenty passes, the last five without a new vendor, if the order changes with every request', () => {
    const proof = new Passes(0);
    const passes = Array.from({ length: 21 }, (_, index) =>
      proof.add(pass(index % 2 ? [1, 2] : [2, 3], { repeated: true })),
    );
    expect(passes.findIndex((conclusion) => conclusion.complete)).toBe(19);
    expect(passes[19]).toEqual({ ...complete, shown: 3, unreadable: 1 });
  });

  it('L70 A9 by two alike passes of eight vendors on several pages, and not of seven', () => {
    const twice = (one: Pass): boolean => conclusions(one, one)[1]!.complete;
    expect([twice(pass(nine.slice(1), { total: 11 })), twice(pass(nine.slice(2), { total: 11 }))]).toEqual([
      true,
      false,
    ]);
  });

  it.each<[string, Partial<Pass>, boolean]>([
    ['saw the end, and show more than is counted', { total: 8 }, true],
    ['saw the end, and show less than is counted', { total: 10 }, true],
    ['saw pages repeated past the end', { total: 10, end: 'repeated' }, true],
    ['did not see the end', { total: 10, end: undefined }, false],
    ['show rows that may be in another order on each page', { splitsTimes: true, total: 10 }, false],
  ])('L1 L70 by two alike passes that %s: %s', (_, told, expected) => {
    expect(conclusions(pass(nine, told), pass(nine, told))[1]!.complete).toBe(expected);
  });

  it.each<[string, number, number, boolean[]]>([
    ['as long after it as copies may be old', 7_000, 5_000, [true]],
    ['as long after its beginning', 6_999, 5_000, [false, true]],
    ['right after it', 2_000, 5_000, [false, false, false, true]],
    ['right after it, where no copy is old', 2_000, 0, [true]],
  ])('L1 by a pass that is alike another, if it begins %s: %#', (_, begins, lag, expected) => {
    const proof = new Passes(lag);
    const one = pass(nine, { total: 8, began: 0, ended: 2_000 });
    expect(proof.add(one)).toMatchObject({ complete: false, afterLag: true });
    const later = expected.map((_, nth) => proof.add({ ...one, began: begins * (nth + 1), ended: begins * (nth + 2) }));
    expect(later.map(({ complete }) => complete)).toEqual(expected);
    for (const conclusion of later.slice(0, -1)) expect(conclusion).toMatchObject({ afterLag: true });
  });

  it('L1 by no alike pass that is worth waiting for, where each shows another order, or a vendor twice; times that may be split the last pass may have', () => {
    const proof = new Passes(5_000);
    const one = pass(nine, { total: 8, ended: 2_000 });
    const afterLag = (changed: Partial<Pass>): unknown => {
      const conclusion = proof.add({ ...one, ...changed });
      return !conclusion.complete && conclusion.afterLag;
    };
    expect([afterLag({ repeated: true }), afterLag({ splitsTimes: true }), afterLag({ order: 2 })]).toEqual([
      false,
      true,
      false,
    ]);
    expect(afterLag({ order: 2 })).toBe(true);
  });

  it('L1 by no pass that did not see the end, whatever is counted, nor by one in which a vendor came twice', () => {
    const whole = [1, 2, 3, 4];
    expect(conclusions(pass(whole, { end: undefined }))[0]!.complete).toBe(false);
    expect(conclusions(pass(whole, { repeated: true }), pass(whole))).toMatchObject([{ complete: false }, complete]);
  });

  it('L1 by no count where the list showed more than it counts: in this walk, in an earlier one, in an earlier sweep', () => {
    const short = pass([1, 2, 3, 4], { order: 1 });
    expect(conclusions(pass([1, 2, 3, 4, 5]), short)).toMatchObject([{ complete: false }, { complete: false }]);
    const known = new Passes(0, true);
    expect([known.add(short).complete, known.add(short).complete]).toEqual([false, false]);
    const joined = conclusions(pass([1, 2, 3], { total: 4 }), pass([3, 4, 5], { total: 4 }), short);
    expect(joined.map((conclusion) => conclusion.complete)).toEqual([false, false, false]);
    // Nor by another count.
    const other = pass([1, 2, 3, 4, 6], { total: 5 });
    expect(conclusions(pass([1, 2, 3]), pass([3, 4, 5]), other)[2]!.complete).toBe(false);
    const many = pass(nine, { total: 8 });
    expect(conclusions(many, many)[1]).toEqual({ ...complete, shown: 9, unreadable: -1 });
  });

  it('L70 by a pass with a vendor that entered only where one page showed everything at one moment', () => {
    const at = (atOnce: boolean): boolean => conclusions(pass([1, 2, 3, 4], { entered: true, atOnce }))[0]!.complete;
    expect([at(true), at(false)]).toEqual([true, false]);
  });

  it('L70 by no number of passes in one order, and by the fifth without a new vendor', () => {
    const oneOrder = Array.from({ length: 40 }, () => pass([1, 2], { repeated: true, order: 7 }));
    expect(conclusions(...oneOrder).some(({ complete }) => complete)).toBe(false);
    const late = Array.from({ length: 21 }, (_, nth) =>
      pass(nth === 15 ? [2, 3] : [1, 2], { repeated: true, order: nth }),
    );
    expect(conclusions(...late).findIndex(({ complete }) => complete)).toBe(20);
  });

  it('A4 by no number of passes in which pages were answered with other pages', () => {
    const proof = new Passes(0);
    const passes = Array.from({ length: 40 }, (_, order) => proof.add(pass([1, 2], { whole: false, order })));
    expect(passes.filter((conclusion) => conclusion.complete)).toEqual([]);
  });

  it('without counting vendors that are no longer listed', () => {
    const left = pass([4, 5, 6, 7]);
    expect(conclusions(pass([1, 2, 3]), pass([4, 5, 6]), left, left).map((conclusion) => conclusion.complete)).toEqual([
      false,
      false,
      false,
      false,
    ]);
    const eight = pass([1, 2, 3, 4, 5, 6, 7, 8], { total: 8 });
    const others = pass([2, 3, 4, 5, 6, 7, 8, 9], { total: 8, repeated: true });
    expect(conclusions(others, { ...eight, repeated: true }, eight, eight).at(-1)).toEqual({ ...complete, shown: 8 });
  });

  it.each<[string, Partial<Pass>]>([
    ['the number of vendors changed during the walk', { total: undefined }],
    ['vendors entered the list during the walk', { entered: true }],
    ['the end of the list was not seen', { end: undefined }],
    ['a page was answered with another page', { whole: false, repeated: true }],
    ['the list changed during the walk: 2 of 4 vendors were seen', { repeated: true }],
    ['the service counts 4 vendors and showed 2', {}],
  ])('and otherwise the run says: %s', (why, told) => {
    expect(conclusions(pass([1, 2], told))).toMatchObject([{ complete: false, why }]);
  });
});

it('a list that shows vendors twice in the same places each time does not change: that is said, not to run it again', () => {
  const again = () => pass([1, 2, 3], { repeated: true });
  const [, , third, fourth, fifth, sixth] = conclusions(
    ...[again(), again(), again(), again(), pass([1, 2, 3], { repeated: true, order: 9 }), again()],
  );
  const changes = { complete: false, isLasting: false, why: expect.stringMatching(/^the list changed/) as string };
  expect([third, fifth, sixth]).toMatchObject([changes, changes, changes]);
  expect(fourth).toMatchObject({
    complete: false,
    isLasting: true,
    why: 'the list shows some vendors twice, in the same places each time, so it may lack others: 3 of 4 were seen',
  });
});
