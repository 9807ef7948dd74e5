import { describe, expect, it } from 'vitest';
import { createLog, Secret } from '../../src/log.ts';
import { account, formType, house, type House } from './house.ts';

const listed = ({ service }: House) => service.sandbox.callbacks(account).all();
const writes = ({ requests }: House) => requests.filter((request) => !request.startsWith('GET'));
const base = `/events/account/${account}/events/callbacks`;

/** Lets the service tell of a change, and returns how its attempt went. */
async function hear({ service }: House, event = 'bill_vendor.update'): Promise<number | undefined> {
  const attempt = new Promise<number | undefined>((resolve) => {
    const stop = service.sandbox.onDelivery(({ kind, status }) => {
      if (kind !== 'event') return;
      stop();
      resolve(status);
    });
  });
  service.sandbox.emit(account, event, 1001);
  return attempt;
}

/** What of the service's side a house has once it is subscribed. */
async function subscribed(options: Parameters<typeof house>[0] = {}): Promise<House> {
  const place = await house(options);
  expect(await place.keeper.check()).toBe('verified');
  place.requests.length = 0;
  place.verified.length = 0;
  return place;
}

describe('a first subscription', () => {
  it('lists, registers, waits for the code, sends it back, and lists again', async () => {
    const place = await house();
    expect(await place.keeper.check()).toBe('verified');
    expect(place.requests).toEqual([`GET ${base}`, `POST ${base}`, `PUT ${base}/2001`, `GET ${base}`]);
    expect(listed(place)).toMatchObject([{ event: 'bill_vendor', uri: place.address, verified: true }]);
    expect(place.verified).toEqual([account]);
    expect(await place.mirror.knownCallbacks(account)).toEqual([
      { callbackid: 2001, event: 'bill_vendor', uri: `${place.base}/webhooks/${account}/`, verified: true },
    ]);
    expect(await hear(place)).toBe(200);
  });

  it.each([
    ['D1 the code comes before the answer', ['handshakeWhen=before']],
    [
      'D1, D4 the code comes as JSON, unsigned, before the answer',
      ['handshakeForm=json', 'handshakeSigned=no', 'handshakeWhen=before'],
    ],
    ['D4 the code comes as JSON', ['handshakeForm=json']],
    ['D4 the code comes unsigned', ['handshakeSigned=no']],
    ['D3 wrong codes answer 200', ['wrongVerifier=unverified']],
    ['doubles are allowed', ['duplicate=second']],
    ['callbacks have one id', ['callbackKeys=callbackid', 'callbackTime=plain']],
    ['E1 keys are signed sorted', ['keyOrder=sorted', 'extraParameter=present']],
    ['E2 characters are signed as UTF-8', ['escaping=utf8', 'extraParameter=present']],
    ['E1, E2 both', ['keyOrder=sorted', 'escaping=utf8', 'extraParameter=present']],
    ['E2 parameters are more than documented', ['extraParameter=present']],
  ])('%s', async (_, world) => {
    const place = await house({ world });
    expect([await place.keeper.check(), place.verified]).toEqual(['verified', [account]]);
    for (let count = 0; count < 5; count += 1) expect(await hear(place)).toBe(200);
  });

  it('is kept as it is: the next look asks for the list and nothing else', async () => {
    const place = await subscribed();
    expect([await place.keeper.check(), await place.another().check()]).toEqual(['verified', 'verified']);
    expect([place.requests, place.verified]).toEqual([[`GET ${base}`, `GET ${base}`], []]);
  });

  it('without a public address is none: idle, and nothing is asked', async () => {
    const place = await house();
    const keeper = place.another({ publicUrl: null });
    await keeper.start();
    expect([await keeper.check(), await keeper.resendIfSilent(), place.requests]).toEqual(['idle', 'idle', []]);
    await keeper.stop();
    await keeper.stop();
  });

  it('begins with the start, which does not wait for it; and one look serves all who ask', async () => {
    const place = await house();
    await place.keeper.start();
    expect(place.requests).toEqual([]);
    await Promise.all([place.keeper.check(), place.keeper.check()]);
    expect(writes(place)).toEqual([`POST ${base}`, `PUT ${base}/2001`]);
  });

  it('may be stopped while it waits', async () => {
    const place = await house();
    const silent = place.another({ publicUrl: 'http://127.0.0.1:9' });
    const check = silent.check();
    await place.clock.waiting();
    await silent.stop();
    expect(await check).toBe('unverified');
  });
});

