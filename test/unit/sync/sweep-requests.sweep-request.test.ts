import { describe, expect, it } from 'vitest';
import { listDeliveries } from '../../../src/store/deliveries.ts';
import { finishRequest, openRequest, postponeRequest, type OpenRequest } from '../../../src/sync/sweep-requests.ts';
import { IdSet } from '../../../src/sync/sweep/id-set.ts';
import { account } from '../../support/names.ts';
import { readMirror } from '../../support/mirror-file.ts';
import { openedMirror } from '../../support/mirror/opened-mirror.ts';
import { newDelivery } from '../../support/deliveries/new-delivery.ts';
import { virtualClock, type VirtualClock } from '../../support/virtual-clock.ts';
import type { SyncAccount } from '../../../src/sync/sync-account.ts';

const minute = 60_000;
const hour = 60 * minute;

interface Place {
  readonly syncAccount: SyncAccount;
  readonly clock: VirtualClock;
  /** Deliveries about these vendors, for which there is no room in the queue. */
  readonly deliver: (...vendorids: number[]) => Promise<void>;
  /** Answers a request by a sweep that showed these vendors, the first of them changed. */
  readonly answer: (request: OpenRequest | undefined, ...seen: number[]) => Promise<void>;
  /** What became of the deliveries, oldest first. */
  readonly outcomes: () => Promise<string[]>;
}

/** A mirror in whose queue as many vendors wait as may. */
async function openFull(): Promise<Place> {
  const clock = virtualClock();
  const at = '2026-11-20 09:00:00.000';
  const mark = { account_id: account, generation: 1, marked_at: at, due_at: at, due_ms: 0, reason: 'delivery' };
  const dirty_vendors = Array.from({ length: 10_000 }, (_, index) => ({ ...mark, vendorid: index + 1 }));
  const { path, mirror } = await openedMirror({ dirty_vendors }, clock);
  const syncAccount = {
    mirror,
    accountId: account,
    clock,
    sync: { secondLook: 30_000, lag: 5_000 },
  } as unknown as SyncAccount;
  return {
    syncAccount,
    clock,
    deliver: (...vendorids) =>
      mirror.deliveries.acceptDeliveries(
        vendorids.map((vendorid) => newDelivery(vendorid, { receivedAt: clock.now() })),
      ),
    answer: (request, ...ids) =>
      finishRequest(syncAccount, request!, { seen: new IdSet(ids), news: new Set(ids.slice(0, 1)) }),
    outcomes: async () =>
      (await listDeliveries(readMirror(path, clock).connection, {})).deliveries.map(({ outcome }) => outcome).reverse(),
  };
}

describe('K29 a sweep requested by deliveries that found the queue full', () => {
  it('settles the request, and leaves one that arrived while it was running', async () => {
    const { syncAccount, clock, deliver, answer, outcomes } = await openFull();
    await deliver(20_001, 20_002);
    await clock.advance(minute);
    const request = await openRequest(syncAccount);
    await deliver(20_002, 20_003);
    await clock.advance(minute);
    await answer(request, 20_001, 20_002, 20_003);
    expect(await outcomes()).toEqual(['applied', 'unchanged', 'pending', 'pending']);
    expect(await syncAccount.mirror.sweepRequests.sweepRequest(account)).toMatchObject({ generation: 4 });
  });

  it('settles nothing that arrived after it began if the clock was set back meanwhile', async () => {
    const { syncAccount, clock, deliver, answer, outcomes } = await openFull();
    await deliver(20_001);
    await clock.advance(minute);
    const request = await openRequest(syncAccount);
    clock.shiftWall(-hour);
    await deliver(20_001, 20_002);
    await answer(request, 20_001, 20_002);
    expect(await outcomes()).toEqual(['applied', 'pending', 'pending']);
    expect(await syncAccount.mirror.sweepRequests.sweepRequest(account)).toBeDefined();
  });

  it('settles what arrived before it began if the clock was set back before that', async () => {
    const { syncAccount, clock, deliver, answer, outcomes } = await openFull();
    await deliver(20_001, 20_002);
    // Whoever takes a number notices that the clock was set back since the number before.
    await syncAccount.mirror.takeStamp();
    clock.shiftWall(-hour);
    await clock.advance(minute);
    await syncAccount.mirror.takeStamp();
    await answer(await openRequest(syncAccount), 20_001, 20_002);
    expect(await outcomes()).toEqual(['applied', 'unchanged']);
    expect(await syncAccount.mirror.sweepRequests.sweepRequest(account)).toBeUndefined();
  });

  it('settles nothing that lists may not show yet if the clock was set forward', async () => {
    const { syncAccount, clock, deliver, answer, outcomes } = await openFull();
    await deliver(20_001);
    clock.shiftWall(hour);
    await clock.advance(1_000);
    await answer(await openRequest(syncAccount), 20_001);
    expect(await outcomes()).toEqual(['pending']);
  });
});

it.each([
  ['for a minute', 1, false],
  ['for a quarter of an hour while a person must decide', 15, true],
])('L65 a requested sweep that failed rests %s', async (_, minutes, awaitsPerson) => {
  const { syncAccount, clock, deliver } = await openFull();
  await deliver(20_001);
  await clock.advance(minute);
  const request = await openRequest(syncAccount);
  await postponeRequest(syncAccount, request!, awaitsPerson);
  const { restUntilMs } = (await syncAccount.mirror.sweepRequests.sweepRequest(account))!;
  expect(restUntilMs - (await syncAccount.mirror.moment())).toBe(minutes * minute);
});
