import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { formType } from '../../support/deliveries/signed-delivery.ts';
import { account } from '../../support/names.ts';
import { announce, base, listed, writes } from '../../support/testbed/webhook.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

describe('a first subscription', () => {
  it('lists, registers, waits for the code, sends it back, and lists again', async () => {
    const place = await testbed({ level: 'webhook' });
    expect(await place.subscriptions.check()).toBe('verified');
    expect(place.requests).toEqual([`GET ${base}`, `POST ${base}`, `PUT ${base}/2001`, `GET ${base}`]);
    expect(listed(place)).toMatchObject([{ event: 'bill_vendor', uri: place.address, verified: true }]);
    expect(place.verified).toEqual([account]);
    expect(await place.mirror.callbacks.knownCallbacks(account)).toEqual([
      { callbackid: 2001, event: 'bill_vendor', uri: `${place.base}/webhooks/${account}/`, verified: true },
    ]);
    expect(await announce(place)).toBe(200);
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
    ['L25 codes are any text', ['code=any']],
    ['L25 codes are any text, as JSON', ['code=any', 'handshakeForm=json', 'handshakeSigned=no']],
    ['L27 another integration has a callback without an id', ['brokenRows=one']],
    ['L28 keys are signed in an order of their own', ['keyOrder=own']],
    ['L28 in an order of their own, more than documented', ['keyOrder=own', 'extraParameter=present', 'escaping=utf8']],
    ['L28 a space follows every colon and comma', ['spacing=every', 'extraParameter=present']],
    ['L28 both', ['keyOrder=own', 'spacing=every', 'extraParameter=present']],
  ])('%s', async (_, world) => {
    const place = await testbed({ level: 'webhook', world });
    expect([await place.subscriptions.check(), place.verified]).toEqual(['verified', [account]]);
    for (let count = 0; count < 5; count += 1) expect(await announce(place)).toBe(200);
  });

  it('is kept as it is: the next check requests only the list', async () => {
    const place = await testbed({ level: 'webhook', subscribed: true });
    expect([await place.subscriptions.check(), await place.another().check()]).toEqual(['verified', 'verified']);
    expect([place.requests, place.verified]).toEqual([[`GET ${base}`, `GET ${base}`], []]);
  });

  it('is not made without a public address, and nothing is requested', async () => {
    const place = await testbed({ level: 'webhook' });
    const subscriptions = place.another({ publicUrl: null });
    await subscriptions.start();
    expect([await subscriptions.check(), await subscriptions.resendIfSilent(), place.requests]).toEqual([
      'idle',
      'idle',
      [],
    ]);
    await subscriptions.stop();
    await subscriptions.stop();
  });

  it('begins with the start, which does not wait for it; one check serves all who ask', async () => {
    const place = await testbed({ level: 'webhook' });
    await place.subscriptions.start();
    expect(place.requests).toEqual([]);
    await Promise.all([place.subscriptions.check(), place.subscriptions.check()]);
    expect(writes(place)).toEqual([`POST ${base}`, `PUT ${base}/2001`]);
  });

  it('can be stopped while it waits', async () => {
    const place = await testbed({ level: 'webhook' });
    const silent = place.another({ publicUrl: 'http://127.0.0.1:9' });
    const check = silent.check();
    await place.clock.waiting();
    await silent.stop();
    expect(await check).toBe('unverified');
  });
});

