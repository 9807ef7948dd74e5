import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timestamp } from '../../../src/domain/clock.ts';
import { listDeliveries, type DeliveryFilter, type NewDelivery } from '../../../src/store/deliveries.ts';
import { readMirror, type Row } from '../../support/mirror-file.ts';
import { openedMirror } from '../../support/mirror/opened-mirror.ts';
import { virtualClock, type VirtualClock } from '../../support/virtual-clock.ts';
import type { Mark } from '../../../src/store/queue.ts';
import type { Store } from '../../../src/store/mirror.ts';

const account = '6BApk';

interface Place {
  readonly mirror: Store;
  readonly clock: VirtualClock;
  readonly accept: (...vendorids: number[]) => Promise<void>;
  readonly list: (filter?: DeliveryFilter) => ReturnType<typeof listDeliveries>;
  readonly outcomes: () => Promise<string[]>;
  /** The open mark of a vendor. */
  readonly markOf: (vendorid: number, accountId?: string) => Promise<Mark>;
}

async function open(rows: Record<string, Row[]> = {}): Promise<Place> {
  const clock = virtualClock();
  const { path, mirror } = await openedMirror(rows, clock);
  const list: Place['list'] = (filter = {}) => listDeliveries(readMirror(path, clock).connection, filter);
  return {
    mirror,
    clock,
    accept: (...vendorids) =>
      mirror.deliveries.acceptDeliveries(vendorids.map((vendorid) => told(clock, { vendorid }))),
    list,
    outcomes: async () => (await list()).deliveries.map(({ outcome }) => outcome),
    markOf: async (vendorid, accountId = account) =>
      (await mirror.queue.dueMarks(accountId, 100)).find((mark) => mark.vendorid === vendorid)!,
  };
}

function told(clock: VirtualClock, facts: Partial<NewDelivery> = {}): NewDelivery {
  const vendorid = facts.vendorid ?? null;
  return {
    accountId: account,
    receivedAt: clock.now(),
    name: vendorid === null ? 'invoice.create' : 'bill_vendor.update',
    objectId: vendorid ?? 5,
    businessId: 1,
    identityId: 2,
    userId: null,
    vendorid,
    ...facts,
  };
}

describe('accepting deliveries', () => {
  it('journals each delivery, and marks each vendor once', async () => {
    const { accept, mirror, list } = await open();
    await accept(1, 2, 1);
    expect((await list()).deliveries.map(({ object_id, outcome }) => [object_id, outcome])).toEqual([
      [1, 'pending'],
      [2, 'pending'],
      [1, 'pending'],
    ]);
    expect((await mirror.queue.dueMarks(account, 10)).map(({ vendorid }) => vendorid).sort()).toEqual([1, 2]);
  });

  it('C3 raises the generation with each delivery, even an identical one: none is treated as a copy', async () => {
    const { accept, mirror } = await open();
    const generation = async () => (await mirror.queue.dueMarks(account, 1))[0]?.generation;
    await accept(1);
    const first = await generation();
    await accept(1);
    expect(await generation()).toBeGreaterThan(first ?? Infinity);
  });

  it('C4 keeps a mark that is made while the vendor is read', async () => {
    const { accept, mirror, markOf, outcomes } = await open();
    await accept(1);
    const claimed = await markOf(1);
    await accept(1);
    expect(await mirror.queue.settle(claimed, 'applied')).toBe(false);
    expect(await mirror.queue.settle(await markOf(1), 'applied')).toBe(true);
    expect([await mirror.queue.countMarks(account), await outcomes()]).toEqual([0, ['applied', 'applied']]);
  });

  it('C1, C2 makes the same marks in whatever order and however often deliveries arrive', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 12 }), async (ids) => {
        const { accept, mirror } = await open();
        await accept(...ids);
        await accept(...ids.toReversed());
        const marked = (await mirror.queue.dueMarks(account, 100)).map(({ vendorid }) => vendorid).sort();
        expect(marked).toEqual([...new Set(ids)].sort());
      }),
      { numRuns: 15 },
    );
  });

  it('journals a delivery that is about no vendor as settled, without a mark', async () => {
    const { mirror, clock, list } = await open();
    await mirror.deliveries.acceptDeliveries([told(clock)]);
    expect((await list()).deliveries).toMatchObject([{ outcome: 'ignored', settled_at: timestamp(clock.now()) }]);
    expect(await mirror.queue.countMarks(account)).toBe(0);
  });

  it('C11, K29 marks no new vendor while ten thousand wait, but journals the delivery and requests a sweep of that account', async () => {
    const at = '2026-11-20 09:00:00.000';
    const marks = Array.from({ length: 9_999 }, (_, index) => ({
      account_id: account,
      vendorid: index + 1,
      generation: 1,
      marked_at: at,
      due_at: at,
      due_ms: 0,
      reason: 'delivery',
    }));
    const { accept, mirror, list, clock } = await open({ dirty_vendors: marks });
    await accept(20_000, 1, 20_000);
    expect(await mirror.sweepRequests.sweepRequest(account)).toBeUndefined();
    await accept(20_000, 30_000, 1, 40_000);
    expect((await list()).deliveries.map(({ object_id, outcome }) => [object_id, outcome])).toEqual(
      [40_000, 1, 30_000, 20_000, 20_000, 1, 20_000].map((id) => [id, 'pending']),
    );
    expect(await mirror.queue.countMarks(account)).toBe(10_000);
    expect(await mirror.sweepRequests.sweepRequest(account)).toMatchObject({ generation: 2 });
    await mirror.deliveries.acceptDeliveries([told(clock, { accountId: 'another', vendorid: 30_000 })]);
    expect([await mirror.queue.countMarks('another'), await mirror.sweepRequests.sweepRequest('another')]).toEqual([
      1,
      undefined,
    ]);
    const all = { lastDelivery: 100, upTo: clock.now() };
    const unmarked = await mirror.sweepRequests.unmarkedVendors(account, all);
    expect(unmarked.map(({ vendorid }) => vendorid)).toEqual([30_000, 40_000]);
  });
});

