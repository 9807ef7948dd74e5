import { describe, expect, it } from 'vitest';
import { absenceBound, Breaker, isBelieved, isBlank, type CountedList } from '../../../src/sync/breaker.ts';
import { account } from '../../support/names.ts';
import { testbed } from '../../support/testbed.ts';

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

  const blank: CountedList = { pages: 2, shown: 0, unreadable: 8 };

  it.each<[string, Partial<CountedList>, boolean]>([
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

describe('the breaker of a run', () => {
  it.each([
    ['more is counted than the mirror holds', 7, 0, true],
    ['as much is counted', 8, 0, false],
    ['a person approved as much as is counted', 7, 8, false],
    ['a person approved less', 7, 7, true],
  ])('L70 takes several empty pages for a fault where %s', async (_, present, approved, trips) => {
    const at = await testbed({ level: 'account', vendors: 0 });
    const { mirror } = at.installation;
    const run = await mirror.runs.beginRun({ accountId: account, kind: 'pull', trigger: 'command' });
    const breaker = new Breaker(at.installation.account(account), run, { present, base: present, approved });
    const checked = breaker.checkBlank({ pages: 2, shown: 0, unreadable: 8 }).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!trips) {
      expect(await checked).toBeUndefined();
      return;
    }
    expect(await checked).toMatchObject({ code: 'breaker_tripped' });
    expect(((await checked) as Error).message).toMatch(/^The service counts 8 vendors on 2 pages and shows none: /);
    expect(at.query('SELECT vendorid, fields FROM findings')).toEqual([
      { vendorid: null, fields: `{"suspects":8,"present":${present}}` },
    ]);
  });
});
