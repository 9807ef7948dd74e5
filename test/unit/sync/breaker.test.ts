import { describe, expect, it } from 'vitest';
import { absenceBound, isBelieved, refuseShortfall, trips } from '../../../src/sync/breaker.ts';

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

  it.each([
    ['three, however few there are', 20, 3],
    ['a tenth', 150, 15],
    ['the number of the settings', 1_000, 20],
    ['a hundredth of very many', 5_000, 50],
  ])('L2 lets as many go without a word as %s', (_, base, bound) => {
    expect(absenceBound(base, { vendors: 20, percent: 10 })).toBe(bound);
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
      expect(isBelieved({ complete: true, proof: 'plain', pages: 2, unreadable: 8, shown }, suspects, approved)).toBe(
        expected,
      );
    },
  );
});
