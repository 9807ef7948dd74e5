import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/domain/log.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { ask } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { announce, base, listed, writes } from '../../support/testbed/webhook.ts';
import { testbed } from '../../support/testbed.ts';

describe('callbacks at the service', () => {
  it('D11 of ours are found on a later page, whatever filters do', async () => {
    const place = await testbed({ level: 'webhook' });
    const book = place.service.sandbox.callbacks(account);
    for (let count = 0; count < 120; count += 1) book.add(0, 'bill_vendor', `https://other.example/${count}`);
    await place.subscriptions.check();
    place.requests.length = 0;
    expect([await place.another().check(), writes(place)]).toEqual(['verified', []]);
  });

  it('D12 are registered at a changed public address, and the old one is deleted afterwards', async () => {
    const place = await testbed({ level: 'webhook' });
    const book = place.service.sandbox.callbacks(account);
    const token = place.address.slice(place.address.lastIndexOf('/') + 1);
    book.add(0, 'bill_vendor', `https://old.example/webhooks/${account}/${token}`);
    expect(await place.subscriptions.check()).toBe('verified');
    expect(writes(place)).toEqual([`POST ${base}`, `PUT ${base}/2002`, `DELETE ${base}/2001`]);
    expect(listed(place)).toMatchObject([{ uri: place.address }]);
  });

  it.each(['deletedCallback=200', 'deletedCallback=204'])('that duplicate ours are deleted (%s)', async (status) => {
    const place = await testbed({ level: 'webhook', subscribed: true, world: ['duplicate=second', status] });
    place.service.sandbox.callbacks(account).add(0, 'bill_vendor', place.address);
    expect(await place.subscriptions.check()).toBe('verified');
    expect(writes(place)).toEqual([`DELETE ${base}/2002`]);
    expect(await announce(place)).toBe(200);
  });

  it.each(['slash', 'escaped', 'unnamed'])(
    'D11 of ours whose address the service spells otherwise (%s) are found, and deliveries to it are taken',
    async (callbackUri) => {
      const place = await testbed({ level: 'webhook', world: [`callbackUri=${callbackUri}`, 'duplicate=second'] });
      expect(await place.subscriptions.check()).toBe('verified');
      place.requests.length = 0;
      expect([await place.another().check(), writes(place)]).toEqual(['verified', []]);
      expect(await announce(place)).toBe(200);
      const [known] = await place.mirror.callbacks.knownCallbacks(account);
      expect(known?.uri).toBe(place.address.slice(0, place.address.lastIndexOf('/') + 1));
    },
  );

  it('D13 of two installations on one account do not affect each other', async () => {
    const one = await testbed({ level: 'webhook', subscribed: true });
    const other = await testbed({ level: 'webhook', service: one.service });
    expect(await other.subscriptions.check()).toBe('verified');
    expect([await one.subscriptions.check(), await other.subscriptions.check()]).toEqual(['verified', 'verified']);
    expect(listed(one)).toMatchObject([
      { uri: one.address, verified: true },
      { uri: other.address, verified: true },
    ]);
    expect(await other.subscriptions.unregister()).toBe(1);
    expect(listed(one)).toMatchObject([{ uri: one.address }]);
  });

  it('P9 D13 at our own public address with another path token are left alone', async () => {
    const place = await testbed({ level: 'webhook' });
    const book = place.service.sandbox.callbacks(account);
    const strangers = [
      `${place.base}/webhooks/${account}/another-token`,
      `${place.base}/webhooks/Other/x`,
      'https://crm.example/hook',
    ];
    for (const uri of strangers) book.add(0, 'bill_vendor', uri);
    expect(await place.subscriptions.check()).toBe('verified');
    expect(await place.subscriptions.unregister()).toBe(1);
    expect(listed(place).map(({ uri }) => uri)).toEqual(strangers);
  });

  it('are all deleted by unregistering, and late deliveries are still accepted', async () => {
    const place = await testbed({ level: 'webhook', subscribed: true });
    expect([await place.subscriptions.unregister(), listed(place)]).toEqual([1, []]);
    expect([await place.mirror.callbacks.knownCallbacks(account), await place.subscriptions.unregister()]).toEqual([
      [],
      0,
    ]);
    expect((await place.secrets.verifiers.usable(account)).length).toBeGreaterThan(0);
  });
});

