import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { IdSet } from '../../../../src/sync/sweep/id-set.ts';

const ids = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 2_000 });
/** Around the largest id of four bytes, and the largest of all. */
const largeIds = fc.array(fc.oneof(fc.integer({ min: 2 ** 32 - 3, max: 2 ** 32 + 3 }), fc.maxSafeInteger()));

describe('a set of ids', () => {
  it('contains what a Set would, whatever the order of additions and queries', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ ids, asks: fc.constantFrom('nothing', 'has', 'size', 'all') })), (steps) => {
        const [ours, plain] = [new IdSet(), new Set<number>()];
        for (const step of steps) {
          ours.addAll(step.ids);
          for (const id of step.ids) plain.add(id);
          if (step.asks === 'size') expect(ours.size).toBe(plain.size);
          if (step.asks === 'all') expect([...ours]).toEqual([...plain].sort((a, b) => a - b));
          if (step.asks === 'has')
            for (let id = 0; id <= 3_000; id += 7) expect(ours.has(id), String(id)).toBe(plain.has(id));
        }
        expect(ours.equals(new IdSet([...plain].reverse()))).toBe(true);
        expect(ours.equals(new IdSet([...plain, 3_001]))).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  it('contains ids of any size', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(ids, largeIds)), (additions) => {
        const set = new IdSet();
        for (const added of additions) set.addAll(added);
        const all = additions.flat();
        expect([...set]).toEqual([...new Set(all)].sort((a, b) => a - b));
        for (const id of [...all, 2 ** 32]) expect(set.has(id)).toBe(all.includes(id));
      }),
      { numRuns: 50 },
    );
  });

  it.each(['copy', 'original'])('of which a copy was made: only the %s changes', (changed) => {
    fc.assert(
      fc.property(ids, fc.oneof(ids, largeIds), (begun, added) => {
        const original = new IdSet(begun);
        const copy = new IdSet(original);
        const [one, other] = changed === 'copy' ? [copy, original] : [original, copy];
        one.addAll(added);
        const sorted = (list: number[]) => [...new Set(list)].sort((a, b) => a - b);
        expect([...one]).toEqual(sorted([...begun, ...added]));
        expect([...other]).toEqual(sorted(begun));
      }),
      { numRuns: 50 },
    );
  });

  it.each([1, -1])('sorts each id only a few times although it is queried after every page (order %i)', (order) => {
    const sort = vi.spyOn(Uint32Array.prototype, 'sort');
    const [pages, perPage] = [1_000, 100];
    const set = new IdSet();
    for (let page = 0; page < pages; page += 1) {
      set.addAll(Array.from({ length: perPage }, (_, row) => 1e6 + order * (page * perPage + row)));
      expect(set.has(page)).toBe(false);
    }
    const sorted = sort.mock.contexts.reduce<number>((sum, sortedIds) => sum + (sortedIds as Uint32Array).length, 0);
    expect(sorted / (pages * perPage)).toBeLessThan(2 * Math.log2(pages));
  });
});
