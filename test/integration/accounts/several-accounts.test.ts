/** Many accounts in one daemon, some of which the service never answers. */
import { expect, it, vi } from 'vitest';
import { parseInstant, sleep } from '../../../src/domain/clock.ts';
import { SqliteDatabase } from '../../../src/store/sqlite/database.ts';
import { unanswered } from '../../support/network/unanswered.ts';
import { testbed } from '../../support/testbed.ts';
import type { VirtualClock } from '../../support/virtual-clock.ts';

const minute = 60_000;
/** The first requests about thirty accounts of one connection otherwise take more than a minute. */
const rateLimit = { all: '10000/60s', post: '10000/60s', callbacks: '10000/60s' };
const accounts = Array.from({ length: 30 }, (_, index) => `acct${index}`);

/** Never answers requests about these accounts. */
const hangs =
  (silent: readonly string[]) =>
  ({ pathname }: URL, init: RequestInit): Promise<never> | undefined =>
    silent.some((id) => pathname.includes(`/${id}/`)) ? unanswered(init) : undefined;

it('K17 thirty accounts of which six hang, more than may sweep at once: each other one is swept at most 1.5 intervals after the time before', async () => {
  const hung = 6;
  const silent = accounts.slice(0, hung);
  const at = await testbed({
    level: 'daemon',
    started: false,
    accounts,
    vendors: 3,
    rateLimits: null,
    answer: hangs(silent),
    settings: { service: { rateLimit }, schedule: { reconcile: '* * * * *', pull: '0 3 * * *', timezone: 'UTC' } },
  });
  await at.start();
  await at.clock.pass(10 * minute);
  const runs = at.query<{ account_id: string; started_at: string }>(
    `SELECT account_id, started_at FROM runs WHERE outcome = 'complete' ORDER BY id`,
  );
  const end = at.clock.now();
  for (const id of accounts.slice(hung)) {
    const began = runs.filter(({ account_id }) => account_id === id).map(({ started_at }) => parseInstant(started_at)!);
    const gaps = [...began, end].map((moment, index) => moment - (began[index - 1] ?? end - 10 * minute));
    expect(Math.max(...gaps), id).toBeLessThanOrEqual(1.5 * minute);
  }
  expect(at.runs.filter(({ run }) => silent.includes(run.accountId))).toSatisfy((ended: typeof at.runs) =>
    ended.every(({ outcome }) => outcome === 'failed'),
  );
}, 120_000);

it('K17 of many accounts whose pages are slow but come, no more are swept at once than may be', async () => {
  const answering: VirtualClock[] = [];
  const sweeping = new Set<string>();
  let most = 0;
  const at = await testbed({
    level: 'daemon',
    started: false,
    accounts,
    vendors: 40,
    rateLimits: null,
    async answer({ pathname }) {
      const [, id] = /account\/(\w+)\/.*\/bill_vendors$/.exec(pathname) ?? [];
      if (id === undefined) return undefined;
      sweeping.add(id);
      most = Math.max(most, sweeping.size);
      for (const clock of answering) await sleep(clock, 400);
      sweeping.delete(id);
      return undefined;
    },
    settings: { service: { rateLimit, paging: { perPage: 5, concurrency: 1 } } },
  });
  answering.push(at.clock);
  await at.start();
  await at.clock.pass(2 * minute);
  expect(most).toBe(4);
});

it('K24 the start of five hundred accounts commits no more often than that of one', async () => {
  const commits = async (ids: readonly string[]): Promise<number> => {
    const write = vi.spyOn(SqliteDatabase.prototype, 'write');
    const at = await testbed({ level: 'daemon', started: false, accounts: ids, answer: hangs(ids) });
    await at.start();
    const counted = write.mock.calls.length;
    write.mockRestore();
    expect(at.query('SELECT account_id FROM _accounts')).toHaveLength(ids.length);
    return counted;
  };
  const one = await commits(accounts.slice(0, 1));
  expect(await commits(Array.from({ length: 500 }, (_, index) => `acct${index}`))).toBeLessThanOrEqual(one);
});

it('K24 the start of many accounts asks about few callbacks at once, while the service does not answer', async () => {
  const asked: string[] = [];
  const at = await testbed({
    level: 'daemon',
    started: false,
    accounts,
    answer({ pathname }, init) {
      asked.push(pathname);
      return unanswered(init);
    },
  });
  await at.start();
  await at.clock.pass(500);
  expect(asked).toHaveLength(4);
  await at.clock.pass(1_000);
  expect(asked).toHaveLength(8);
});