describe('codes', () => {
  it('D1 a code that is long in coming is proven when it comes', async () => {
    const place = await house();
    // The first attempt to deliver it fails, the next one is minutes later.
    const deaf = place.another({ publicUrl: 'http://127.0.0.1:9' });
    const check = deaf.check();
    await place.pass(30_000);
    expect(await check).toBe('unverified');
    const { verifier } = listed(place)[0]!;
    expect(await place.secrets.verifiers.offer(account, new Secret(verifier), 2001)).toBe('kept');
    deaf.codeArrived();
    expect(await deaf.check()).toBe('verified');
    expect(place.verified).toEqual([account]);
  });

  it("D2 a stranger's code is refused while none is awaited, and no request is made", async () => {
    const place = await subscribed();
    const answer = await fetch(place.address, {
      method: 'POST',
      headers: { 'content-type': formType },
      body: 'name=callback.verify&verifier=a-strangers-code&object_id=2001&account_id=6BApk',
    });
    expect([answer.status, place.requests, place.outcomes.at(-1)]).toEqual([403, [], 'unexpected_code']);
    expect(await hear(place)).toBe(200);
  });

  it("D2, D3 strangers' codes that come while one is awaited are tried, found wrong, and forgotten", async () => {
    for (const world of [['wrongVerifier=4xx'], ['wrongVerifier=unverified']]) {
      const place = await house({ world });
      await place.secrets.verifiers.expect(account, 'bill_vendor', null);
      for (let count = 0; count < 7; count += 1)
        await place.secrets.verifiers.offer(account, new Secret(`strangers-code-${count}`), null);
      expect(await place.keeper.check()).toBe('verified');
      expect(await place.secrets.verifiers.candidates(account, 2001)).toEqual([]);
      expect(await hear(place)).toBe(200);
    }
  });

  it('D2 a code that the answer calls right, and the list does not, proves nothing', async () => {
    const place = await house();
    place.service.sandbox.onRequest(({ method }) => {
      if (method !== 'GET' || listed(place).length === 0) return;
      const book = place.service.sandbox.callbacks(account);
      book.renew(0, book.get(2001)!);
    });
    const check = place.keeper.check();
    await place.pass(30_000);
    expect(await check).toBe('unverified');
    expect([await place.secrets.verifiers.holds(account, 2001), place.verified]).toEqual([false, []]);
  });

  it('D3 after many wrong codes the callback is replaced: the service may have locked it', async () => {
    const place = await house();
    place.service.sandbox.callbacks(account).add(0, 'bill_vendor', place.address);
    await place.secrets.verifiers.expect(account, 'bill_vendor', 2001);
    for (let count = 0; count < 7; count += 1)
      await place.secrets.verifiers.offer(account, new Secret(`strangers-code-${count}`), 2001);
    expect(await place.keeper.check()).toBe('verified');
    expect(listed(place)).toMatchObject([{ id: 2002, verified: true }]);
  });
});

