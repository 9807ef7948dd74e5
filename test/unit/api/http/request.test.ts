import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import {
  createServer as createSocketServer,
  type AddressInfo,
  type Server as SocketServer,
  type Socket,
} from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { exchange, maxListBody, type Answer } from '../../../../src/api/http/request.ts';
import { failureOf } from '../../../support/failure.ts';
import { network, intercept } from '../../../support/network/intercept.ts';
import { broken } from '../../../support/network/service-answers.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const open: (Server | SocketServer)[] = [];
const sockets = new Set<Socket>();

async function listening(server: Server | SocketServer): Promise<URL> {
  open.push(server);
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

const served = (listener: RequestListener): Promise<URL> => listening(createServer(listener));
/** A server that writes `bytes` whatever it is asked, and then does as it is told. */
const raw = (bytes: string, then: (socket: Socket) => void): Promise<URL> =>
  listening(
    createSocketServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(bytes, () => then(socket)));
    }),
  );

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of open.splice(0)) server.close();
  sockets.clear();
});

interface Asked {
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  maxAnswer?: number;
}

function get(url: URL, { timeout = 1_000, signal, maxAnswer }: Asked = {}, clock = virtualClock()): Promise<Answer> {
  return exchange({ url, method: 'GET', headers: {}, signal, maxAnswer }, { fetch: network, clock, timeout });
}

