/** Two accounts in one mirror whose vendors have the same ids: no query of one returns rows of the other. */
import { beforeEach, describe, expect, it } from 'vitest';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { account, itInFiles, lag, row, type AccountOfStore } from '../../support/testbed/store.ts';

const other = 'two';
const parked = { delay: 0, reason: 'delivery', attempts: 1, error: 'It fails.' } as const;
const counts = { pages: 1, requests: 1, seen: 1, created: 0, updated: 0, unchanged: 0, suspects: 0 };

/** Both accounts, each with a vendor 1 of its own, seen long enough ago to be believed otherwise. */
interface Both {
  readonly one: Testbed<'store'>;
  readonly two: AccountOfStore;
}

let at: Both;
beforeEach(async () => {
  const one = await testbed({ level: 'store' });
  const two = await one.open(other);
  await one.mirror.addAccounts([account, other], {
    accounts: [account, other],
    connectionOf: new Map(),
    settingsFile: 'settings',
  });
  await one.page(await one.ask(), row(1, 'of one'));
  await two.page(await one.ask(), row(1, 'of two'));
  later(one, lag);
  at = { one, two };
});

function later({ clocks }: Testbed<'store'>, ms: number): void {
  clocks.running += ms;
  clocks.wall += ms;
}

function names(): Record<string, unknown>[] {
  return at.one.query(`SELECT account_id, vendor_name, presence FROM vendors ORDER BY 1`);
}

describe('K28 readings of an account', () => {
  it('change only the vendor of that account', async () => {
    const { one, two } = at;
    expect(await two.record(await one.ask(), row(1, 'of two, edited'))).toBe('updated');
    expect(names()).toMatchObject([{ vendor_name: 'of one' }, { vendor_name: 'of two, edited' }]);
  });

  it('are not older than what a page of another account confirmed', async () => {
    const { one, two } = at;
    const early = await one.ask();
    expect(await two.page(await one.ask(), row(1, 'of two'))).toEqual(['unchanged']);
    expect(await one.page(early, row(1, 'of one, edited'))).toEqual(['updated']);
    const [late, mine] = [await one.ask(), await one.ask()];
    later(one, lag);
    expect(await one.page(mine, row(1, 'of one, edited'))).toEqual(['unchanged']);
    expect(await one.record(late, row(1, 'of one'))).toBe('stale');
  });

  it('that prove an absence do not change the vendor with that id in the other account', async () => {
    const { one, two } = at;
    await two.suspect(await one.ask(), 1);
    expect(names()).toMatchObject([{ presence: 'present' }, { presence: 'suspect' }]);
    later(one, lag);
    expect(await two.absence(await one.ask(), 1)).toBe('updated');
    expect(names()).toMatchObject([{ presence: 'present' }, { presence: 'gone' }]);
    expect([await one.mirror.vendors.newestActive(account), await one.mirror.vendors.newestActive(other)]).toEqual([
      [1],
      [],
    ]);
  });
});

describe('K28 marks of an account', () => {
  it('are due, counted and awaited for that account only', async () => {
    const { one, two } = at;
    const { mirror } = one;
    await two.told();
    expect([
      await mirror.queue.dueMarks(account, 9),
      await mirror.queue.countMarks(account),
      await mirror.queue.untilNextMark(account),
    ]).toEqual([[], 0, undefined]);
    expect(await mirror.queue.dueMarks(other, 9)).toMatchObject([{ account_id: other, vendorid: 1 }]);
  });

  it.each([
    ['settled', (mirror: Testbed<'store'>['mirror'], mark: never) => mirror.queue.settle(mark, 'unchanged')],
    [
      'put off',
      (mirror: Testbed<'store'>['mirror'], mark: never) =>
        mirror.queue.defer(mark, { ...parked, delay: 60_000 }, 'applied'),
    ],
    ['parked', (mirror: Testbed<'store'>['mirror'], mark: never) => mirror.queue.park(mark, 'It fails.')],
  ])('that are %s do not change those of another account', async (_, end) => {
    const { one, two } = at;
    const { mirror } = one;
    const marksOfOne = (): unknown[] => one.query(`SELECT * FROM dirty_vendors WHERE account_id = ?`, account);
    const journalOfOne = (): unknown[] => one.query(`SELECT * FROM deliveries WHERE account_id = ?`, account);
    await one.told();
    await two.told();
    const before = [marksOfOne(), journalOfOne()];
    const [mark] = await mirror.queue.dueMarks(other, 1);
    await end(mirror, mark as never);
    expect([marksOfOne(), journalOfOne()]).toEqual(before);
    expect(await mirror.queue.dueMarks(other, 1)).toEqual([]);
    const [own] = await mirror.queue.dueMarks(account, 9);
    expect(await mirror.queue.openDeliveries(own!)).toHaveLength(1);
  });

  it('that are parked are woken, dismissed and retried for that account only', async () => {
    const { one, two } = at;
    const { mirror } = one;
    await two.told();
    const [mark] = await mirror.queue.dueMarks(other, 1);
    await mirror.queue.park(mark!, 'It fails.');
    expect([await mirror.queue.parkedMarks(account), await mirror.queue.parkedDeliveries(account)]).toEqual([[], []]);
    const [deliveries] = await mirror.queue.parkedDeliveries(other);
    await mirror.queue.settleParkedDeliveries(account, deliveries!);
    expect(await mirror.deliveries.retryParked({ account })).toBe(0);
    expect(await mirror.queue.parkedDeliveries(other)).toEqual([deliveries]);
    await mirror.queue.settleParkedDeliveries(other, deliveries!);
    expect(await mirror.queue.parkedDeliveries(other)).toEqual([]);
  });
});

