/** A daemon with nothing to do. */
import { expect, it, vi } from 'vitest';
import { sleep } from '../../../src/domain/clock.ts';
import { SqliteDatabase } from '../../../src/store/sqlite/database.ts';
import { testbed } from '../../support/testbed.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

it('K24 an idle daemon with thirty accounts wakes no more often than one with a single account, and writes nothing', async () => {
  /** At how many moments of five idle minutes anything woke, and how often the file was written. */
  const idle = async (count: number): Promise<{ wakes: number; writes: number }> => {
    const later: { clock?: VirtualClock } = {};
    const at = await testbed({
      level: 'daemon',
      // No two accounts are answered in the same moment.
      async answer({ pathname }) {
        const nth = Number(/acct(\d+)/.exec(pathname)?.[1] ?? 0);
        await sleep(later.clock!, 1 + nth * 137);
        return undefined;
      },
      started: false,
      accounts: Array.from({ length: count }, (_, index) => `acct${index}`),
      vendors: 1,
      rateLimits: null,
      settings: {
        listener: { host: '127.0.0.1', port: 0, publicUrl: null },
        schedule: { reconcile: '0 3 * * *', pull: '0 4 * * *', timezone: 'UTC' },
      },
    });
    later.clock = at.clock;
    await at.start();
    await at.untilRuns(count);
    await at.clock.pass(120_000);
    const moments = new Set<number>();
    const timer = Reflect.get(VirtualClock.prototype, 'timer');
    const timers = vi.spyOn(VirtualClock.prototype, 'timer').mockImplementation(function (this: VirtualClock, ms, run) {
      return timer.call(this, ms, () => {
        moments.add(Math.round(this.monotonic()));
        run();
      });
    });
    const spies = (['write', 'writeWithoutSync'] as const).map((name) => vi.spyOn(SqliteDatabase.prototype, name));
    await at.clock.pass(300_000);
    const writes = spies.reduce((total, { mock }) => total + mock.calls.length, 0);
    timers.mockRestore();
    for (const spy of spies) spy.mockRestore();
    return { wakes: moments.size, writes };
  };
  const [one, many] = [await idle(1), await idle(30)];
  expect(one.writes + many.writes).toBe(0);
  // The watch for accounts alone looks once a second.
  expect(one.wakes).toBeLessThanOrEqual(2 * 300);
  expect(many.wakes).toBeLessThanOrEqual(one.wakes + 300);
});
