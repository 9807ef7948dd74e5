import fc from 'fast-check';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { defaultLimits } from '../../../src/http/connection-limits.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { delivery, formType, signed } from '../../support/deliveries/signed-delivery.ts';
import { post } from '../../support/network/post.ts';
import { testbed } from '../../support/testbed.ts';
import { isFine, open, pathOf, raw, request } from '../../support/deliveries/raw-requests.ts';

describe('malformed bodies', () => {
  it('cause no crash and no 5xx, and nothing is stored', async () => {
    const place = await testbed({ level: 'listener', clock: systemClock });
    const good = Buffer.from(signed(delivery).body);
    const piece = fc.constantFrom(
      '&',
      '=',
      '%',
      '%FF',
      '%00',
      '+',
      '[',
      ']',
      '{',
      '}',
      '"',
      'name',
      'verifier',
      'account_id=6BApk',
      'callback.verify',
      '\0',
      '\r\n',
    );
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc.array(piece, { maxLength: 40 }).map((parts) => Buffer.from(parts.join(''))),
      fc.json().map((text) => Buffer.from(text)),
      fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 })).map(([at, by]) => {
        const bytes = Buffer.from(good);
        bytes[at] = ((bytes[at] ?? 0) + by) % 256;
        return bytes;
      }),
      fc.nat(good.length - 1).map((length) => good.subarray(0, length)),
    );
    const type = fc.constantFrom(formType, 'application/json', `${formType}; charset=x`, 'text/html', ';', '');
    const answers = new Set<number>();
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const property = fc.asyncProperty(body, type, async (bytes, contentType) => {
      const { headers } = signed(delivery);
      const posted = { headers: { ...headers, 'content-type': contentType }, body: bytes };
      const status = await post(place.address, posted, agent);
      answers.add(status);
      return status >= 400 && status < 500;
    });
    await fc.assert(property, { numRuns: 2_000 });
    expect([...answers].filter((status) => ![400, 401, 403, 415].includes(status))).toEqual([]);
    expect([await place.mirror.queue.countMarks('6BApk'), place.called.deliveries]).toEqual([0, 0]);
    expect(await isFine(place)).toBe(true);
  });
});

describe('H2 bodies without an end', () => {
  it('are counted as they arrive and refused at 16 KB, and the connection is closed', async () => {
    const place = await testbed({ level: 'listener', clock: systemClock });
    const chunk = `400\r\n${'a'.repeat(1_024)}\r\n`;
    const endless = `${request(place, ['transfer-encoding: chunked']).replace('connection: close', 'connection: keep-alive')}${chunk.repeat(20)}`;
    expect(await raw(place, endless)).toBe('HTTP/1.1 413 Payload Too Large');
    expect(await raw(place, request(place, ['content-length: 99999999999']))).toBe('HTTP/1.1 413 Payload Too Large');
    expect(await isFine(place)).toBe(true);
  });
});