describe('K28 runs of an account', () => {
  it('do not count for another: the last complete one, the last, those before a reading, and whether the list changes', async () => {
    const { one } = at;
    const { mirror, clocks } = one;
    later(one, 60_000);
    const complete = await mirror.runs.beginRun({ accountId: other, kind: 'reconcile', trigger: 'schedule' });
    await mirror.runs.finishRun(complete, {
      ...{ outcome: 'complete', counts, error: null, errorCode: null, proof: 'windows', moved: true },
      ...{ safeAsOf: clocks.wall, listedAsOf: clocks.wall },
    });
    const { readSeq } = await one.ask();
    later(one, 60_000);
    expect([await mirror.runs.lastComplete(account), await mirror.runs.lastComplete(other)]).toEqual([
      undefined,
      '2026-11-20 12:01:05.000',
    ]);
    expect([...(await mirror.runs.lastCompleteByAccount())]).toEqual([[other, '2026-11-20 12:01:05.000']]);
    expect(await mirror.runs.runStartBefore(account, readSeq, clocks.wall)).toBe(Date.UTC(2026, 10, 20, 12));
    expect([await mirror.runs.lastSweep(account), await mirror.runs.lastSweep(other)]).toMatchObject([
      { kind: 'pull' },
      { kind: 'reconcile' },
    ]);
    expect([await mirror.runs.listMoves(account), await mirror.runs.listMoves(other)]).toMatchObject([
      { moved: 0 },
      { moved: 1 },
    ]);
  });
});

// In PostgreSQL a process counts as dead after half a minute of silence.
itInFiles?.(
  'K28 a run that a dead process left is abandoned by the next run of that account, and counts for no other account',
  async () => {
    const { one } = at;
    const begin = (accountId: string) =>
      one.mirror.runs.beginRun({ accountId, kind: 'reconcile', trigger: 'schedule' });
    const left = [await begin(account), await begin(other)].map(({ id }) => id);
    await one.reopen();
    await begin(other);
    expect(one.query(`SELECT outcome FROM runs WHERE id IN (${left.join()}) ORDER BY id`)).toEqual([
      { outcome: 'running' },
      { outcome: 'abandoned' },
    ]);
    one.damage(`UPDATE runs SET process = 'another' WHERE id IN (${left.join()})`);
    const { runs } = one.mirror;
    expect([await runs.unfinishedRuns(account, 0), await runs.unfinishedRuns(other, 0)]).toEqual([0, 1]);
  },
);

it('K28 the vendors of an account are counted without those of another', async () => {
  const { one, two } = at;
  const { mirror } = one;
  await two.page(await one.ask(), row(1, 'of two'), row(2, 'of two, too'));
  const scannedVendors = async (accountId: string): Promise<number[]> => {
    const all: number[] = [];
    for await (const chunk of mirror.vendors.scannedVendors(accountId))
      all.push(...chunk.map(({ vendorid }) => vendorid));
    return all;
  };
  expect([await scannedVendors(account), await scannedVendors(other)]).toEqual([[1], [1, 2]]);
  expect([await mirror.vendors.countVendors(account), await mirror.vendors.countVendors(other)]).toEqual([1, 2]);
});

it('K28 the known callbacks of an account are replaced for that account only', async () => {
  const { mirror } = at.one;
  const callback = (id: number) =>
    ({ callbackid: id, event: 'bill_vendor', uri: `https://mirror.example.com/${id}`, verified: true }) as never;
  await mirror.callbacks.replaceCallbacks(account, [callback(1)]);
  await mirror.callbacks.replaceCallbacks(other, [callback(2)]);
  await mirror.callbacks.replaceCallbacks(other, []);
  expect([await mirror.callbacks.knownCallbacks(account), await mirror.callbacks.knownCallbacks(other)]).toMatchObject([
    [{ callbackid: 1 }],
    [],
  ]);
});

it('K28 callbacks of an account that is no longer served lose their verification; callbacks with the same id elsewhere keep it', async () => {
  const { mirror } = at.one;
  const callback = {
    callbackid: 1,
    event: 'bill_vendor',
    uri: 'https://mirror.example.com/1',
    verified: true,
  } as never;
  await mirror.callbacks.replaceCallbacks(account, [callback]);
  await mirror.callbacks.replaceCallbacks(other, [callback]);
  await mirror.addAccounts([account], { accounts: [account], connectionOf: new Map(), settingsFile: 'settings' });
  expect(await mirror.callbacks.unverifyUnservedCallbacks()).toEqual([{ accountId: other, callbackid: 1 }]);
  expect([await mirror.callbacks.knownCallbacks(account), await mirror.callbacks.knownCallbacks(other)]).toMatchObject([
    [{ verified: true }],
    [{ verified: false }],
  ]);
});

it('K28 refused events belong to one account, and are forgotten for that account only', async () => {
  const { callbacks } = at.one.mirror;
  const refusal = {
    ...{
      event: 'bill_vendor',
      code: 'rejected',
      message: 'No such event.',
      remedy: null,
      uri: 'https://mirror.example/',
    },
    ...{ refused_at: '2026-11-20 12:00:00.000', attempts: 3, retry_at: '2026-11-20 12:04:00.000' },
  };
  await callbacks.replaceRefusals(account, [refusal]);
  expect([await callbacks.refusals(account), await callbacks.refusals(other)]).toEqual([[refusal], []]);
  await callbacks.replaceRefusals(other, [refusal]);
  await callbacks.replaceRefusals(other, []);
  await callbacks.endWaits(other);
  expect([await callbacks.refusals(account), await callbacks.refusals(other)]).toEqual([[refusal], []]);
  await callbacks.endWaits(account);
  expect(await callbacks.refusals(account)).toEqual([{ ...refusal, retry_at: null }]);
});
