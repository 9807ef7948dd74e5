import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../../src/sandbox/core/random.ts';
import { sweep, type SweepResult } from '../../../../src/sync/sweep/sweep.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';
import { ChurningList, orders, type ChurnPlan } from '../../../support/churning-list.ts';

const seeds = 1_000;

function planOf(seed: number, order: ChurnPlan['order']): ChurnPlan {
  const random = seededRandom(seed);
  return {
    seed,
    order,
    vendors: 20 + random.below(60),
    perPage: 5 + random.below(15),
    changes: random.pick([0.005, 0.02, 0.1]),
    told: random.pick([0, 0.5, 1]),
    unreadable: random.happens(0.1) ? 2 : 0,
  };
}

function sweepOf(list: ChurningList): Promise<SweepResult> {
  return sweep({
    vendors: { page: (number) => Promise.resolve(list.page(number)) },
    apply: (page) => Promise.resolve(list.apply(page)),
    onRequest: () => undefined,
    clock: virtualClock({ auto: true }),
    lag: 0,
    passes: 24,
    concurrency: 4,
    signal: new AbortController().signal,
  });
}

describe('a sweep of a list that moves', () => {
  it.each(orders)(
    `A1 A2 A3 A8 loses no vendor that stood still when it says complete, in ${seeds} histories ordered by %s`,
    async (order) => {
      let complete = 0;
      for (let seed = 1; seed <= seeds; seed++) {
        const list = new ChurningList(planOf(seed, order));
        const { conclusion, seen } = await sweepOf(list);
        if (!conclusion.complete) continue;
        complete += 1;
        const lost = [...list.still].filter((vendorid) => !seen.has(vendorid));
        expect(lost, `order ${order}, seed ${seed}`).toEqual([]);
      }
      // It is no proof where nothing is ever complete.
      expect(complete / seeds).toBeGreaterThan(order === 'shuffled' ? 0.4 : 0.9);
    },
  );
});
