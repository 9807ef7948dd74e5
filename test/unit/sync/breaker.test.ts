/** How many absences need a person's word, what is counted, and what the person is told. */
import { describe, expect, it } from 'vitest';
import { absenceBound, Breaker, day, isBelieved, refuseShortfall } from '../../../src/sync/breaker.ts';
import { defaultSettings } from '../../support/settings.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { account, lag, row } from '../../support/testbed/store.ts';

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

  it.each([
    [0, 'The service counts 160 vendors and shows 105: 55 are missing. The role'],
    [7, 'The service counts 160 vendors and shows 105: 55 are missing, where a person accepted 7. The role'],
  ])('L2 says how many are missing, and that a person accepted %i', (accepted, told) => {
    const refused = (): void =>
      refuseShortfall({ shown: 100, unreadable: 60 }, { elsewhere: 5, accepted }, { vendors: 20, percent: 10 });
    expect(refused).toThrow(expect.objectContaining({ code: 'too_many_unreadable' }));
    expect(refused).toThrow(told);
  });
});

describe('the breaker of a run', () => {
  const settings = { ...defaultSettings.sync, breaker: { vendors: 20, percent: 10 } };

  /** Of an account of 41 vendors, of which a day began with 40 and four may be lost, two were lost just now. */
  async function opened(approved: number): Promise<{ at: Testbed<'store'>; breaker: Breaker }> {
    const at = await testbed({ level: 'store' });
    await at.page(await at.ask(), row(1, 'one'), row(2, 'two'));
    at.clocks.running += lag;
    for (const vendorid of [1, 2]) await at.absence(await at.ask(), vendorid);
    const run = await at.mirror.runs.beginRun({ accountId: account, kind: 'pull', trigger: 'command' });
    const scale = { present: 41, base: 40, approved };
    return { at, breaker: new Breaker({ mirror: at.mirror, accountId: account, sync: settings }, run, scale) };
  }

  it.each([
    ['what the last day left of four', 0, 0, 2],
    ['no less for an approval of fewer', 1, 0, 2],
    ['as many as a person approved, whatever was lost before', 3, 0, 3],
    ['the same until the day has passed', 0, day - 1, 2],
    ['all four when it has', 0, day, 4],
  ])('L11 has room for %s', async (_, approved, later, room) => {
    const { at, breaker } = await opened(approved);
    at.clocks.running += later;
    expect(await breaker.room()).toBe(room);
    const since = Math.max(0, (await at.mirror.moment()) - 86_400_000);
    expect(await breaker.allowance()).toEqual({ bound: 4, since, approved });
  });

  it.each([
    ['as many as there is room for', 2, 0, true],
    ['one more', 3, 0, false],
    ['one more, that was not even read', 2, 1, false],
  ])('L11 lets pass %s', async (_, absences, unread, passes) => {
    const { breaker } = await opened(0);
    const checked = breaker.check(absences, unread);
    if (passes) await checked;
    else await expect(checked).rejects.toMatchObject({ code: 'breaker_tripped' });
  });

  it('L11 is approved up to the number that the person named', async () => {
    const { breaker } = await opened(3);
    expect([2, 3, 4].map((absences) => breaker.isApproved(absences))).toEqual([true, true, false]);
  });

  const alone = { suspects: 5, present: 41 };

  it.each<[string, number, number, string, object]>([
    ['all were read', 0, 0, '5 of 41 vendors are neither listed nor found, 2 became', { ...alone, before: 2 }],
    [
      'some were not read',
      4,
      0,
      '9 of 41 vendors are not listed, and none of the 5 that were read is found, 2 became',
      { ...alone, suspects: 9, before: 2 },
    ],
    ['none was lost within the day', 0, day, '5 of 41 vendors are neither listed nor found', alone],
  ])(
    'L11 A11 tells the person what was met where %s, and keeps it as a finding',
    async (_, unread, later, met, fields) => {
      const { at, breaker } = await opened(0);
      at.clocks.running += later;
      const told = met.replace('2 became', '2 became absent in the last 24 hours');
      expect(await breaker.trip(5, unread)).toMatchObject({
        code: 'breaker_tripped',
        message: `${told}. So many absences need a person's approval; everything else was applied.`,
      });
      const findings = at.query<{ fields: string }>('SELECT kind, account_id, vendorid, fields FROM findings');
      expect(findings.map((finding) => ({ ...finding, fields: JSON.parse(finding.fields) as unknown }))).toEqual([
        { kind: 'breaker', account_id: account, vendorid: null, fields },
      ]);
    },
  );
});
