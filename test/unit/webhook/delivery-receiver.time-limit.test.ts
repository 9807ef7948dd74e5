/** A mirror that does not answer, such as a server whose standby hangs, while the service waits. */
import { expect, it } from 'vitest';
import { createLog } from '../../../src/domain/log.ts';
import { limits } from '../../../src/domain/limits.ts';
import { DeliveryReceiver, type Outcome } from '../../../src/webhook/delivery-receiver.ts';
import { delivery, knownVerifier, signed } from '../../support/deliveries/signed-delivery.ts';
import { account } from '../../support/names.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

function receiver(hangs: { keys?: boolean; commit?: boolean }, failure?: Error) {
  const clock = virtualClock();
  const lines: string[] = [];
  const taken = new DeliveryReceiver({
    ...{ clock, log: createLog('info', { write: (line) => void lines.push(line) }) },
    mirror: {
      acceptDeliveries: () => (hangs.commit ? never() : failure ? Promise.reject(failure) : Promise.resolve()),
    },
    verifiers: {
      usable: () => (hangs.keys ? never() : Promise.resolve([knownVerifier])),
      offer: () => never(),
      keyOrders: () => Promise.resolve([]),
      keepKeyOrder: () => Promise.resolve(),
    },
    signatureHeader: 'X-Service-Hmac-Sha256',
    ...{ onDelivery: () => undefined, onCode: () => undefined },
    ...{ onWrongSignatures: () => undefined, onRefused: () => undefined },
  });
  const { headers, body } = signed(delivery);
  const request = {
    ...{ method: 'POST', path: '/', params: {}, query: new URLSearchParams(), headers },
    rawHeaders: Object.entries(headers).flat(),
    headersDistinct: {},
    body: Buffer.from(body),
    signal: new AbortController().signal,
  };
  const receive = (): Promise<Outcome> => taken.receive(account, request, { takesCodes: true });
  return { clock, lines, receive };
}

it.each([
  ['the keys', { keys: true }],
  ['the commit', { commit: true }],
] as const)(
  'a delivery is refused in time where the mirror hangs at %s, and too many of them at once',
  async (_, hangs) => {
    const { clock, lines, receive } = receiver(hangs);
    let outcome: Outcome | undefined;
    void receive().then((found) => (outcome = found));
    await clock.advance(limits.deliveryAnswer - 1);
    expect(outcome).toBeUndefined();
    await clock.advance(1);
    expect(outcome).toBe('unavailable');
    expect(lines.join('')).toContain('did not confirm a delivery in time');
    // Those that were answered still wait for the mirror.
    for (let count = 1; count < 1_000; count += 1) void receive();
    expect(await receive()).toBe('overloaded');
  },
);

it.each([
  ['accepts', undefined, 'accepted'],
  ['fails', new Error('full'), 'unavailable'],
] as const)('each delivery gives its place back where the mirror %s', async (_, failure, outcome) => {
  const { receive } = receiver({}, failure);
  for (let count = 0; count <= 1_000; count += 1) expect(await receive()).toBe(outcome);
});