describe('a refused registration', () => {
  const refusing = (event: string) => (method: string, body: string) =>
    method === 'POST' && body.includes(`"event":"${event}"`)
      ? Response.json(
          { errno: 422, message: 'Refused.', details: [`event: Unrecognized event. ${body}`] },
          { status: 422 },
        )
      : undefined;

  it('D14 of a noun leads to one registration for each verb, and the noun is not tried again', async () => {
    const place = await testbed({ level: 'webhook', subscribed: true, intercept: refusing('bill_vendor') });
    expect(listed(place).map(({ event }) => event)).toEqual(
      ['create', 'update', 'delete'].map((verb) => `bill_vendor.${verb}`),
    );
    expect([await place.another().check(), writes(place)]).toEqual(['verified', []]);
    for (const { event } of listed(place)) expect(await announce(place, event)).toBe(200);
  });

  it('D14 of a noun of which one verb was deleted later leads to a new registration of that verb', async () => {
    const place = await testbed({ level: 'webhook', subscribed: true, intercept: refusing('bill_vendor') });
    place.service.sandbox.callbacks(account).remove(2002);
    expect([await place.subscriptions.check(), writes(place)]).toEqual([
      'verified',
      [`PUT ${base}/2002`, `POST ${base}`, `PUT ${base}/2004`],
    ]);
  });

  it('of an unknown event is logged without a secret, and no code is awaited', async () => {
    const lines: string[] = [];
    const log = createLog('trace', { write: (line) => lines.push(line) });
    const place = await testbed({
      level: 'webhook',
      log,
      events: ['bill_vendor.move'],
      intercept: refusing('bill_vendor.move'),
    });
    expect(await place.subscriptions.check()).toBe('unverified');
    expect(lines.join('')).toContain('Unrecognized event');
    expect(lines.join('')).not.toContain(place.address.slice(place.address.lastIndexOf('/') + 1));
    expect(await place.secrets.verifiers.offer(account, new Secret('a-strangers-code'), null)).toBe('not_awaited');
  });

  it('K34 of one of several events does not stop the others, and is reported until it is resolved', async () => {
    let refused = true;
    const intercept = (method: string, body: string) =>
      refused ? refusing('invoice.create')(method, body) : undefined;
    const place = await testbed({ level: 'webhook', events: ['invoice.create', 'bill_vendor', 'client'], intercept });
    const refusals = () =>
      ask<Record<string, string>>(place.mirror.path, 'SELECT event, code, message FROM _registration_refusals');
    expect(await place.subscriptions.check()).toBe('unverified');
    expect(listed(place).map(({ event, verified }) => [event, verified])).toEqual([
      ['bill_vendor', true],
      ['client', true],
    ]);
    expect([await announce(place), place.verified]).toEqual([200, [account]]);
    expect(refusals()).toMatchObject([{ event: 'invoice.create', code: 'rejected' }]);
    expect(JSON.stringify(refusals())).not.toContain(place.address.slice(place.address.lastIndexOf('/') + 1));
    refused = false;
    await place.clock.advance(60_000);
    expect(await place.subscriptions.check()).toBe('verified');
    expect([refusals(), listed(place).length, place.verified]).toEqual([[], 3, [account]]);
  });

  it('with 422 because it exists already, though the list did not show it, leads to another look at the list', async () => {
    const place = await testbed({ level: 'webhook', subscribed: true });
    place.service.sandbox.faults.next({ kind: 'empty_list', match: ({ method }) => method === 'GET' });
    await place.mirror.callbacks.replaceCallbacks(account, []);
    expect([await place.another().check(), writes(place)]).toEqual(['verified', [`POST ${base}`]]);
    expect(listed(place)).toHaveLength(1);
  });

  it('is not made for events that are no longer wanted: they are deleted, and several wanted ones each have a callback', async () => {
    const place = await testbed({ level: 'webhook', subscribed: true, events: ['bill_vendor', 'bill'] });
    expect(listed(place).map(({ event }) => event)).toEqual(['bill_vendor', 'bill']);
    expect(await place.another({ events: ['bill_vendor.update'] }).check()).toBe('verified');
    expect(listed(place).map(({ event }) => event)).toEqual(['bill_vendor.update']);
  });
});

describe('signatures after a change of verifier', () => {
  it('D9 made with the old verifier before the change are accepted', async () => {
    const place = await testbed({
      level: 'webhook',
      subscribed: true,
      world: ['signAt=event'],
      sandbox: { deliveries: { delay: [60_000, 60_000] } },
    });
    const heard = announce(place);
    expect(await place.subscriptions.resendIfSilent()).toBe('renewed');
    await place.clock.advance(60_000);
    expect(await heard).toBe(200);
  });

  it('E9 made with a verifier that changed without notice are noticed after several wrong ones, and a renewal repairs it', async () => {
    const place = await testbed({ level: 'webhook', subscribed: true });
    const book = place.service.sandbox.callbacks(account);
    book.verify(0, book.renew(0, book.get(2001)!), book.get(2001)!.verifier);
    for (let count = 0; count < 7; count += 1) expect(await announce(place)).toBe(401);
    expect(place.called.silences).toBe(1);
    expect([await place.subscriptions.resendIfSilent(), await announce(place)]).toEqual(['renewed', 200]);
    expect(place.verified).toEqual([account]);
  });
});