describe('settling a mark', () => {
  it('settles the deliveries of that mark only', async () => {
    const { mirror, clock, accept, markOf, list } = await open();
    await mirror.deliveries.acceptDeliveries([
      told(clock, { objectId: 1 }),
      told(clock, { accountId: 'another', vendorid: 1 }),
    ]);
    await accept(1, 1, 2);
    const mark = await markOf(1);
    expect((await mirror.queue.openDeliveries(mark)).map(({ id }) => id)).toEqual([3, 4]);
    await mirror.queue.settle(mark, 'unchanged');
    expect((await list()).deliveries.map(({ id, outcome }) => [id, outcome])).toEqual([
      [5, 'pending'],
      [4, 'unchanged'],
      [3, 'unchanged'],
      [2, 'pending'],
      [1, 'ignored'],
    ]);
    expect(await mirror.queue.openDeliveries(mark)).toEqual([]);
  });

  it('does not settle parked deliveries for good: a later reading settles them', async () => {
    const { accept, mirror, markOf, list } = await open();
    await accept(1);
    await mirror.queue.park(await markOf(1), 'The service fails.');
    expect((await list()).deliveries).toMatchObject([{ outcome: 'parked', settled_at: null }]);
    await accept(1);
    await mirror.queue.settle(await markOf(1), 'applied');
    expect((await list()).deliveries).toMatchObject([{ outcome: 'applied' }, { outcome: 'applied' }]);
  });
});

describe('retrying parked deliveries', () => {
  it('marks the vendors of all, of one account or of one vendor, and makes their deliveries pending', async () => {
    const { mirror, clock, list, markOf } = await open();
    const park = async (accountId: string, vendorid: number): Promise<void> => {
      await mirror.deliveries.acceptDeliveries([told(clock, { accountId, vendorid })]);
      await mirror.queue.park(await markOf(vendorid, accountId), 'The service fails.');
    };
    await park(account, 1);
    await park(account, 2);
    await park('another', 1);
    expect(await mirror.queue.countMarks(account)).toBe(0);
    expect(await mirror.deliveries.retryParked({ account, vendorid: 2 })).toBe(1);
    expect(await mirror.queue.dueMarks(account, 10)).toMatchObject([{ vendorid: 2, attempts: 0 }]);
    expect((await list({ outcome: 'pending' })).total).toBe(1);
    expect(await mirror.deliveries.retryParked({ account })).toBe(1);
    expect(await mirror.deliveries.retryParked({})).toBe(1);
    expect(await mirror.deliveries.retryParked({})).toBe(0);
  });
});

describe('listing deliveries', () => {
  it('filters by account, outcome, vendor and time, newest first, with the total', async () => {
    const { accept, mirror, clock, list } = await open();
    await accept(1, 2);
    await clock.advance(60_000);
    await mirror.deliveries.acceptDeliveries([
      told(clock, { accountId: 'another', vendorid: 1 }),
      told(clock, { objectId: 1 }),
      told(clock, { vendorid: 1 }),
    ]);
    const ids = async (filter: DeliveryFilter) => (await list(filter)).deliveries.map(({ id }) => id);
    expect(await ids({})).toEqual([5, 4, 3, 2, 1]);
    expect(await ids({ account })).toEqual([5, 4, 2, 1]);
    expect(await ids({ outcome: 'ignored' })).toEqual([4]);
    expect(await ids({ vendorid: 1 })).toEqual([5, 3, 1]);
    expect(await ids({ since: clock.now() })).toEqual([5, 4, 3]);
    expect([await ids({ limit: 2 }), (await list({ limit: 2 })).total]).toEqual([[5, 4], 5]);
    expect(await ids({ account, vendorid: 1, outcome: 'pending', since: clock.now() })).toEqual([5]);
  });
});
