import { describe, expect, it } from 'vitest';
import { noCounts } from '../../../src/store/runs.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { account } from '../../support/testbed/store.ts';

const hour = 3_600_000;

async function openedTestbed(): Promise<Testbed<'store'>> {
  const at = await testbed({ level: 'store' });
  await at.mirror.addAccounts([account], { accounts: [account], connectionOf: new Map(), settingsFile: 'settings' });
  return at;
}

async function runBegins(at: Testbed<'store'>): ReturnType<Testbed<'store'>['mirror']['runs']['beginRun']> {
  return await at.mirror.runs.beginRun({ accountId: account, kind: 'reconcile', trigger: 'schedule' });
}

describe('the run before a reading, up to which the mirror is known to be complete', () => {
  it('is the run that began last, although a clock that was set back dates an earlier one later', async () => {
    const at = await openedTestbed();
    at.clocks.wall += 6 * hour;
    await runBegins(at);
    at.clocks.wall -= 5 * hour;
    await runBegins(at);
    const { readSeq } = await at.ask();
    at.clocks.wall += 6 * hour;
    await runBegins(at);
    expect(await at.mirror.runs.runStartBefore(account, readSeq, at.clocks.wall)).toBe(Date.UTC(2026, 10, 20, 13));
  });

  it('B4 is unknown if the clock was set back since, even by a shorter time', async () => {
    const at = await openedTestbed();
    await runBegins(at);
    const { readSeq } = await at.ask();
    at.clocks.wall += 3 * hour;
    at.clocks.running += 3 * hour;
    await at.ask();
    at.clocks.wall -= hour;
    const { id } = await runBegins(at);
    expect(await at.mirror.runs.runStartBefore(account, readSeq, at.clocks.wall)).toBeUndefined();
    expect(at.query('SELECT noticed_at FROM _clock_set_back')).toEqual([{ noticed_at: '2026-11-20 14:00:00.000' }]);
    expect(at.query('SELECT started_at FROM runs WHERE id = ?', id)).toEqual([
      { started_at: '2026-11-20 14:00:00.000' },
    ]);
  });

  it('B4 is unknown if the clock was set back while the machine was off', async () => {
    const at = await openedTestbed();
    at.clocks.running = 50_000_000;
    at.clocks.wall += 6 * hour;
    await runBegins(at);
    const { readSeq } = await at.ask();
    at.clocks.running = 3;
    at.clocks.wall -= 5 * hour;
    await at.reopen();
    await runBegins(at);
    at.clocks.wall += 6 * hour;
    expect(await at.mirror.runs.runStartBefore(account, readSeq, at.clocks.wall)).toBeUndefined();
  });

  it('B4 is unknown if the clock was set back to before that run', async () => {
    const at = await openedTestbed();
    at.clocks.wall += 6 * hour;
    await runBegins(at);
    const { readSeq } = await at.ask();
    at.clocks.wall -= 5 * hour;
    expect(await at.mirror.runs.runStartBefore(account, readSeq, at.clocks.wall)).toBeUndefined();
  });
});

describe('the number of a run', () => {
  it('is never used again, even if the newest run was removed', async () => {
    const at = await openedTestbed();
    const [first, second] = [await runBegins(at), await runBegins(at)];
    at.damage(`DELETE FROM runs WHERE id = ${second.id}`);
    const third = await runBegins(at);
    expect([second.id, third.id]).toEqual([first.id + 1, first.id + 2]);
  });

  it('is higher than that of any row, whoever wrote it', async () => {
    const at = await openedTestbed();
    const { id } = await runBegins(at);
    at.damage(`UPDATE runs SET id = 41 WHERE id = ${id}`);
    expect((await runBegins(at)).id).toBe(42);
  });
});

