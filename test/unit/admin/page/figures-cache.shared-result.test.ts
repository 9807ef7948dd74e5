import { expect, it } from 'vitest';
import { shared } from '../../../../src/admin/page/figures-cache.ts';
import { healthSource } from '../../../../src/app/daemon.ts';
import type { AccountState } from '../../../../src/store/account-reports.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';
import { account } from '../../../support/admin/sample.ts';
import { defaultSettings } from '../../../support/settings.ts';

it('K24 all readers share one examination, for ten times as long as it took', async () => {
  const clock = virtualClock();
  const ends: (() => void)[] = [];
  const look = shared(clock, () => new Promise<number>((resolve) => ends.push(() => resolve(ends.length))));
  const first = [look(), look()];
  await clock.advance(3_000);
  first.push(look());
  expect(ends).toHaveLength(1);
  ends[0]!();
  expect(await Promise.all(first)).toEqual([1, 1, 1]);
  await clock.advance(26_999);
  expect(await look()).toBe(1);
  await clock.advance(1);
  const second = look();
  expect(ends).toHaveLength(2);
  ends[1]!();
  expect(await second).toBe(2);
});

it('K24 an examination handles one account in each turn of the event loop', async () => {
  let [looked, turns, most] = [0, 0, 0];
  const source = healthSource({
    version: '0',
    start: { at: 0 },
    settings: defaultSettings,
    mirror: {
      path: 'vendors.db',
      process: { name: 'this process', isAlive: () => true, release: () => undefined },
      accountState: (id) => {
        looked += 1;
        most = Math.max(most, looked);
        return Promise.resolve<AccountState>({ ...account({ account: id }), days: [] });
      },
      query: () => Promise.resolve([] as never),
      trouble: () => undefined,
      sizes: () => ({ databaseBytes: 0, walBytes: 0, freeBytes: 1 }),
    },
    connections: { names: [], of: () => 'default' },
    secrets: { trouble: () => undefined },
    accounts: {
      supervisors: new Map(Array.from({ length: 100 }, (_, index) => [`a${index}`, { doubt: null, progress: null }])),
      next: () => undefined,
    },
    listener: { listening: true },
    clock: {
      now: () => 0,
      yield: () => {
        [looked, turns] = [0, turns + 1];
        return Promise.resolve();
      },
    },
    machine: () => ({ rssBytes: 0, eventLoopLagSeconds: 0 }),
  });
  expect((await source.facts()).accounts).toHaveLength(100);
  expect([most, turns]).toEqual([1, 100]);
});