describe('H5 other ways to write the path', () => {
  it.each<[string, (path: string) => string, number]>([
    ['//', (path) => `/${path}`, 404],
    ['two slashes at the end', (path) => `${path}//`, 404],
    ['an escaped slash', (path) => path.replace('/webhooks/', '/webhooks%2F'), 404],
    ['dots', (path) => `/x/..${path}`, 404],
    ['escaped dots', (path) => `/x/%2e%2e${path}`, 404],
    ['another case', (path) => path.toUpperCase(), 404],
    ['a semicolon', (path) => `${path};x`, 404],
    ['a fragment', (path) => `${path}#x`, 404],
    ['a broken escape', (path) => `${path}%zz`, 404],
    ['a path without end', (path) => path + 'a'.repeat(5_000), 404],
  ])('%s is unknown', async (_, bend, status) => {
    const place = await testbed({ level: 'listener', clock: systemClock });
    const { body } = signed(delivery);
    const text = request(place, [`content-length: ${body.length}`], body).replace(pathOf(place), bend(pathOf(place)));
    expect(await raw(place, text)).toMatch(new RegExp(`^HTTP/1\\.1 (${status}|400) `));
    expect(place.called.deliveries).toBe(0);
  });

  it.each<[string, (path: string) => string]>([
    ['a slash at the end', (path) => `${path}/`],
    ['an escaped character', (path) => path.replace('webhooks', 'w%65bhooks')],
    ['an escaped token', (path) => path.replace(/.$/, (last) => `%${last.charCodeAt(0).toString(16)}`)],
  ])('%s is the same address, as services may spell it', async (_, spell) => {
    const place = await testbed({ level: 'listener', clock: systemClock });
    const { body } = signed(delivery);
    const text = request(place, [`content-length: ${body.length}`], body).replace(pathOf(place), spell(pathOf(place)));
    expect(await raw(place, text)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('a wrong Host changes nothing', async () => {
    const place = await testbed({ level: 'listener', clock: systemClock });
    const { body } = signed(delivery);
    const text = request(place, [`content-length: ${body.length}`], body).replace('host: x', 'host: 127.0.0.1:8788');
    expect(await raw(place, text)).toBe('HTTP/1.1 200 OK');
  });
});

describe('H3, C14 slow callers', () => {
  it('H3 are disconnected within ten seconds by the limits of the listener', () => {
    const { headersTimeout, requestTimeout, keepAliveTimeout, connectionsCheckingInterval } = defaultLimits;
    const latest = Math.max(headersTimeout, requestTimeout, keepAliveTimeout) + connectionsCheckingInterval;
    expect(latest).toBeLessThan(10_000);
  });

  it('H3 are disconnected while others are served', async () => {
    const limits = {
      connectionsCheckingInterval: 50,
      headersTimeout: 500,
      requestTimeout: 1_000,
      keepAliveTimeout: 500,
    };
    const place = await testbed({ level: 'listener', clock: systemClock, limits });
    const ended: string[] = [];
    const slow = [
      ['idle', ''],
      ['half a line', 'POST /web'],
      ['headers without end', `POST ${pathOf(place)} HTTP/1.1\r\nhost: x\r\n`],
      [
        'half a body',
        request(place, ['content-length: 500'], 'name=').replace('connection: close', 'connection: keep-alive'),
      ],
    ] as const;
    const closed = slow.map(async ([name, text]) => {
      const socket = open(place);
      socket.on('error', () => undefined);
      socket.resume();
      socket.write(text);
      await once(socket, 'close');
      ended.push(name);
    });
    expect(await isFine(place)).toBe(true);
    expect(ended).toEqual([]);
    await Promise.all(closed);
    expect(await isFine(place)).toBe(true);
  });

  it('H3 keep nobody out: for each connection too many, the one that has waited longest is closed', async () => {
    const place = await testbed({ level: 'listener', clock: systemClock });
    const most = 256;
    const sockets = Array.from({ length: 300 }, () => open(place).on('error', () => undefined));
    let closed = 0;
    const enough = new Promise<void>((resolve) => {
      for (const socket of sockets)
        socket.resume().once('close', () => {
          closed += 1;
          if (closed === sockets.length - most) resolve();
        });
    });
    await enough;
    expect(await isFine(place)).toBe(true);
    for (const socket of sockets) socket.destroy();
  });

  it('C14 that disconnect halfway leave nothing', async () => {
    const place = await testbed({ level: 'listener', clock: systemClock });
    const socket = open(place);
    socket.on('error', () => undefined);
    socket.write(request(place, ['content-length: 500'], signed(delivery).body));
    await once(socket, 'connect');
    socket.destroy();
    expect(await isFine(place)).toBe(true);
    expect(await place.mirror.queue.dueMarks('6BApk', 10)).toHaveLength(1);
    expect(place.called.deliveries).toBe(1);
  });
});