describe('a clock that was set back', () => {
  it('B4 moves open marks and requested sweeps with it, and leaves the last complete run without a claim', async () => {
    const at = await openedTestbed();
    const run = await runBegins(at);
    const claims = { safeAsOf: run.startedAt, listedAsOf: run.startedAt };
    const end = { outcome: 'complete', error: null, errorCode: null, proof: 'plain', moved: false } as const;
    await at.mirror.runs.finishRun(run, { ...end, ...claims, counts: noCounts });
    at.clocks.wall += 2 * hour;
    at.clocks.running += 2 * hour;
    await at.ask();
    const freshness = (): unknown => at.query('SELECT safe_as_of, listed_as_of FROM freshness');
    const both = (moment: string | null) => [{ safe_as_of: moment, listed_as_of: moment }];
    expect(freshness()).toEqual(both('2026-11-20 12:00:00.000'));
    at.clocks.wall -= hour;
    await at.ask();
    expect(freshness()).toEqual(both(null));
    await at.mirror.queue.markVendors(account, [1], 'asked', 0);
    expect(at.query('SELECT marked_at, due_at FROM dirty_vendors')).toEqual([
      { marked_at: '2026-11-20 13:00:00.000', due_at: '2026-11-20 13:00:00.000' },
    ]);
    at.clocks.wall -= hour;
    await at.ask();
    expect(at.query('SELECT marked_at, due_at FROM dirty_vendors')).toEqual([
      { marked_at: '2026-11-20 12:00:00.000', due_at: '2026-11-20 12:00:00.000' },
    ]);
  });

  it('B4 is not assumed when two clocks differ by no more than reading them takes', async () => {
    const at = await openedTestbed();
    await at.ask();
    for (let second = 0; second < 100; second += 1) {
      at.clocks.wall += 900;
      at.clocks.running += 1_000;
      await at.ask();
    }
    expect(at.query('SELECT 1 FROM _clock_set_back')).toEqual([]);
  });

  it('B4 leaves a run without a claim that asked nothing since, and earlier ones', async () => {
    const at = await openedTestbed();
    const end = { outcome: 'complete', error: null, errorCode: null, proof: 'plain', moved: false } as const;
    const claimOf = async (back: number): Promise<unknown> => {
      const run = await runBegins(at);
      at.clocks.wall += 10_000;
      at.clocks.running += 10_000;
      await at.ask();
      at.clocks.wall -= back;
      const claims = { safeAsOf: run.startedAt, listedAsOf: run.startedAt };
      await at.mirror.runs.finishRun(run, { ...end, ...claims, counts: noCounts });
      return at.query('SELECT safe_as_of, listed_as_of FROM freshness')[0];
    };
    const unknown = { safe_as_of: null, listed_as_of: null };
    expect(await claimOf(2_000)).toEqual(unknown);
    expect(await claimOf(0)).not.toEqual(unknown);
    at.clocks.wall -= 500;
    await at.mirror.noticeClockSetBack();
    expect(at.query('SELECT safe_as_of, listed_as_of FROM freshness')).not.toContainEqual(unknown);
    at.clocks.wall -= 600;
    await at.mirror.noticeClockSetBack();
    expect(at.query('SELECT safe_as_of, listed_as_of FROM freshness')).toEqual([unknown]);
  });
});

it('K30 L110 requests are counted, those who wait have their turn, and what was probed is known, in whichever engine', async () => {
  const at = await openedTestbed();
  const bounds = [{ window: 'all', requests: 2, per: 60_000 }] as const;
  const ask = async (): Promise<boolean> =>
    'stamp' in (await at.mirror.reserveRequest({ connection: 'default', bounds, longest: 1_000, isPrompt: true }));
  expect([await ask(), await ask(), await ask(), await ask()]).toEqual([true, true, false, false]);
  expect(at.query('SELECT "window" FROM _rate_waits')).toEqual([{ window: 'all' }]);
  const { details } = at.mirror;
  expect(await details.isProbed(account)).toBe(false);
  await details.addProbed(account, 1);
  expect(await details.isProbed(account)).toBe(true);
});
