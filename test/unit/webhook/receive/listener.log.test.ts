import { describe, expect, it } from 'vitest';
import { createLog } from '../../../../src/domain/log.ts';
import { delivery, signed } from '../../../support/deliveries/signed-delivery.ts';
import { testbed, type Testbed } from '../../../support/testbed.ts';

/** A listener whose log is kept, before a mirror that can be made to fail. */
async function noted(): Promise<Testbed<'listener'> & { lines: string[]; fail: (failing: boolean) => void }> {
  const lines: string[] = [];
  let failing = false;
  const place = await testbed({
    level: 'listener',
    log: createLog('trace', { write: (line) => void lines.push(line) }),
    mirror: (mirror) => ({
      acceptDeliveries: (list) =>
        failing ? Promise.reject(new Error('The disk is gone.')) : mirror.acceptDeliveries(list),
    }),
  });
  return { ...place, lines, fail: (now) => (failing = now) };
}

async function send(place: Testbed<'listener'>, count: number, ...deliveries: RequestInit[]): Promise<void> {
  for (let nth = 0; nth < count; nth++)
    await Promise.all(deliveries.map(async (delivery) => (await fetch(place.address, delivery)).arrayBuffer()));
}

const genuine = signed(delivery);
const forged = signed(delivery, 'another-key');
const unsigned: RequestInit = { method: 'POST', body: 'name=\u001b[31mx'.repeat(40) };

describe('the log of the listener', () => {
  it('J7 has no line for what anybody can send, however much comes', async () => {
    const place = await noted();
    await send(place, 100, forged, unsigned, { method: 'GET' });
    expect(place.outcomes.length).toBeGreaterThanOrEqual(200);
    expect(place.lines).toEqual([]);
  });

  it('J7 has one line when trouble begins and one when it ends, however many deliveries it meets', async () => {
    const place = await noted();
    place.fail(true);
    await send(place, 100, genuine, forged);
    place.fail(false);
    await send(place, 100, genuine);
    expect(place.outcomes.filter((outcome) => outcome === 'unavailable').length).toBe(100);
    expect(place.lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      expect.stringContaining('Deliveries are refused'),
      'Deliveries are accepted again.',
    ]);
  });
});
