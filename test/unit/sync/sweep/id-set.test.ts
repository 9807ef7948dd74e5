import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { IdSet } from '../../../../src/sync/sweep/id-set.ts';

const ids = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 2_000 });

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

  it.each([1, -1])('sorts each id only a few times although it is queried after every page (order %i)', (order) => {
    const sort = vi.spyOn(Float64Array.prototype, 'sort');
    const [pages, perPage] = [1_000, 100];
    const set = new IdSet();
    for (let page = 0; page < pages; page += 1) {
      set.addAll(Array.from({ length: perPage }, (_, row) => 1e6 + order * (page * perPage + row)));
      expect(set.has(page)).toBe(false);
    }
    const sorted = sort.mock.contexts.reduce<number>((sum, sortedIds) => sum + (sortedIds as Float64Array).length, 0);
    expect(sorted / (pages * perPage)).toBeLessThan(2 * Math.log2(pages));
  });
});
