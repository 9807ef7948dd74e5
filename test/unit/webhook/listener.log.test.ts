import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/domain/log.ts';
import { delivery, formType, signed } from '../../support/deliveries/signed-delivery.ts';
import { account } from '../../support/names.ts';
import { virtualClock, type VirtualClock } from '../../support/virtual-clock.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

interface Noted extends Testbed<'listener'> {
  readonly clock: VirtualClock;
  readonly lines: string[];
  readonly fail: (failing: boolean) => void;
}

/** A listener whose log is kept, before a mirror that can be made to fail. */
async function noted(): Promise<Noted> {
  const clock = virtualClock();
  const lines: string[] = [];
  let failing = false;
  const place = await testbed({
    level: 'listener',
    clock,
    log: createLog('info', { write: (line) => void lines.push(line) }),
    mirror: (mirror) => ({
      acceptDeliveries: (list) =>
        failing ? Promise.reject(new Error('The disk is gone.')) : mirror.deliveries.acceptDeliveries(list),
    }),
  });
  return { ...place, clock, lines, fail: (now) => (failing = now) };
}

async function send(place: Testbed<'listener'>, count: number, ...deliveries: RequestInit[]): Promise<void> {
  for (let nth = 0; nth < count; nth++)
    await Promise.all(deliveries.map(async (delivery) => (await fetch(place.address, delivery)).arrayBuffer()));
}

const genuine = signed(delivery);
const forged = signed(delivery, 'another-key');
const malformed: RequestInit = { method: 'POST', body: 'name=\u001b[31mx'.repeat(40) };

describe('the log of the listener', () => {
  it('J7 L23 has one line for each kind of request that was refused, however many come, and one an hour later', async () => {
    const place = await noted();
    const post = (body: string, type = formType): RequestInit => ({
      method: 'POST',
      headers: { 'content-type': type },
      body,
    });
    const code = `name=callback.verify&verifier=nobody-asked-for-it&account_id=${account}&object_id=1`;
    const requests = {
      wrong_signature: forged,
      malformed: signed({ ...delivery, account_id: 'another' }),
      unsigned: post(genuine.body),
      unexpected_code: post(code),
      wrong_type: post('{}', 'text/plain'),
      too_large: post('x'.repeat(20_000)),
      wrong_method: { method: 'GET' },
    };
    await send(place, 30, ...Object.values(requests), malformed);
    for (let nth = 0; nth < 30; nth++) await fetch(`${place.address}x`, { method: 'POST' });
    expect([...new Set(place.outcomes)].sort()).toEqual([...Object.keys(requests), 'unknown_path'].sort());
    const logged = (): unknown[] => place.lines.map((line) => (JSON.parse(line) as { outcome: string }).outcome).sort();
    const kinds = [...Object.keys(requests), 'unknown_path'].sort();
    expect(logged()).toEqual(kinds);
    expect(place.lines.join('')).not.toMatch(/\\u001b|another-key|nobody-asked/);
    await place.clock.advance(3_599_000);
    await send(place, 2, forged);
    expect(logged()).toEqual(kinds);
    await place.clock.advance(1_000);
    await send(place, 2, forged);
    expect(place.lines.slice(kinds.length).map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 40, account, outcome: 'wrong_signature', refused: 32 },
    ]);
  });

  it('J7 has no line for accepted deliveries; their changes are logged when they are known', async () => {
    const place = await noted();
    await send(place, 30, genuine);
    expect([place.outcomes.length, new Set(place.outcomes)]).toEqual([30, new Set(['accepted'])]);
    expect(place.lines).toEqual([]);
  });

  it('J7 has one line when a problem begins and one when it ends, and one for what is refused besides, however many deliveries it affects', async () => {
    const place = await noted();
    place.fail(true);
    await send(place, 100, genuine, forged);
    place.fail(false);
    await send(place, 100, genuine);
    expect(place.outcomes.filter((outcome) => outcome === 'unavailable').length).toBe(100);
    // Nor does either hold anything of what was sent.
    for (const value of Object.values(delivery))
      if (value.length > 3 && value !== account) expect(place.lines.join('')).not.toContain(value);
    expect(place.lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      expect.stringContaining('deliveries are refused'),
      expect.stringContaining('signed with another key'),
      'deliveries are accepted again',
    ]);
  });
});