describe('what goes wrong mends itself', () => {
  it('D5, D8 the verifier is lost: a new code is asked for, and a sweep follows', async () => {
    const place = await house();
    const book = place.service.sandbox.callbacks(account);
    book.verify(0, book.add(0, 'bill_vendor', place.address), book.get(2001)!.verifier);
    expect(await place.keeper.check()).toBe('verified');
    expect(writes(place)).toEqual([`PUT ${base}/2001`, `PUT ${base}/2001`]);
    expect([place.verified, await hear(place)]).toEqual([[account], 200]);
  });

  it('D5, D12 the file of secrets is gone: there is a new address, and the old callback of ours is deleted', async () => {
    const before = await subscribed();
    const old = listed(before)[0]!;
    // The same mirror, other secrets: what the old path token led to is known by its id and our public address.
    const after = await house({ service: before.service });
    await after.mirror.replaceCallbacks(account, await before.mirror.knownCallbacks(account));
    const book = before.service.sandbox.callbacks(account);
    book.remove(old.id);
    const moved = book.add(0, 'bill_vendor', old.uri.replace(before.base, after.base));
    await after.mirror.replaceCallbacks(account, [
      { callbackid: moved.id, event: moved.event, uri: `${after.base}/webhooks/${account}/`, verified: true },
    ]);
    expect(await after.keeper.check()).toBe('verified');
    expect(listed(after)).toMatchObject([{ uri: after.address, verified: true }]);
    expect(await hear(after)).toBe(200);
  });

  it('D6 a crash between registering and its answer: the callback is found, the code that came is used', async () => {
    const place = await house();
    const book = place.service.sandbox.callbacks(account);
    await place.secrets.verifiers.expect(account, 'bill_vendor', null);
    const { id, verifier } = book.add(0, 'bill_vendor', place.address);
    await place.secrets.verifiers.offer(account, new Secret(verifier), id);
    expect(await place.keeper.check()).toBe('verified');
    expect(writes(place)).toEqual([`PUT ${base}/2001`]);
  });

  it('D6 a crash before the code was proven: a new one is asked for', async () => {
    const place = await house();
    place.service.sandbox.callbacks(account).add(0, 'bill_vendor', place.address);
    expect([await place.keeper.check(), listed(place).length]).toEqual(['verified', 1]);
  });

  it.each(['reset_after', 'truncated'] as const)(
    'D7 registered, but the answer is lost (%s): the list tells',
    async (kind) => {
      const place = await house();
      place.service.sandbox.faults.next({ kind, match: ({ method }) => method === 'POST' });
      expect(await place.keeper.check()).toBe('verified');
      expect(listed(place)).toHaveLength(1);
      expect(await hear(place)).toBe(200);
    },
  );

  it.each([
    ['unverified', '422'],
    ['absent', '422'],
    ['absent', 'second'],
  ])('D10 disabled (%s in lists, doubles: %s): asked for a new code', async (disabled, duplicate) => {
    const place = await subscribed({ world: [`disabled=${disabled}`, `duplicate=${duplicate}`] });
    place.service.sandbox.callbacks(account).disable(0, 2001);
    expect(await place.keeper.check()).toBe('verified');
    expect([place.verified, listed(place)]).toMatchObject([[account], [{ id: 2001, verified: true, disabled: false }]]);
    expect(await hear(place)).toBe(200);
  });

  it('D10 disabled without a sign: renewed when told that it is silent, and the rarer the less it helps', async () => {
    const place = await subscribed({ world: ['disabled=silent'] });
    place.service.sandbox.callbacks(account).disable(0, 2001);
    expect([await place.keeper.check(), writes(place)]).toEqual(['verified', []]);
    expect(await place.keeper.resendIfSilent()).toBe('verified');
    expect([writes(place).length, place.verified]).toEqual([2, [account]]);
    expect(await hear(place)).toBe(200);
    const renewals: number[] = [];
    for (let minute = 0; minute < 300; minute += 5) {
      place.requests.length = 0;
      await place.keeper.resendIfSilent();
      if (writes(place).length > 0) renewals.push(minute);
      await place.clock.advance(300_000);
    }
    expect(renewals).toEqual([15, 45, 105, 225]);
  });

  it('D10 deleted by somebody: registered anew', async () => {
    const place = await subscribed();
    place.service.sandbox.callbacks(account).remove(2001);
    expect(await place.keeper.check()).toBe('verified');
    expect(listed(place)).toMatchObject([{ id: 2002, verified: true }]);
    expect((await place.mirror.knownCallbacks(account)).map(({ callbackid }) => callbackid)).toEqual([2002]);
  });

  it('the service is down: the look fails, says so, and the next one mends', async () => {
    const place = await house();
    place.service.sandbox.faults.next({ kind: '401' });
    expect([await place.keeper.check(), writes(place)]).toEqual(['unverified', []]);
    expect(await place.keeper.check()).toBe('verified');
  });

  it('D11 registrations are counted: after three in a day there is no fourth, and the day after there is', async () => {
    const place = await house();
    for (let count = 0; count < 5; count += 1) {
      await place.keeper.check();
      for (const { id } of listed(place)) place.service.sandbox.callbacks(account).remove(id);
    }
    expect(writes(place).filter((request) => request.startsWith('POST'))).toHaveLength(3);
    await place.clock.advance(86_400_001);
    expect(await place.keeper.check()).toBe('verified');
  });
});

