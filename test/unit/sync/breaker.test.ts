import { describe, expect, it } from 'vitest';
import { absenceBound, isBelieved, refuseShortfall } from '../../../src/sync/breaker.ts';

describe('the breaker', () => {
  it.each([
    [0, 3],
    [20, 3],
    [39, 3],
    [40, 4],
    [199, 19],
    [200, 20],
    [500, 20],
    [2_099, 20],
    [2_100, 21],
    [200_000, 2_000],
  ])('L11 lets %i vendors lose %i: three, a tenth up to twenty, or a hundredth', (base, bound) => {
    expect(absenceBound(base, { vendors: 20, percent: 10 })).toBe(bound);
  });

  it.each([
    [{ vendors: 2, percent: 50 }, 3],
    [{ vendors: 7, percent: 50 }, 7],
    [{ vendors: 1_000_000, percent: 100 }, 100],
    [{ vendors: 0, percent: 0 }, 3],
  ])('L11 with %o lets 100 vendors lose %i', (settings, bound) => {
    expect(absenceBound(100, settings)).toBe(bound);
  });

  it.each([
    ['no more than the bound', { unreadable: 10 }, { elsewhere: 0, accepted: 0 }, true],
    ['one more', { unreadable: 11 }, { elsewhere: 0, accepted: 0 }, false],
    ['those that other lists show', { unreadable: 60 }, { elsewhere: 50, accepted: 0 }, true],
    [
      'those that a person accepted, and as many more as the bound',
      { unreadable: 60 },
      { elsewhere: 0, accepted: 50 },
      true,
    ],
    ['one more than that', { unreadable: 61 }, { elsewhere: 0, accepted: 50 }, false],
    ['anything, where nothing is shown', { shown: 0, unreadable: 59 }, { elsewhere: 0, accepted: 0 }, false],
    ['more shown than counted', { unreadable: -90 }, { elsewhere: 0, accepted: 0 }, true],
  ])('L2 believes a list that lacks %s: %#', (_, list, known, expected) => {
    const refused = (): void => refuseShortfall({ shown: 100, ...list }, known, { vendors: 20, percent: 10 });
    if (expected) expect(refused).not.toThrow();
    else expect(refused).toThrow(/counts \d+ vendors and shows/);
  });

  it.each([
    [1, 5, 0, true],
    [0, 5, 4, false],
    [0, 5, 5, true],
  ])(
    'L70 with %i vendors shown, %i suspects and %i approved: believed is %s',
    (shown, suspects, approved, expected) => {
      expect(isBelieved({ shown }, suspects, approved)).toBe(expected);
    },
  );
});
