import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { account } from '../../support/names.ts';
import { announce, base, listed, writes } from '../../support/testbed/webhook.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

/** The same installation after a restart, on the same port, one of its files lost meanwhile if told. */
async function restarted(before: Testbed<'webhook'>, lost?: string): Promise<Testbed<'webhook'>> {
  await before.subscriptions.stop();
  await before.close();
  if (lost !== undefined) rmSync(join(before.folder, lost));
  const { service, folder, clock } = before;
  return testbed({ level: 'webhook', service, folder, clock, port: Number(new URL(before.base).port) });
}

describe('a subscription repairs itself', () => {
  it('D5, D8 when the verifier is lost: a new code is requested, and a sweep follows', async () => {
    const place = await testbed({ level: 'webhook' });
    const book = place.service.sandbox.callbacks(account);
    book.verify(0, book.add(0, 'bill_vendor', place.address), book.get(2001)!.verifier);
    expect(await place.subscriptions.check()).toBe('verified');
    expect(writes(place)).toEqual([`PUT ${base}/2001`, `PUT ${base}/2001`]);
    expect([place.verified, await announce(place)]).toEqual([[account], 200]);
  });

  it('D5, D6 by continuing unchanged after a restart', async () => {
    const before = await testbed({ level: 'webhook', subscribed: true });
    const after = await restarted(before);
    expect([await after.subscriptions.check(), writes(after), await announce(after)]).toEqual(['verified', [], 200]);
  });

  it('D5, D12 when the file of secrets is lost: a new address is registered, and our old callback is deleted', async () => {
    const before = await testbed({ level: 'webhook', subscribed: true });
    const after = await restarted(before, 'secrets.db');
    expect(after.address).not.toBe(before.address);
    expect(await after.subscriptions.check()).toBe('verified');
    expect(listed(after)).toMatchObject([{ id: 2002, uri: after.address, verified: true }]);
    expect([after.verified, await announce(after)]).toEqual([[account], 200]);
  });

  it('D6 after a crash between a registration and its answer: the callback is found, and the received code is used', async () => {
    const place = await testbed({ level: 'webhook' });
    const book = place.service.sandbox.callbacks(account);
    await place.secrets.verifiers.expect(account, 'bill_vendor', null);
    const { id, verifier } = book.add(0, 'bill_vendor', place.address);
    await place.secrets.verifiers.offer(account, new Secret(verifier), id);
    expect(await place.subscriptions.check()).toBe('verified');
    expect(writes(place)).toEqual([`PUT ${base}/2001`]);
  });

  it.each(['a code of a stranger', 'the right one, and a code of a stranger'])(
    'L53 a callback that was verified, and whose key is lost, is proven by none of the codes that wait: %s',
    async (which) => {
      const place: Testbed<'webhook'> = await testbed({
        level: 'webhook',
        // Of a verified callback, a service may answer each code with what it is.
        intercept: (method, body) => {
          const { id, verified, event, uri } = place.service.sandbox.callbacks(account).get(2001) ?? {};
          const isStranger = method === 'PUT' && body.includes('of-a-stranger');
          if (!isStranger || !verified) return undefined;
          const callback = { callbackid: id, callback_id: id, event, uri, verified };
          return Response.json({ response: { result: { callback } } });
        },
      });
      const book = place.service.sandbox.callbacks(account);
      const { id, verifier } = book.add(0, 'bill_vendor', place.address);
      book.verify(0, book.get(id)!, verifier);
      await place.secrets.verifiers.expect(account, 'bill_vendor', null);
      await place.secrets.verifiers.offer(account, new Secret('of-a-stranger'), id);
      if (which.startsWith('the right')) await place.secrets.verifiers.offer(account, new Secret(verifier), id);
      expect(await place.subscriptions.check()).toBe('verified');
      expect(await announce(place)).toBe(200);
    },
  );

  it('D6 after a crash before the code was proven: a new code is requested', async () => {
    const place = await testbed({ level: 'webhook' });
    place.service.sandbox.callbacks(account).add(0, 'bill_vendor', place.address);
    expect([await place.subscriptions.check(), listed(place).length]).toEqual(['verified', 1]);
  });

  it.each(['reset_after', 'truncated'] as const)(
    'D7 when the answer to a registration is lost (%s): the list shows the callback',
    async (kind) => {
      const place = await testbed({ level: 'webhook' });
      place.service.sandbox.faults.next({ kind, match: ({ method }) => method === 'POST' });
      expect(await place.subscriptions.check()).toBe('verified');
      expect(listed(place)).toHaveLength(1);
      expect(await announce(place)).toBe(200);
    },
  );

  it.each([
    ['unverified', '422'],
    ['absent', '422'],
    ['absent', 'second'],
  ])('D10 when it was disabled (%s in lists, duplicates: %s): a new code is requested', async (disabled, duplicate) => {
    const place = await testbed({
      level: 'webhook',
      subscribed: true,
      world: [`disabled=${disabled}`, `duplicate=${duplicate}`],
    });
    place.service.sandbox.callbacks(account).disable(0, 2001);
    expect(await place.subscriptions.check()).toBe('verified');
    expect([place.verified, listed(place)]).toMatchObject([[account], [{ id: 2001, verified: true, disabled: false }]]);
    expect(await announce(place)).toBe(200);
  });

  it('D10 when it was disabled without a sign: it is renewed once silence is noticed, less often the less it helps', async () => {
    const place = await testbed({ level: 'webhook', subscribed: true, world: ['disabled=silent'] });
    place.service.sandbox.callbacks(account).disable(0, 2001);
    expect([await place.subscriptions.check(), writes(place)]).toEqual(['verified', []]);
    expect(await place.subscriptions.resendIfSilent()).toBe('renewed');
    expect([writes(place).length, place.verified]).toEqual([2, [account]]);
    expect(await announce(place)).toBe(200);
    const renewals: number[] = [];
    for (let minute = 0; minute < 300; minute += 5) {
      place.requests.length = 0;
      await place.subscriptions.resendIfSilent();
      if (writes(place).length > 0) renewals.push(minute);
      await place.clock.advance(300_000);
    }
    expect(renewals).toEqual([15, 45, 105, 225]);
  });

  it.each([
    ['silent', (place: Testbed<'webhook'>) => place.subscriptions.resendIfSilent()],
    ['unverified', (place: Testbed<'webhook'>) => place.subscriptions.check()],
    ['absent', (place: Testbed<'webhook'>) => place.subscriptions.check()],
  ])(
    'K10 when a resend brings the same code as before and disabled is %s: it is verified within 40 s',
    async (disabled, look) => {
      const place = await testbed({
        level: 'webhook',
        subscribed: true,
        world: ['resentCode=same', `disabled=${disabled}`],
      });
      const book = place.service.sandbox.callbacks(account);
      const { verifier } = book.get(2001)!;
      book.disable(0, 2001);
      const begun = place.clock.monotonic();
      expect([await look(place), place.verified]).toEqual([disabled === 'silent' ? 'renewed' : 'verified', [account]]);
      expect(place.clock.monotonic() - begun).toBeLessThan(40_000);
      expect(listed(place)).toMatchObject([{ id: 2001, verified: true, disabled: false, verifier }]);
      expect(await place.secrets.verifiers.candidates(account, 2001)).toEqual([]);
      expect(await announce(place)).toBe(200);
    },
  );

  it('D3, D10 when a list does not show what was just registered: its id is not forgotten', async () => {
    const place = await testbed({ level: 'webhook', world: ['disabled=absent', 'duplicate=422'] });
    const book = place.service.sandbox.callbacks(account);
    let listedOnce = false;
    const second = ({ method }: { method: string }): boolean =>
      method === 'GET' && (listedOnce || !(listedOnce = true));
    place.service.sandbox.faults.next({ kind: 'empty_list', match: second });
    const checked = place.subscriptions.check();
    await place.codeWaitAfter(4);
    expect(await checked).toBe('unverified');
    expect(place.requests).toEqual([`GET ${base}`, `POST ${base}`, `PUT ${base}/2001`, `GET ${base}`]);
    book.disable(0, 2001);
    expect(await place.subscriptions.check()).toBe('verified');
    expect([await announce(place), listed(place)]).toMatchObject([200, [{ id: 2001, verified: true }]]);
  });

  it('D10 when somebody deleted it: it is registered anew', async () => {
    const place = await testbed({ level: 'webhook', subscribed: true });
    place.service.sandbox.callbacks(account).remove(2001);
    expect(await place.subscriptions.check()).toBe('verified');
    expect(listed(place)).toMatchObject([{ id: 2002, verified: true }]);
    expect((await place.mirror.callbacks.knownCallbacks(account)).map(({ callbackid }) => callbackid)).toEqual([2002]);
  });

  it.each(['unauthenticated', 'token_unusable', 'token_refresh_failed'] as const)(
    'D10 a callback that vanished is not forgotten where there is no token to enable it with (%s)',
    async (code) => {
      let left = Infinity;
      const place = await testbed({
        level: 'webhook',
        subscribed: true,
        world: ['disabled=absent', 'duplicate=second'],
        tokens: (usual) => ({
          ...usual,
          current: () => (--left < 0 ? Promise.reject(new MirrorError(code, 'None.')) : usual.current()),
        }),
      });
      place.service.sandbox.callbacks(account).disable(0, 2001);
      // For the list alone.
      left = 1;
      expect(await place.subscriptions.check()).toBe('unverified');
      left = Infinity;
      expect(await place.subscriptions.check()).toBe('verified');
      expect(listed(place)).toMatchObject([{ id: 2001, verified: true }]);
    },
  );

  it('after the service was down: the check fails with an error, and the next one repairs it', async () => {
    const place = await testbed({ level: 'webhook' });
    place.service.sandbox.faults.next({ kind: '401' });
    expect([await place.subscriptions.check(), writes(place)]).toEqual(['unverified', []]);
    expect(await place.subscriptions.check()).toBe('verified');
  });

  it('D11 with three registrations at once: there is no fourth, and the next day there is', async () => {
    const place = await testbed({ level: 'webhook' });
    for (let count = 0; count < 5; count += 1) {
      await place.subscriptions.check();
      for (const { id } of listed(place)) place.service.sandbox.callbacks(account).remove(id);
    }
    expect(writes(place).filter((request) => request.startsWith('POST'))).toHaveLength(3);
    await place.clock.advance(86_400_001);
    expect(await place.subscriptions.check()).toBe('verified');
  });
});
