/** Registrations that the service does not make: how often they are tried, what is kept of the cause, and what ends the wait. */
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { announce, base, listed, writes } from '../../support/testbed/webhook.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const minute = 60_000;

/** A place whose registrations are answered with this status while `state.refusing`. */
async function refusing(status: number, more: { readonly subscribed?: boolean } = {}) {
  const state = { refusing: !more.subscribed, tries: 0 };
  const place = await testbed({
    ...{ level: 'webhook', ...more },
    intercept: (method) => {
      if (method !== 'POST' || !state.refusing) return undefined;
      state.tries += 1;
      return Response.json({ errno: status, message: 'Not for this token.' }, { status });
    },
  });
  return { place, state };
}

/** Checks every quarter of an hour. */
async function checks(place: Testbed<'webhook'>, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    await place.subscriptions.check();
    await place.clock.advance(15 * minute);
  }
}

const kept = async ({ mirror }: Testbed<'webhook'>) => mirror.callbacks.refusals(account);

describe('L93 a list of callbacks that the service refuses', () => {
  it.each([403, 404, 405])('L93 with %i is told as what keeps the callback from being registered', async (status) => {
    const state = { refusing: true };
    const place = await testbed({
      level: 'webhook',
      intercept: (method) =>
        method === 'GET' && state.refusing
          ? Response.json({ errno: status, message: 'Not for this token.' }, { status })
          : undefined,
    });
    await place.subscriptions.check();
    const told = await kept(place);
    expect(told).toMatchObject([{ event: 'bill_vendor', retry_at: null }]);
    expect(told[0]?.message).toMatch(/^The service refuses to list callbacks\. /);
    state.refusing = false;
    expect([await place.subscriptions.check(), await kept(place)]).toEqual(['verified', []]);
  });
});

describe('L93 a registration that the service refuses', () => {
  it.each([401, 403, 404, 500])(
    'L93 with %i is none of the three of a day: once the cause is gone, it is made',
    async (status) => {
      const { place, state } = await refusing(status);
      await checks(place, 8);
      state.refusing = false;
      await place.clock.advance(60 * minute);
      expect(await place.subscriptions.check()).toBe('verified');
      expect([await kept(place), await announce(place)]).toEqual([[], 200]);
    },
  );

  it('L93 is tried again after a minute, then after twice as long each time, and after an hour at most', async () => {
    const { place, state } = await refusing(403);
    const tried: number[] = [];
    for (let passed = 0; passed < 300; passed += 1) {
      const before = state.tries;
      await place.subscriptions.check();
      if (state.tries > before) tried.push(passed);
      await place.clock.advance(minute);
    }
    expect(tried).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
  });

  it('L93 does not wait longer where the clock was set back meanwhile', async () => {
    const { place, state } = await refusing(403);
    await place.subscriptions.check();
    place.clock.shiftWall(-5 * 60 * minute);
    state.refusing = false;
    await place.clock.advance(2 * minute);
    expect(await place.subscriptions.check()).toBe('verified');
  });

  it('L93 keeps its first moment and its cause while it is waited for, with the remedy and the next try', async () => {
    const { place } = await refusing(403);
    await place.subscriptions.check();
    const [first] = await kept(place);
    await place.clock.advance(minute / 2);
    await place.another().check();
    expect(await kept(place)).toEqual([first]);
    expect(first).toMatchObject({ event: 'bill_vendor', code: 'access_denied', attempts: 1 });
    expect(first?.message).toContain('Not for this token.');
    await place.clock.advance(minute);
    await place.subscriptions.check();
    expect(await kept(place)).toMatchObject([{ refused_at: first?.refused_at, attempts: 2 }]);
  });

  it('L93 is tried at once after a reload', async () => {
    const { place, state } = await refusing(403);
    await checks(place, 10);
    state.refusing = false;
    await place.subscriptions.check();
    expect(listed(place)).toEqual([]);
    expect(await place.subscriptions.checkAnew()).toBe('verified');
  });

  it('L93 is tried at once at another public address', async () => {
    const { place, state } = await refusing(403);
    await checks(place, 10);
    state.refusing = false;
    expect(await place.another({ publicUrl: place.base.replace('127.0.0.1', 'localhost') }).check()).toBe('verified');
  });
});

describe('L93 a registration that is made', () => {
  it('L93 at a fourth public address within a day follows at once', async () => {
    const place = await testbed({ level: 'webhook' });
    for (const publicUrl of ['http://127.0.0.1:9/a', 'http://127.0.0.1:9/b', 'http://127.0.0.1:9/c']) {
      const checked = place.another({ publicUrl }).check();
      await place.codeWaitAfter(place.requests.length + 2);
      expect(await checked).toBe('unverified');
    }
    expect(await place.another().check()).toBe('verified');
    expect(listed(place)).toMatchObject([{ uri: place.address, verified: true }]);
  });

  it('L93 and deleted again and again is made three times at once, then after an hour, two, four and eight', async () => {
    const place = await testbed({ level: 'webhook' });
    const made: number[] = [];
    for (let passed = 0; passed < 24 * 4; passed += 1) {
      place.requests.length = 0;
      await place.subscriptions.check();
      if (writes(place).includes(`POST ${base}`)) made.push(passed / 4);
      for (const { id } of listed(place)) place.service.sandbox.callbacks(account).remove(id);
      await place.clock.advance(15 * minute);
    }
    expect(made).toEqual([0, 0.25, 0.5, 1.5, 3.5, 7.5, 15.5]);
    expect(await kept(place)).toMatchObject([{ event: 'bill_vendor', code: 'rate_limited' }]);
    expect(await place.subscriptions.checkAnew()).toBe('verified');
  });
});
