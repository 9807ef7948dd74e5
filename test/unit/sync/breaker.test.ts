import { describe, expect, it } from 'vitest';
import { isBelieved, isBlank, trips } from '../../../src/sync/breaker.ts';
import type { Complete } from '../../../src/sync/sweep/passes.ts';

describe('the breaker', () => {
  it.each([
    ['the number of the settings', { present: 10, approved: 0 }, 5],
    ['the share of the settings, rounded down', { present: 199, approved: 0 }, 19],
    ['what a person approved', { present: 199, approved: 30 }, 30],
  ])('L70 trips above %s, and not at it', (_, scale, limit) => {
    const tripped = [limit - 1, limit, limit + 1].map((suspects) =>
      trips(suspects, scale, { vendors: 5, percent: 10 }),
    );
    expect(tripped).toEqual([false, false, true]);
  });

  const blank: Complete = { complete: true, proof: 'plain', pages: 2, shown: 0, unreadable: 8 };

  it.each<[string, Partial<Complete>, boolean]>([
    ['several empty pages and more counted than known', {}, true],
    ['a vendor', { shown: 1 }, false],
    ['a single page', { pages: 1 }, false],
    ['no more counted than known', { unreadable: 7 }, false],
  ])('L70 takes a list with %s for a blank one: %#', (_, changed, expected) => {
    expect(isBlank({ ...blank, ...changed }, 7)).toBe(expected);
  });

  it.each([
    [1, 5, 0, true],
    [0, 5, 4, false],
    [0, 5, 5, true],
  ])(
    'L70 with %i vendors shown, %i suspects and %i approved: believed is %s',
    (shown, suspects, approved, expected) => {
      expect(isBelieved({ ...blank, shown }, suspects, approved)).toBe(expected);
    },
  );
});
