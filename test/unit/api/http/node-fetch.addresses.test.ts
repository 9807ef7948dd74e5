/** Names with several addresses: each gets time to answer, whichever way a request goes. */
import dns from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, getDefaultAutoSelectFamilyAttemptTimeout, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished, vi } from 'vitest';
import { nodeFetch } from '../../../../src/api/http/node-fetch.ts';
import { Addresses, eachAttempt } from '../../../../src/http/addresses.ts';
import { Poster } from '../../../../src/http/post.ts';
import { listen } from '../../../support/network/listen.ts';
import { isMissing } from '../../../support/needed.ts';

const timeout = 60_000;
const { signal } = new AbortController();

/** Answers requests and tunnels with 418, but takes no connection before it is released. */
const busyServer = `
  const { parentPort, workerData } = require('node:worker_threads');
  const server = require('node:http').createServer((_, response) => response.writeHead(418).end());
  server.on('connect', (_, socket) => socket.end('HTTP/1.1 418 No\\r\\n\\r\\n'));
  server.listen(0, '127.0.0.1', 1, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(workerData, 0, 0));
  });`;

/**
 * A server to which connections take longer than a second: the system drops their first packets while the queue of the server is full, and
 * they are sent again. The name `slow.example` has its address, and another at which nobody listens. @returns its port.
 */
async function slowServer(): Promise<number> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(busyServer, { eval: true, workerData: gate });
  const [port] = (await once(worker, 'message')) as [number];
  const waiting = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  await Promise.all(waiting.map((socket) => once(socket, 'connect')));
  const release = (): void => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  vi.spyOn(dns, 'lookup').mockImplementation(((
    _name: string,
    _options: object,
    found: (...answer: unknown[]) => void,
  ) => {
    found(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ]);
    // The first packet has left.
    setImmediate(release);
  }) as unknown as typeof dns.lookup);
  onTestFinished(async () => {
    vi.restoreAllMocks();
    release();
    for (const socket of waiting) socket.destroy();
    await worker.terminate();
  });
  return port;
}

it
  .skipIf(isMissing(process.platform === 'linux' ? undefined : 'other systems answer for a full queue of connections'))
  .each<[string, (port: number) => Promise<number>]>([
    [
      'the service',
      async (port) => {
        const url = new URL(`http://slow.example:${port}/`);
        return (await nodeFetch()(url, { method: 'GET', headers: {}, redirect: 'manual', timeout, signal })).status;
      },
    ],
    [
      'a proxy',
      (port) =>
        nodeFetch(() => new URL(`http://slow.example:${port}`))(new URL('https://service.example/'), {
          method: 'POST',
          headers: {},
          redirect: 'manual',
          timeout,
          signal,
        }).then(
          ({ status }) => status,
          (error: unknown) => Number(/\d+/.exec(String((error as Error).cause))?.[0]),
        ),
    ],
    [
      'a receiver',
      (port) => {
        const poster = new Poster();
        onTestFinished(() => poster.close());
        const url = new URL(`http://slow.example:${port}/`);
        return poster.post({ url, reach: 'loopback', headers: {}, body: '', timeout, signal });
      },
    ],
  ])(
  'L37 %s with two addresses, of which the first connects after a second and the other not: it is reached',
  async (_, send) => {
    expect(await send(await slowServer())).toBe(418);
  },
);

it.each([
  [30_000, 3_000],
  [300, 150],
  [1_000, 250],
  [1, 10],
])('L37 with a time limit of %d ms, one of several addresses has %d ms', (limit, share) => {
  // Half a second on newer versions of Node.js.
  const usual = getDefaultAutoSelectFamilyAttemptTimeout();
  onTestFinished(() => setDefaultAutoSelectFamilyAttemptTimeout(usual));
  setDefaultAutoSelectFamilyAttemptTimeout(250);
  expect(eachAttempt(limit)).toEqual({ autoSelectFamilyAttemptTimeout: share });
});

it('L37 an address that connected is tried first, as long as the name has it', async () => {
  const port = await listen(createServer());
  const named = [
    { address: '127.0.0.2', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ];
  const addresses = new Addresses((_, __, found) => found(null, named));
  const first = (): Promise<string> =>
    new Promise((resolve) => addresses.lookup('two.example', {}, (_, address) => resolve(address as string)));
  expect(await first()).toBe('127.0.0.2');
  const socket = connect({ host: 'two.example', port, lookup: addresses.lookup });
  addresses.note('two.example', socket);
  await once(socket, 'connect');
  expect(await first()).toBe('127.0.0.1');
  named.pop();
  expect(await first()).toBe('127.0.0.2');
  socket.destroy();
});