describe('verification codes', () => {
  it('D1 that arrive late are proven when they arrive', async () => {
    const place = await testbed({ level: 'webhook' });
    // The first attempt to deliver it fails, the next one is minutes later.
    const unreachable = place.another({ publicUrl: 'http://127.0.0.1:9' });
    const check = unreachable.check();
    await place.codeWaitAfter(2);
    expect(await check).toBe('unverified');
    const { verifier } = listed(place)[0]!;
    expect(await place.secrets.verifiers.offer(account, new Secret(verifier), 2001)).toBe('kept');
    unreachable.codeArrived();
    expect(await unreachable.check()).toBe('verified');
    expect(place.verified).toEqual([account]);
  });

  it('D2 of strangers are refused while none is awaited, and no request is sent', async () => {
    const place = await testbed({ level: 'webhook', subscribed: true });
    const answer = await fetch(place.address, {
      method: 'POST',
      headers: { 'content-type': formType },
      body: 'name=callback.verify&verifier=a-strangers-code&object_id=2001&account_id=6BApk',
    });
    expect([answer.status, place.requests, place.outcomes.at(-1)]).toEqual([403, [], 'unexpected_code']);
    expect(await announce(place)).toBe(200);
  });

  it('D2, D3 of strangers that arrive while one is awaited are tried, found wrong and forgotten', async () => {
    for (const world of [['wrongVerifier=4xx'], ['wrongVerifier=unverified']]) {
      const place = await testbed({ level: 'webhook', world });
      await place.secrets.verifiers.expect(account, 'bill_vendor', null);
      for (let count = 0; count < 7; count += 1)
        await place.secrets.verifiers.offer(account, new Secret(`strangers-code-${count}`), 2001);
      while (place.verified.length === 0) {
        // One whose requests take longer than the clock allows them ends without success.
        void place.subscriptions.check();
        await place.clock.advance(10_000);
      }
      expect(await place.secrets.verifiers.candidates(account, 2001)).toEqual([]);
      expect(await announce(place)).toBe(200);
    }
  });

  it('D2 that the answer accepts and the list does not prove nothing', async () => {
    const place = await testbed({ level: 'webhook' });
    place.service.sandbox.onRequest(({ method }) => {
      if (method !== 'GET' || listed(place).length === 0) return;
      const book = place.service.sandbox.callbacks(account);
      book.renew(0, book.get(2001)!);
    });
    const check = place.subscriptions.check();
    await place.codeWaitAfter(4);
    expect(await check).toBe('unverified');
    expect(place.requests).toEqual([`GET ${base}`, `POST ${base}`, `PUT ${base}/2001`, `GET ${base}`]);
    expect([await place.secrets.verifiers.hasKey(account, 2001), place.verified]).toEqual([false, []]);
  });

  it('D3 L52 that are wrong many times lead to a new callback once the last code had its time: the service may have locked the old one', async () => {
    const place: Testbed<'webhook'> = await testbed({
      level: 'webhook',
      // The service takes no code for the first callback any more.
      intercept: (method, body) =>
        method === 'PUT' && body.includes('verifier') && listed(place)[0]?.id === 2001
          ? Response.json({ errno: 1004, message: 'Locked.' }, { status: 422 })
          : undefined,
    });
    place.service.sandbox.callbacks(account).add(0, 'bill_vendor', place.address);
    await place.secrets.verifiers.expect(account, 'bill_vendor', 2001);
    for (let count = 0; count < 7; count += 1)
      await place.secrets.verifiers.offer(account, new Secret(`strangers-code-${count}`), 2001);
    const began = place.clock.monotonic();
    while (place.verified.length === 0) {
      void place.subscriptions.check();
      await place.clock.advance(15_000);
    }
    expect(place.clock.monotonic() - began).toBeGreaterThanOrEqual(600_000);
    // How often the right code of the first callback is tried in vain, is up to when its answers come.
    expect(place.wrongCodes()).toBeGreaterThanOrEqual(8);
    expect(listed(place)).toMatchObject([{ id: 2002, verified: true }]);
  });

  it('L52 are tried five a minute while they are wrong, in few requests, however many come', async () => {
    const place = await testbed({ level: 'webhook' });
    const silent = place.another({ publicUrl: 'http://127.0.0.1:9' });
    const check = silent.check();
    await place.codeWaitAfter(2);
    expect(await check).toBe('unverified');
    const began = place.clock.monotonic();
    place.requests.length = 0;
    for (let count = 0; count < 400; count += 1) {
      await place.secrets.verifiers.offer(account, new Secret(`strangers-code-${count}`), 2001);
      silent.codeArrived();
      if (count % 10 === 0) await place.clock.advance(1_000);
    }
    const minutes = 1 + Math.ceil((place.clock.monotonic() - began) / 60_000);
    expect(place.requests.filter((request) => request.startsWith('PUT')).length).toBeLessThanOrEqual(5 * minutes);
    expect(place.requests.length).toBeLessThanOrEqual(20 * minutes);
    await place.secrets.verifiers.offer(account, new Secret(listed(place)[0]!.verifier), 2001);
    silent.codeArrived();
    while (place.verified.length === 0) await place.clock.advance(10_000);
    expect([await silent.check(), place.verified]).toEqual(['verified', [account]]);
  });
});
