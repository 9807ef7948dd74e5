import { describe, expect, it } from 'vitest';
import { IdSet } from '../../src/sync/id-set.ts';
import { Proof, type Conclusion, type Pass } from '../../src/sync/proof.ts';

function pass(ids: readonly number[], told: Partial<Omit<Pass, 'ids'>> = {}): Pass {
  return { ids: new IdSet(ids), total: 4, pages: 2, whole: true, repeated: false, entered: false, ...told };
}

/** The conclusion after each pass. */
function conclusions(...passes: readonly Pass[]): Conclusion[] {
  const proof = new Proof();
  return passes.map((one) => proof.add(one));
}

const complete = { complete: true, pages: 2, unreadable: 0 };

describe('the proof that nothing was missed', () => {
  it('A9 as many distinct vendors as the total', () => {
    expect(conclusions(pass([1, 2, 3, 4]))).toEqual([{ ...complete, shown: 4 }]);
  });

  it('A3 or several passes that have them together, while the total stands still', () => {
    expect(conclusions(pass([1, 2], { repeated: true }), pass([2, 3], { repeated: true }), pass([4]))).toMatchObject([
      { complete: false },
      { complete: false },
      complete,
    ]);
  });

  it('A8 no pass during which the total moved, and none from before it moved', () => {
    const moved = pass([1, 2, 3, 4], { total: undefined });
    expect(conclusions(pass([1, 2]), moved, pass([3, 4]))).toMatchObject([
      { complete: false, anew: false },
      { complete: false, anew: true },
      { complete: false },
    ]);
    expect(conclusions(pass([1, 2]), pass([3, 4], { total: 5 }))).toMatchObject([
      { complete: false },
      { complete: false },
    ]);
  });

  it('A1 A2 no pass that showed a vendor which had just entered', () => {
    expect(conclusions(pass([1, 2, 3, 4], { entered: true }))).toMatchObject([{ complete: false, anew: true }]);
  });

  it('A9 the same shortfall twice in a row is counted by the service and not readable', () => {
    expect(conclusions(pass([1, 2, 3]), pass([1, 2, 3]))).toEqual([
      expect.objectContaining({ complete: false }),
      { ...complete, shown: 3, unreadable: 1 },
    ]);
  });

  it.each([
    ['of other vendors', pass([1, 2, 9], { total: 5 }), pass([1, 2, 3], { total: 5 })],
    ['with a vendor that came twice', pass([1, 2, 3], { repeated: true }), pass([1, 2, 3])],
    ['with a page that was answered as another', pass([1, 2, 3], { whole: false }), pass([1, 2, 3])],
    ['with another total', pass([1, 2, 3], { total: 5 }), pass([1, 2, 3])],
  ])('A9 but not a shortfall after one %s', (_, before, after) => {
    expect(conclusions(before, after)).toMatchObject([{ complete: false }, { complete: false }]);
  });

  it('A3 A9 where the order changes with every request, twenty passes and five without news say the same', () => {
    const proof = new Proof();
    const passes = Array.from({ length: 21 }, (_, index) =>
      proof.add(pass(index % 2 ? [1, 2] : [2, 3], { repeated: true })),
    );
    expect(passes.findIndex((conclusion) => conclusion.complete)).toBe(19);
    expect(passes[19]).toEqual({ ...complete, shown: 3, unreadable: 1 });
  });

  it('A4 however many passes say nothing where pages were answered as others', () => {
    const proof = new Proof();
    const passes = Array.from({ length: 40 }, () => proof.add(pass([1, 2], { whole: false })));
    expect(passes.filter((conclusion) => conclusion.complete)).toEqual([]);
  });

  it('never counts vendors that are no longer there', () => {
    expect(conclusions(pass([1, 2, 3]), pass([4, 5, 6]), pass([4, 5, 6, 7]))).toMatchObject([
      { complete: false },
      { complete: false },
      complete,
    ]);
  });
});