describe('one request', () => {
  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('accepts %s and returns the decoded bytes, whatever the status', async (encoding, encode) => {
    let accepted: string | undefined;
    const url = await served((request, response) => {
      accepted = request.headers['accept-encoding'];
      response.writeHead(422, { 'content-encoding': encoding, 'x-a': 'b' }).end(encode('{"a":"ä"}'));
    });
    const answer = await get(url);
    expect(accepted?.split(', ')).toContain(encoding);
    expect([answer.status, answer.headers.get('X-A'), Buffer.from(answer.bytes).toString()]).toEqual([
      422,
      'b',
      '{"a":"ä"}',
    ]);
  });

  it('reuses the connection of the previous one if it reads, and opens a new one if it writes', async () => {
    const ports: unknown[] = [];
    const url = await served((request, response) => {
      ports.push(request.socket.remotePort);
      response.end('{}');
    });
    for (const method of ['GET', 'GET', 'POST', 'POST'])
      await exchange({ url, method, headers: {} }, { fetch: network, clock: virtualClock(), timeout: 1_000 });
    expect(ports.map((port) => ports.indexOf(port))).toEqual([0, 0, 2, 3]);
  });

  it('is sent again if it reads and the service closed the kept connection meanwhile', async () => {
    let requests = 0;
    const url = await served((request, response) => {
      requests += 1;
      if (requests === 2) request.socket.resetAndDestroy();
      else response.end(String(requests));
    });
    await get(url);
    expect(Buffer.from((await get(url)).bytes).toString()).toBe('3');
  });

  it('returns no bytes for 204', async () => {
    const url = await served((_, response) => response.writeHead(204).end());
    expect((await get(url)).bytes).toHaveLength(0);
  });

  it('leaves neither timer nor listener', async () => {
    const url = await served((_, response) => response.end('{}'));
    const clock = virtualClock();
    const { signal } = new AbortController();
    await get(url, { signal }, clock);
    expect(clock.pending()).toEqual([]);
  });

  it.each([301, 302, 307, 308])('A31 a redirect (%i) is never followed', async (status) => {
    let elsewhere = 0;
    const target = await served((_, response) => {
      elsewhere += 1;
      response.end('{}');
    });
    const url = await served((_, response) => response.writeHead(status, { location: `${target.href}canary` }).end());
    const error = await failureOf(get(url));
    expect(error).toMatchObject({ code: 'redirected', status });
    expect(error.message).toContain(target.origin);
    expect(error.message).not.toContain('canary');
    expect(elsewhere).toBe(0);
  });

  it('A31 a redirect to the same server is not told to be its final address', async () => {
    const url = await served((_, response) => response.writeHead(302, { location: '/canary' }).end());
    const error = await failureOf(get(url));
    expect(error).toMatchObject({ code: 'redirected', status: 302 });
    expect(error.message).toContain('another of its own addresses');
    expect(error.hint).toContain('login page');
    expect(`${error.message} ${error.hint}`).not.toMatch(/canary|final address/);
  });

  it('A31 the answer of a cache, not modified, is no redirect', async () => {
    const url = await served((_, response) => response.writeHead(304, { etag: '"a"' }).end());
    const error = await failureOf(get(url));
    expect(error).toMatchObject({ code: 'answer_unreadable', status: 304 });
    expect(error.hint).toContain('a cache or proxy');
  });

  it('A24 times out if headers never arrive', async () => {
    const url = await raw('', () => undefined);
    const clock = virtualClock();
    const outcome = failureOf(get(url, { timeout: 5_000 }, clock));
    await clock.advance(4_999);
    expect(clock.pending()).toEqual([1]);
    await clock.advance(1);
    expect((await outcome).message).toBe(`${url.host} did not answer within 5 s.`);
  });

  it('A24 times out separately if the body stalls', async () => {
    const url = await raw('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"resp', () => undefined);
    const clock = virtualClock();
    let headers = (): void => undefined;
    const answered = new Promise<void>((resolve) => (headers = resolve));
    const dependencies = {
      clock,
      timeout: 5_000,
      fetch: async (...sent: Parameters<typeof network>) => {
        const response = await network(...sent);
        headers();
        return response;
      },
    };
    const outcome = failureOf(exchange({ url, method: 'GET', headers: {} }, dependencies));
    await clock.advance(3_000);
    await answered;
    await clock.advance(4_000);
    expect(clock.pending()).toEqual([1_000]);
    await clock.advance(1_000);
    expect(await outcome).toMatchObject({
      code: 'service_timeout',
      message: `${url.host} began its answer but did not finish it within 5 s.`,
    });
  });

  it.each([
    ['by a length', 'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"resp'],
    ['in a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\n{"resp\r\n'],
  ])('A25 fails if the body is cut %s', async (_, bytes) => {
    const url = await raw(bytes, (socket) => socket.end());
    expect(await failureOf(get(url))).toMatchObject({
      code: 'answer_unreadable',
      message: expect.stringContaining('broke off after 6 bytes') as string,
    });
  });

  it('A25 fails if the connection is reset in the body', async () => {
    const url = await raw('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"resp', (socket) => socket.resetAndDestroy());
    expect(['answer_unreadable', 'service_unreachable']).toContain((await failureOf(get(url))).code);
  });

  it.each([
    ['gzip', 'not gzip at all'],
    ['gzip', gzipSync('{"response":{}}').subarray(0, -9)],
    ['br', 'not brotli at all'],
    ['br', brotliCompressSync('{"response":{}}').subarray(0, -3)],
  ])('A25 fails if a %s body is damaged or cut', async (encoding, body) => {
    const url = await served((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(body));
    expect((await failureOf(get(url))).code).toBe('answer_unreadable');
  });

  it('A25 ends by timeout and by abort if the body never settles, as with a damaged gzip body in fetch', async () => {
    const clock = virtualClock();
    const ignoresItsSignal = (): Promise<Response> => Promise.resolve(new Response(new ReadableStream()));
    const send = (signal?: AbortSignal): Promise<Answer> =>
      exchange(
        { url: new URL('http://127.0.0.1/'), method: 'GET', headers: {}, signal },
        { fetch: ignoresItsSignal, clock, timeout: 5_000 },
      );
    const failure = failureOf(send());
    await clock.advance(5_000);
    expect(await failure).toMatchObject({ code: 'service_timeout' });

    const controller = new AbortController();
    const aborted = expect(send(controller.signal)).rejects.toThrow('shutting down');
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error('shutting down'));
    await aborted;
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('A26 refuses a decompression bomb of %s at 8 MB decoded', async (encoding, encode) => {
    const bomb = encode(Buffer.alloc(64 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(100_000);
    const url = await served((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bomb));
    expect(await failureOf(get(url))).toMatchObject({ code: 'answer_too_large' });
  });

  it('L20 accepts as much as it is told to, and no more', async () => {
    const mb = 1024 * 1024;
    for (const [size, isAccepted] of [
      [12 * mb, true],
      [12 * mb + 1, false],
    ] as const) {
      const url = await served((_, response) => response.end(Buffer.alloc(size)));
      const outcome = get(url, { maxAnswer: 12 * mb });
      if (isAccepted) expect((await outcome).bytes).toHaveLength(size);
      else expect(await failureOf(outcome)).toMatchObject({ code: 'answer_too_large' });
    }
  });

  it.each([
    [64, 8],
    [512, 32],
    [4_096, 256],
    [65_536, 256],
  ])('L20 a list may take a sixteenth of %i MB of memory, but at least 8 MB and at most 256 MB: %i', (memory, list) => {
    expect(maxListBody(memory * 1024 * 1024)).toBe(list * 1024 * 1024);
  });

  it('asks the system once how much memory there is, however many pages are read', () => {
    const asked = vi.spyOn(process, 'constrainedMemory');
    const sizes = Array.from({ length: 3 }, () => maxListBody());
    expect(new Set(sizes).size).toBe(1);
    expect(asked.mock.calls.length).toBeLessThanOrEqual(1);
  });

  it('A26 accepts exactly 8 MB', async () => {
    const url = await served((_, response) => response.end(Buffer.alloc(8 * 1024 * 1024)));
    expect((await get(url)).bytes).toHaveLength(8 * 1024 * 1024);
  });

  it('ends with the unchanged reason when aborted before, during and in the body', async () => {
    const reason = new Error('shutting down');
    const silent = await raw('', () => undefined);
    await expect(get(silent, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    for (const url of [silent, await raw('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{', () => undefined)]) {
      const controller = new AbortController();
      const outcome = get(url, { signal: controller.signal });
      const expected = expect(outcome).rejects.toBe(reason);
      await new Promise((resolve) => setImmediate(resolve));
      controller.abort(reason);
      await expected;
    }
  });
});

describe('A32 a failed connection is named', () => {
  it('when it was refused', async () => {
    const url = await served(() => undefined);
    await new Promise((resolve) => open.pop()?.close(resolve));
    expect(await failureOf(get(url))).toMatchObject({
      code: 'service_unreachable',
      message: `Could not reach ${url.host}: the connection was refused.`,
    });
  });

  it('when it was reset', async () => {
    const url = await raw('', (socket) => socket.resetAndDestroy());
    expect((await failureOf(get(url))).message).toMatch(/the connection was (reset|closed)\.$/);
  });

  it.each([
    ['hello\r\n\r\n', /answered with what is not correct HTTP \(HPE_INVALID_\w+\)\.$/],
    ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\n{}', /what is not correct HTTP \(HPE_\w+\)\.$/],
    [
      `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`,
      /larger headers than HTTP programs take \(HPE_HEADER_OVERFLOW\)\.$/,
    ],
  ])('but not where something answered in another way than HTTP: %#', async (answer, words) => {
    const error = await failureOf(get(await raw(answer, (socket) => socket.end())));
    expect(error).toMatchObject({ code: 'answer_unreadable', message: expect.stringMatching(words) as string });
  });

  it.each([
    ['ENOTFOUND', 'its name is unknown to the name server'],
    ['EAI_AGAIN', 'the name server does not answer'],
    ['CERT_HAS_EXPIRED', 'its TLS certificate has expired (or the clock of this machine is wrong)'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'its TLS certificate is for another name'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'it does not speak TLS as this program does (ERR_SSL_WRONG_VERSION_NUMBER)'],
    ['ESOMETHING', 'the connection failed (ESOMETHING)'],
  ])('when it failed by %s', async (code, words) => {
    intercept('https://api.service.example', () => broken(code));
    const error = await failureOf(get(new URL('https://api.service.example/')));
    expect(error.message).toBe(`Could not reach api.service.example: ${words}.`);
  });

  it("without a code, and without the library's message, which may contain headers", async () => {
    const dependencies = {
      clock: virtualClock(),
      timeout: 1,
      fetch: () => Promise.reject(new TypeError('"Bearer canary" is invalid')),
    };
    const error = await failureOf(
      exchange({ url: new URL('https://a.example/'), method: 'GET', headers: {} }, dependencies),
    );
    expect(error.message).toBe('Could not reach a.example: the connection failed.');
    expect(JSON.stringify(error) + String(error.cause)).not.toContain('canary');
  });

  it('when several addresses refused it', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED ::1'), { code: 'ECONNREFUSED' });
    const dependencies = {
      clock: virtualClock(),
      timeout: 1,
      fetch: () => Promise.reject(new TypeError('fetch failed', { cause: new AggregateError([refused, refused]) })),
    };
    const error = await failureOf(
      exchange({ url: new URL('https://a.example/'), method: 'GET', headers: {} }, dependencies),
    );
    expect(error.message).toContain('the connection was refused');
  });
});
