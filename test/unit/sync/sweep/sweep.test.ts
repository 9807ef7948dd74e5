import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../../src/sandbox/core/random.ts';
import { scriptOf, swept, worldOf as drawnWorld } from '../../../simulation/sweeps/sweeps.ts';
import { orders, type ListWorld } from '../../../simulation/sweeps/scripted-list.ts';

const seeds = 150;

/** A list of several pages, as in life; the short lists of `npm run sweeps` have whatever else may be odd. */
function worldOf(seed: number, order: ListWorld['order']): ListWorld {
  const random = seededRandom(seed);
  return {
    order,
    vendors: 20 + random.below(60),
    cap: 5 + random.below(15),
    held: random.pick(['none', 'some', 'all']),
    hidesDeleted: true,
    told: random.happens(0.5),
    lag: 0,
    clockAhead: 0,
    zone: 0,
    stalePages: false,
    unshown: random.happens(0.1) ? 2 : 0,
    hidesPage: false,
    group: 1,
    sizeHonoured: true,
    zoneOfUpdates: 0,
    counts: 'right',
    pageCount: 'counted',
    firstPage: 1,
    pastEnd: 'empty',
    pageIgnored: false,
  };
}

describe('a sweep of a list that changes', () => {
  it.each(orders)(
    `A1 A2 A3 A8 misses no unchanged vendor when it is complete, in ${seeds} histories ordered by %s`,
    async (order) => {
      let complete = 0;
      for (let seed = 1; seed <= seeds; seed++) {
        const world = worldOf(seed, order);
        const changes = seededRandom(seed).pick([0, 2, 10, 30]);
        const { proof, lost } = await swept(world, scriptOf(seed, changes, 40, world.vendors), seed);
        expect(lost, `order ${order}, seed ${seed}`).toEqual([]);
        if (proof !== undefined) complete += 1;
      }
      // It is no proof where nothing is ever complete.
      expect(complete / seeds).toBeGreaterThan(order === 'shuffled' ? 0.4 : 0.9);
    },
  );
});

describe('a sweep of a short list', () => {
  it.each([
    ['two alike walks were answered from old copies', [74741, 81565]],
    ['the second page was the first one again', [20681, 77103]],
    ['windows ended where a wrong count ends', [38546, 83250]],
  ])('L1 misses no unchanged vendor where %s', async (_, drawn) => {
    for (const seed of drawn) {
      const { proof, lost } = await swept(drawnWorld(seed), scriptOf(seed, seed % 6), seed);
      expect([proof, lost], `seed ${seed}`).toEqual(['passes', []]);
    }
  });
});
