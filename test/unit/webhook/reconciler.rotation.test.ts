/** A rotation of the address that ends at any moment: the next check goes on, and at each moment a verified callback leads to where deliveries are accepted. */
import { expect, it } from 'vitest';
import { delivery, signed } from '../../support/deliveries/signed-delivery.ts';
import { account } from '../../support/names.ts';
import { announce, base, listed, writes } from '../../support/testbed/webhook.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const isOver = async ({ secrets }: Testbed<'webhook'>): Promise<boolean> =>
  (await secrets.verifiers.previousTokens()).size === 0;

/** Verified callbacks at which a delivery is accepted. */
async function live(place: Testbed<'webhook'>): Promise<number[]> {
  const found: number[] = [];
  for (const { id, uri, verifier, verified } of listed(place))
    if (verified && (await fetch(uri, signed(delivery, verifier))).status === 200) found.push(id);
  return found;
}

it('L52 registers and verifies the new address, and then deletes the callback at the old one', async () => {
  const place = await testbed({ level: 'webhook', subscribed: true });
  expect([await place.secrets.verifiers.rotate(account), await place.secrets.verifiers.rotate(account)]).toEqual([
    true,
    false,
  ]);
  expect(await place.subscriptions.check()).toBe('verified');
  expect(writes(place)).toEqual([`POST ${base}`, `PUT ${base}/2002`, `DELETE ${base}/2001`]);
  expect([await isOver(place), await live(place), place.verified]).toEqual([true, [2002], [account]]);
  expect((await fetch(place.address, signed(delivery))).status).toBe(404);
  place.requests.length = 0;
  expect([await place.subscriptions.check(), writes(place), await announce(place)]).toEqual(['verified', [], 200]);
});

it.each(['bill_vendor', 'bill_vendor,invoice.create'])(
  'L52 goes on after an end at any request (%s)',
  async (names) => {
    const events = names.split(',');
    let [reached, fails] = [0, Infinity];
    let isReached = true;
    let requests = 0;
    for (let nth = 1; isReached; nth += 1)
      for (const isCarriedOut of [false, true]) {
        [reached, fails] = [0, Infinity];
        const place: Testbed<'webhook'> = await testbed({
          ...{ level: 'webhook', subscribed: true, events },
          intercept: () => {
            reached += 1;
            if (reached < fails) return undefined;
            if (isCarriedOut && reached === fails) return undefined;
            return Response.json({ errno: 1, message: 'Down.' }, { status: 401 });
          },
        });
        const old = listed(place).map(({ id }) => id);
        await place.secrets.verifiers.rotate(account);
        [reached, fails] = [0, nth];
        const first = place.another({ events });
        await first.check();
        await first.stop();
        isReached = reached >= nth;
        if (isReached) requests = nth;
        fails = Infinity;
        const kept = await live(place);
        expect(kept.length, `after request ${nth}`).toBeGreaterThanOrEqual(events.length);
        // The next process.
        const second = place.another({ events });
        for (let tries = 0; tries < 4 && (await second.check()) !== 'verified'; tries += 1)
          await place.clock.advance(900_000);
        expect([await isOver(place), listed(place).length], `after request ${nth}`).toEqual([true, events.length]);
        expect(listed(place).filter(({ id }) => old.includes(id))).toEqual([]);
        expect(await live(place)).toHaveLength(events.length);
        await second.stop();
        await place.close();
      }
    expect(requests).toBeGreaterThan(3);
  },
);

it('L52 leaves the callback of a copy with the old secrets alone', async () => {
  const place = await testbed({ level: 'webhook', subscribed: true });
  const book = place.service.sandbox.callbacks(account);
  const foreign = book.add(0, 'bill_vendor', `${place.base}/webhooks/${account}/another-token`);
  await place.secrets.verifiers.rotate(account);
  expect(await place.subscriptions.check()).toBe('verified');
  expect(listed(place).map(({ id }) => id)).toEqual([foreign.id, 2003]);
});