describe('other callbacks', () => {
  it('D11 ours is found on a later page, whatever filters do', async () => {
    const place = await house();
    const book = place.service.sandbox.callbacks(account);
    for (let count = 0; count < 120; count += 1) book.add(0, 'bill_vendor', `https://other.example/${count}`);
    await place.keeper.check();
    place.requests.length = 0;
    expect([await place.another().check(), writes(place)]).toEqual(['verified', []]);
  });

  it('D12 the public address changed: registered there, and the old one deleted after that', async () => {
    const place = await house();
    const book = place.service.sandbox.callbacks(account);
    const token = place.address.slice(place.address.lastIndexOf('/') + 1);
    book.add(0, 'bill_vendor', `https://old.example/webhooks/${account}/${token}`);
    expect(await place.keeper.check()).toBe('verified');
    expect(writes(place)).toEqual([`POST ${base}`, `PUT ${base}/2002`, `DELETE ${base}/2001`]);
    expect(listed(place)).toMatchObject([{ uri: place.address }]);
  });

  it.each(['deleteStatus=200', 'deleteStatus=204'])('doubles of ours are deleted (%s)', async (deleteStatus) => {
    const place = await subscribed({ world: ['duplicate=second', deleteStatus] });
    place.service.sandbox.callbacks(account).add(0, 'bill_vendor', place.address);
    expect(await place.keeper.check()).toBe('verified');
    expect(writes(place)).toEqual([`DELETE ${base}/2002`]);
    expect(await hear(place)).toBe(200);
  });

  it('D13 two installations on one account leave each other alone', async () => {
    const one = await subscribed();
    const other = await house({ service: one.service });
    expect(await other.keeper.check()).toBe('verified');
    expect([await one.keeper.check(), await other.keeper.check()]).toEqual(['verified', 'verified']);
    expect(listed(one)).toMatchObject([
      { uri: one.address, verified: true },
      { uri: other.address, verified: true },
    ]);
    expect(await other.keeper.unregister()).toBe(1);
    expect(listed(one)).toMatchObject([{ uri: one.address }]);
  });

  it('P9 D13 not even one at our own public address whose token is not ours', async () => {
    const place = await house();
    const book = place.service.sandbox.callbacks(account);
    const strangers = [
      `${place.base}/webhooks/${account}/another-token`,
      `${place.base}/webhooks/Other/x`,
      'https://crm.example/hook',
    ];
    for (const uri of strangers) book.add(0, 'bill_vendor', uri);
    expect(await place.keeper.check()).toBe('verified');
    expect(await place.keeper.unregister()).toBe(1);
    expect(listed(place).map(({ uri }) => uri)).toEqual(strangers);
  });

  it('unregistering leaves nothing of ours, and late deliveries are still believed', async () => {
    const place = await subscribed();
    expect([await place.keeper.unregister(), listed(place)]).toEqual([1, []]);
    expect([await place.mirror.knownCallbacks(account), await place.keeper.unregister()]).toEqual([[], 0]);
    expect((await place.secrets.verifiers.usable(account)).length).toBeGreaterThan(0);
  });
});

