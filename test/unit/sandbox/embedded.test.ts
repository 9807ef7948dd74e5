import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { startEmbeddedSandbox, type EmbeddedOptions } from '../../../src/sandbox/embedded.ts';
import { fetchPost } from '../../../src/sandbox/delivery/delivery-sender.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { callbacksPath, vendorsPath, type Body } from '../../support/testbed/service.ts';

const running: { readonly stop: () => unknown }[] = [];

afterEach(async () => {
  for (const { stop } of running.splice(0)) await stop();
});

async function start(options: Partial<EmbeddedOptions> = {}) {
  const embedded = await startEmbeddedSandbox({ vendors: 30, clock: systemClock, fetch, ...options });
  running.push(embedded);
  const get = (path: string, init: RequestInit = {}) =>
    fetch(embedded.baseUrl + path, {
      headers: { authorization: `Bearer ${embedded.token}` },
      redirect: 'manual',
      ...init,
    });
  return { ...embedded, get };
}

/** A receiver of deliveries; `next` resolves with the coming one. */
async function receiver(status = 200) {
  let deliver: (body: URLSearchParams) => void = () => undefined;
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        response.writeHead(status, { location: '/elsewhere' }).end();
        deliver(new URLSearchParams(Buffer.concat(chunks).toString()));
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  running.push({
    stop: () => {
      server.close().closeAllConnections();
    },
  });
  return {
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    next: () => new Promise<URLSearchParams>((resolve) => (deliver = resolve)),
  };
}

describe('a sandbox on a port', () => {
  it('answers over HTTP, compressed', async () => {
    const { get } = await start();
    const answer = await get(vendorsPath);
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(answer.headers.get('server')).toBe('nginx');
    expect(((await answer.json()) as Body).response.result.bill_vendors).toHaveLength(15);
  });

  it('serves several accounts with vendors of their own', async () => {
    const { get, account } = await start({ account: ['one', 'two'] });
    expect(account).toBe('one');
    const [one, two] = await Promise.all(
      ['one', 'two'].map(async (id) => (await get(vendorsPath.replace('6BApk', id))).text()),
    );
    expect(one).not.toBe(two);
  });

  it('delivers to a real receiver, from the handshake to an event', async () => {
    const hook = await receiver();
    const { baseUrl, token, sandbox, account } = await start({ deliveries: { delay: [0, 0] } });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const handshake = hook.next();
    const callback = { event: 'bill_vendor', uri: hook.uri };
    await fetch(baseUrl + callbacksPath, { method: 'POST', headers, body: JSON.stringify({ callback }) });
    const code = await handshake;
    const verified = await fetch(`${baseUrl}${callbacksPath}/${code.get('object_id') ?? ''}`, {
      method: 'PUT',
      headers,
      body: JSON.stringify({ callback: { verifier: code.get('verifier') } }),
    });
    expect(verified.status).toBe(200);
    const delivery = hook.next();
    const acknowledged = new Promise((resolve) => sandbox.onDelivery(({ outcome }) => resolve(outcome)));
    sandbox.emit(account, 'bill_vendor.update', 42);
    expect(Object.fromEntries(await delivery)).toMatchObject({ name: 'bill_vendor.update', object_id: '42' });
    expect(await acknowledged).toBe('acknowledged');
  });

  it('A25 truncates an answer on the wire', async () => {
    const { get, sandbox } = await start();
    sandbox.faults.next({ kind: 'truncated' });
    const answer = await get(vendorsPath);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow('terminated');
  });

  it.each(['reset', 'reset_after'] as const)('%s breaks the connection', async (kind) => {
    const { get, sandbox } = await start();
    sandbox.faults.next({ kind });
    await expect(get(vendorsPath)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
  });

  it('A24 hang sends nothing, stall half a body, and a stop ends both', async () => {
    const { get, sandbox, stop } = await start();
    let asked = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (asked = resolve));
    sandbox.faults.next({ kind: 'stall' });
    const stalled = await get(vendorsPath);
    sandbox.onRequest(() => asked());
    sandbox.faults.next({ kind: 'hang' });
    const hung = get(vendorsPath).catch(() => 'cut');
    await arrived;
    await stop();
    expect(await hung).toBe('cut');
    await expect(stalled.text()).rejects.toThrow();
  });

  it('J9 says that its port is taken', async () => {
    const { baseUrl } = await start();
    const port = Number(new URL(baseUrl).port);
    await expect(start({ port })).rejects.toMatchObject({ code: 'port_taken' });
  });
});

describe('the post', () => {
  const signal = new AbortController().signal;

  it('A31 does not follow redirects', async () => {
    const { uri } = await receiver(302);
    expect(await fetchPost(fetch, systemClock)(uri, {}, '', 10_000, signal)).toEqual({ status: 302 });
  });

  it('gives up when its time limit is over', async () => {
    const clock = virtualClock();
    const never: typeof fetch = (_uri, init) =>
      new Promise((_resolve, reject) =>
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error)),
      );
    const posted = fetchPost(never, clock)('http://x.example', {}, '', 10_000, signal);
    await Promise.all([expect(posted).rejects.toThrow('No answer in time.'), clock.advance(10_000)]);
  });
});
