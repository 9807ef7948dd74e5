/** Two installations with the same secrets, such as a restored backup that is tried beside the original: neither takes the other's callbacks. */
import { cpSync } from 'node:fs';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { announce, base, listed, writes } from '../../support/testbed/webhook.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const files = ['vendors.db', 'vendors.db-wal', 'secrets.db', 'secrets.db-wal'];

/** A copy of its files, at an address of its own. */
async function copyOf(place: Testbed<'webhook'>, names: readonly string[] = files): Promise<Testbed<'webhook'>> {
  const folder = temporaryFolder();
  for (const name of names) cpSync(`${place.folder}/${name}`, `${folder}/${name}`);
  const copy = await testbed({ level: 'webhook', service: place.service, clock: place.clock, folder });
  copy.requests.length = 0;
  return copy;
}

const causes = async ({ mirror }: Testbed<'webhook'>) =>
  (await mirror.callbacks.refusals(account)).map(({ code, message }) => `${code}: ${message}`);

it('L103 a copy registers and deletes nothing while the original answers at its address', async () => {
  const place = await testbed({ level: 'webhook', subscribed: true });
  const copy = await copyOf(place);
  expect([await copy.subscriptions.check(), writes(copy)]).toEqual(['unverified', []]);
  expect(await causes(copy)).toEqual([expect.stringMatching(/^secrets_shared: .*its callback 2001 leads to http/)]);
  expect([await copy.subscriptions.unregister(), writes(copy)]).toEqual([0, []]);
  expect([await place.subscriptions.check(), await announce(place)]).toEqual(['verified', 200]);
});

it('L103 an original notices that a copy took its callback, and goes on at once when that one is deleted', async () => {
  const place = await testbed({ level: 'webhook', subscribed: true });
  const copy = await copyOf(place);
  const fetch = () => Promise.reject(new TypeError('fetch failed'));
  expect(
    await copy.another({ asking: { fetch, clock: copy.clock, isOfMirror: () => Promise.resolve(false) } }).check(),
  ).toBe('verified');
  expect(listed(place)).toMatchObject([{ id: 2002, uri: copy.address }]);
  place.requests.length = 0;
  for (let count = 0; count < 5; count += 1) {
    expect(await place.subscriptions.check()).toBe('unverified');
    await place.clock.advance(900_000);
  }
  expect(writes(place)).toEqual([]);
  expect(await causes(place)).toEqual([expect.stringMatching(/^secrets_shared: .*its callback 2002 leads to http/)]);
  place.service.sandbox.callbacks(account).remove(2002);
  expect([await place.subscriptions.check(), await causes(place), await announce(place)]).toEqual([
    'verified',
    [],
    200,
  ]);
});

it('L103 a copy whose secrets were made anew leaves the callback of the original as it is', async () => {
  const place = await testbed({ level: 'webhook', subscribed: true });
  const copy = await copyOf(place, files.slice(0, 2));
  expect(await copy.subscriptions.check()).toBe('verified');
  expect(writes(copy)).toEqual([`POST ${base}`, `PUT ${base}/2002`]);
  expect([await place.subscriptions.check(), await announce(place)]).toEqual(['verified', 200]);
});

it('L103 an earlier address of this installation that still leads here is no other one', async () => {
  const place = await testbed({ level: 'webhook' });
  const earlier = place.address.replace('127.0.0.1', 'localhost');
  place.service.sandbox.callbacks(account).add(0, 'bill_vendor', earlier);
  expect(await place.subscriptions.check()).toBe('verified');
  expect(writes(place)).toEqual([`POST ${base}`, `PUT ${base}/2002`, `DELETE ${base}/2001`]);
});