describe('registering that is refused', () => {
  const refusing = (event: string) => (method: string, body: string) =>
    method === 'POST' && body.includes(`"event":"${event}"`)
      ? Response.json(
          { errno: 422, message: 'Refused.', details: [`event: Unrecognized event. ${body}`] },
          { status: 422 },
        )
      : undefined;

  it('D14 a noun: its verbs are registered one by one, and the noun is not tried again', async () => {
    const place = await subscribed({ intercept: refusing('bill_vendor') });
    expect(listed(place).map(({ event }) => event)).toEqual(
      ['create', 'update', 'delete'].map((verb) => `bill_vendor.${verb}`),
    );
    expect([await place.another().check(), writes(place)]).toEqual(['verified', []]);
    for (const { event } of listed(place)) expect(await hear(place, event)).toBe(200);
  });

  it('D14 a noun, and one of its verbs was deleted: that one is registered anew', async () => {
    const place = await subscribed({ intercept: refusing('bill_vendor') });
    place.service.sandbox.callbacks(account).remove(2002);
    expect([await place.keeper.check(), writes(place)]).toEqual([
      'verified',
      [`PUT ${base}/2002`, `POST ${base}`, `PUT ${base}/2004`],
    ]);
  });

  it('an event that nobody knows: said in the log, without a secret, and no code is awaited', async () => {
    const lines: string[] = [];
    const log = createLog('trace', { write: (line) => lines.push(line) });
    const place = await house({ log, events: ['bill_vendor.move'], intercept: refusing('bill_vendor.move') });
    expect(await place.keeper.check()).toBe('unverified');
    expect(lines.join('')).toContain('Unrecognized event');
    expect(lines.join('')).not.toContain(place.address.slice(place.address.lastIndexOf('/') + 1));
    expect(await place.secrets.verifiers.offer(account, new Secret('a-strangers-code'), null)).toBe('not_awaited');
  });

  it('422 because it exists already, though the list did not show it: the list is asked again', async () => {
    const place = await subscribed();
    place.service.sandbox.faults.next({ kind: 'empty_list', match: ({ method }) => method === 'GET' });
    await place.mirror.replaceCallbacks(account, []);
    expect([await place.another().check(), writes(place)]).toEqual(['verified', [`POST ${base}`]]);
    expect(listed(place)).toHaveLength(1);
  });

  it('events that are not wanted any more are unsubscribed, and several wanted ones each have their callback', async () => {
    const place = await subscribed({ events: ['bill_vendor', 'bill'] });
    expect(listed(place).map(({ event }) => event)).toEqual(['bill_vendor', 'bill']);
    expect(await place.another({ events: ['bill_vendor.update'] }).check()).toBe('verified');
    expect(listed(place).map(({ event }) => event)).toEqual(['bill_vendor.update']);
  });
});

describe('signatures after a change of keys', () => {
  it('D9 what was signed with the old key before the change is believed', async () => {
    const place = await subscribed({ world: ['signAt=event'], sandbox: { deliveries: { delay: [60_000, 60_000] } } });
    const heard = hear(place);
    expect(await place.keeper.resendIfSilent()).toBe('verified');
    await place.clock.advance(60_000);
    expect(await heard).toBe(200);
  });

  it('E9 the key changed behind our back: after several wrong signatures it is noticed, and a renewal mends it', async () => {
    const place = await subscribed();
    const book = place.service.sandbox.callbacks(account);
    book.verify(0, book.renew(0, book.get(2001)!), book.get(2001)!.verifier);
    for (let count = 0; count < 7; count += 1) expect(await hear(place)).toBe(401);
    expect(place.told.deaf).toBe(1);
    expect([await place.keeper.resendIfSilent(), await hear(place)]).toEqual(['verified', 200]);
    expect(place.verified).toEqual([account]);
  });
});
