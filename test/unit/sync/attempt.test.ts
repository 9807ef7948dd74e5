/** A vendor whose reads keep failing. */
import { expect, it } from 'vitest';
import { processMark } from '../../../src/sync/attempt.ts';
import { account } from '../../support/names.ts';
import { testbed } from '../../support/testbed.ts';
import { newDelivery } from '../../support/deliveries/new-delivery.ts';

it('C7 the failures of a mark are counted: it is delayed longer each time, and parked until the next reconciliation', async () => {
  const at = await testbed({ level: 'account', vendors: 3, settings: { service: { readOne: 'get' } } });
  await at.pull();
  await at.clock.advance(60_000);
  const syncAccount = at.installation.account(account);
  const { mirror, clock, sync } = syncAccount;
  const [vendorid] = await mirror.vendors.newestActive(account);
  await mirror.deliveries.acceptDeliveries([newDelivery(vendorid!, { receivedAt: clock.now() })]);
  at.sandbox.onRequest((request) => at.sandbox.faults.next({ kind: '403', match: (one) => one === request }));

  const rests: number[] = [];
  for (let wait = await mirror.queue.untilNextMark(account); wait !== undefined && rests.length < 20;) {
    await at.clock.advance(wait);
    const [mark] = await mirror.queue.dueMarks(account, 1);
    const context = { accountId: account, source: 'delivery', runId: null, deliveryId: null, lag: sync.lag } as const;
    await processMark(syncAccount, mark!, await mirror.queue.openDeliveries(mark!), {
      context,
      signal: new AbortController().signal,
    });
    wait = await mirror.queue.untilNextMark(account);
    if (wait !== undefined) rests.push(Math.round(wait / 500) * 500);
  }
  expect(rests).toEqual([
    7_500, 12_500, 22_500, 42_500, 82_500, 162_500, 322_500, 642_500, 1_282_500, 1_802_500, 1_802_500,
  ]);
  expect(at.query('SELECT outcome FROM deliveries')).toEqual([{ outcome: 'parked' }]);
});
