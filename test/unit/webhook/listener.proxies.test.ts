/** A proxy in front of the listener, in another container or on another machine: all deliveries come from its one address. */
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { delivery, signed } from '../../support/deliveries/signed-delivery.ts';
import { packageRoot } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

afterEach(() => vi.restoreAllMocks());

/** The proxy's container in the network that compose makes. */
const container = '172.18.0.3';

/** As many deliveries as a bulk edit causes, all under way before the first is whole. @returns how many have which status, or were cut off. */
async function simultaneous(place: Testbed<'listener'>, from: string, count = 120): Promise<Record<string, number>> {
  let arrived = 0;
  const allArrived = new Promise<void>((resolve) => {
    vi.spyOn(Server.prototype, 'emit').mockImplementation(function (this: Server, event: unknown, ...given: unknown[]) {
      if (event === 'connection') {
        Object.defineProperty(given[0], 'remoteAddress', { value: from });
        arrived += 1;
        if (arrived === count) setImmediate(resolve);
      }
      return EventEmitter.prototype.emit.call(this, event as string, ...given);
    });
  });
  const { headers, body } = signed(delivery);
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  const sent = Array.from({ length: count }, () =>
    request(place.address, {
      method: 'POST',
      agent: false,
      headers: { ...headers, ...length },
    }),
  );
  const answers = sent.map(statusOf);
  for (const each of sent) each.flushHeaders();
  await allArrived;
  for (const each of sent) each.end(body);
  const counts: Record<string, number> = {};
  for (const answer of await Promise.all(answers)) counts[answer] = (counts[answer] ?? 0) + 1;
  return counts;
}

async function statusOf(sent: ClientRequest): Promise<string> {
  try {
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    return String(answer.statusCode);
  } catch {
    return 'cut off';
  }
}

it('L24 of 120 simultaneous deliveries through a proxy in another container none is cut off', async () => {
  const place = await testbed({ level: 'listener' });
  expect(await simultaneous(place, container)).toEqual({ 200: 120 });
});

it('L24 a stranger keeps at most 32 connections, and so does a private address that the settings leave out', async () => {
  const place = await testbed({ level: 'listener', trustedProxies: ['10.1.0.0/16'] });
  for (const from of ['203.0.113.9', container]) {
    const { 200: accepted = 0, 'cut off': refused = 0 } = await simultaneous(place, from);
    expect(refused).toBeGreaterThan(0);
    expect(accepted + refused).toBe(120);
  }
  expect(await simultaneous(place, '10.1.2.3')).toEqual({ 200: 120 });
});

it('L24 the shipped compose file puts the proxy into a network of its own with the listener', () => {
  const read = (name: string) => readFileSync(join(packageRoot, 'config/container', name), 'utf8');
  const { services } = parse(read('compose.yaml')) as { services: Record<string, { network_mode?: string }> };
  expect([services['caddy'], services['vendor-mirror']]).toEqual([
    expect.not.objectContaining({ network_mode: expect.anything() as unknown }),
    expect.not.objectContaining({ network_mode: expect.anything() as unknown }),
  ]);
  expect(read('Caddyfile')).toContain('reverse_proxy @listener vendor-mirror:8787');
});
