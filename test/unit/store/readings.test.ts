import { MessageChannel } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import type { VendorRow } from '../../../src/domain/reading.ts';
import { GroupCommit } from '../../../src/webhook/delivery-receiver.ts';
import { testbed } from '../../support/testbed.ts';
import { newDelivery } from '../../support/deliveries/new-delivery.ts';
import { row } from '../../support/testbed/store.ts';

const delivery = newDelivery(1, { accountId: 'one' });

/** Pages that are applied while a delivery arrives as soon as the first of them is; `ms` is what applying one takes. */
async function orderOf(ms: number): Promise<string[]> {
  const at = await testbed({ level: 'store', yield: () => systemClock.yield() });
  const events: string[] = [];
  const commits = new GroupCommit({
    clock: systemClock,
    commit: (list) => at.mirror.deliveries.acceptDeliveries(list),
  });
  const { port1: here, port2: sender } = new MessageChannel();
  onTestFinished(() => here.close());
  const written = new Promise<void>((resolve) => {
    here.once(
      'message',
      () =>
        void commits
          .add(delivery)
          .then(() => events.push('delivery'))
          .then(() => resolve()),
    );
  });
  const noted = (vendorid: number): VendorRow => {
    const plain = row(vendorid, 'new');
    const vendor = (): ReturnType<typeof plain.vendor> => {
      if (events.length === 0) sender.postMessage('arrives');
      if (!events.includes(`page ${vendorid}`)) events.push(`page ${vendorid}`);
      at.clocks.running += ms;
      return plain.vendor();
    };
    return { ...plain, vendor };
  };
  await Promise.all([at.pages(await at.ask(), [noted(1)], [noted(2)], [noted(3)]), written]);
  return events;
}

it('a delivery that arrives while a page is written is on disk before the next page', async () => {
  expect(await orderOf(20)).toEqual(['page 1', 'delivery', 'page 2', 'page 3']);
});

it('pages that arrive together share a commit while no delivery arrives', async () => {
  expect(await orderOf(1)).toEqual(['page 1', 'page 2', 'page 3', 'delivery']);
});
