/** One POST to a receiver: where it may go, what is read of the answer, and how it ends. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AddressRefused, Poster, type Post, type PostRequest } from '../../../src/http/post.ts';
import type { Resolve } from '../../../src/http/addresses.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function receiver(answer: Answer) {
  const received: { headers: IncomingMessage['headers']; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      answer(request, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  });
  const { port } = server.address() as AddressInfo;
  return { received, server, port, url: new URL(`http://127.0.0.1:${port}/hook?key=1`) };
}

function poster(resolve?: Resolve): Post {
  const made = new Poster(resolve);
  onTestFinished(() => made.close());
  return made.post;
}

/** A name server that answers with these addresses, one list for each question. */
function resolving(...answers: string[][]): Resolve & { asked: number } {
  const resolve = Object.assign(
    ((_, __, found) => {
      const addresses = answers[Math.min(resolve.asked, answers.length - 1)]!;
      resolve.asked += 1;
      found(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    }) satisfies Resolve,
    { asked: 0 },
  );
  return resolve;
}

const usual = {
  headers: { 'webhook-id': 'one' },
  body: '{"ü":1}',
  timeout: 10_000,
  signal: new AbortController().signal,
} as const;
const own = (url: URL, over: Partial<PostRequest> = {}): PostRequest => ({ ...usual, url, reach: 'loopback', ...over });
const away = (url: string): PostRequest => ({ ...usual, url: new URL(url), reach: 'public' });

describe('a POST to a receiver', () => {
  it('arrives complete, and its status is returned', async () => {
    const { url, received } = await receiver((_, response) => response.writeHead(204).end());
    expect(await poster()(own(url))).toBe(204);
    expect(received).toMatchObject([{ headers: { 'webhook-id': 'one' }, body: '{"ü":1}' }]);
  });

  it('follows no redirect', async () => {
    const { url, received } = await receiver((_, response) => response.writeHead(307, { location: '/other' }).end());
    expect(await poster()(own(url))).toBe(307);
    expect(received).toHaveLength(1);
  });

  it('reads little of an answer that does not end', async () => {
    let sent = 0;
    const { url } = await receiver((_, response) => {
      response.writeHead(200);
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      response.on('drain', write);
      write();
    });
    expect(await poster()(own(url))).toBe(200);
    expect(sent).toBeLessThan(16 * 2 ** 20);
  });

  it('ends with the signal if no answer arrives; if the status arrived, that counts', async () => {
    const silent = await receiver(() => undefined);
    const stopping = new AbortController();
    const waiting = poster()(own(silent.url, { signal: stopping.signal }));
    while (silent.received.length === 0) await new Promise(setImmediate);
    stopping.abort(new Error('Stopping.'));
    await expect(waiting).rejects.toThrow();

    const slow = await receiver((_, response) => response.writeHead(200).flushHeaders());
    const late = new AbortController();
    const answered = poster()(own(slow.url, { signal: late.signal }));
    while (slow.received.length === 0) await new Promise(setImmediate);
    const later = setInterval(() => late.abort(new Error('Late.')), 50);
    onTestFinished(() => clearInterval(later));
    expect(await answered).toBe(200);
  });

  it('is sent again at once on a new connection where a kept one was closed', async () => {
    const sockets = new Set<Socket>();
    let wasClosed = false;
    const { url, received } = await receiver((request, response) => {
      if (!wasClosed && sockets.has(request.socket)) {
        wasClosed = true;
        request.socket.destroy();
      } else response.writeHead(200).end('ok');
      sockets.add(request.socket);
    });
    const post = poster();
    let posts = 0;
    // An answer may be there before its connection can be reused.
    for (; posts < 100 && received.length === posts; posts += 1) {
      expect(await post(own(url))).toBe(200);
      await new Promise(setImmediate);
    }
    expect(received).toHaveLength(posts + 1);
  });
});

describe('where a POST may go', () => {
  it.each([
    'https://10.0.0.1/',
    'https://169.254.169.254/latest',
    'https://[::1]/',
    'https://0x7f000001/',
    'https://2130706433/',
  ])('%s is refused without a connection', async (url) => {
    await expect(poster()(away(url))).rejects.toThrow(AddressRefused);
  });

  it('a name that leads to this machine or its network is refused', async () => {
    const { port, received } = await receiver((_, response) => response.end());
    for (const address of ['127.0.0.1', '10.0.0.7', '::1', 'fe80::1'])
      await expect(poster(resolving([address]))(away(`https://rebinding.example:${port}/`))).rejects.toThrow(
        'rebinding.example does not resolve to a public address',
      );
    expect(received).toEqual([]);
  });

  it('a name that is public at first and leads to this machine a moment later reaches nothing, because each connection resolves it once and uses that address', async () => {
    const { port, received } = await receiver((_, response) => response.end());
    const resolve = resolving(['127.0.0.1'], ['8.8.8.8']);
    await expect(poster(resolve)(away(`https://rebinding.example:${port}/`))).rejects.toThrow(AddressRefused);
    expect(resolve.asked).toBe(1);
    expect(received).toEqual([]);
  });

  it('a name of this machine is refused if it leads elsewhere', async () => {
    await expect(poster(resolving(['8.8.8.8']))(own(new URL('http://localhost:1/')))).rejects.toThrow(
      'localhost does not resolve to this machine',
    );
  });
});
