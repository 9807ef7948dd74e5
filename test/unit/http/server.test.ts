import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import dns from 'node:dns';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { MirrorError } from '../../../src/domain/errors.ts';
import { type HttpRequest, type HttpRoute, HttpServer, type HttpServerOptions } from '../../../src/http/server.ts';

const servers: HttpServer[] = [];
const faults: unknown[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  faults.length = 0;
});

function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give };
}

async function serve(routes: readonly HttpRoute[], options: Partial<HttpServerOptions> = {}): Promise<string> {
  const onFault = (error: unknown) => faults.push(error);
  const server = new HttpServer({
    name: 'the test',
    host: '127.0.0.1',
    port: 0,
    portSetting: '--port of the test',
    clock: systemClock,
    onFault,
    ...options,
    routes,
  });
  await server.start();
  servers.push(server);
  return `http://127.0.0.1:${server.address.port}`;
}

const echo = async ({ body, params, query, path, method }: HttpRequest) =>
  Promise.resolve({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method, path, params, query: [...query], body: Buffer.from(body).toString('hex') }),
  });

const hook: HttpRoute = {
  method: 'POST',
  path: '/hooks/:account/:token',
  accepts: ['application/x-www-form-urlencoded'],
  bodyLimit: 64,
  handle: echo,
};
const page: HttpRoute = { method: 'GET', path: '/page', handle: echo };

const form = (body: string, headers: Record<string, string> = {}) => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8', ...headers },
});

/** Sends the text as it stands and returns all that comes back until the connection ends. */
async function raw(base: string, text: string): Promise<string> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk));
  socket.on('error', () => undefined);
  socket.write(text);
  await new Promise((resolve) => socket.once('close', resolve));
  return answer;
}

describe('a request', () => {
  it('arrives with its bytes, path, parameters and query', async () => {
    const base = await serve([hook]);
    const answer = await fetch(`${base}/hooks/a%20b/t?x=1&x=2&y=%C3%A9`, form('n=%ff+é'));
    expect(await answer.json()).toEqual({
      method: 'POST',
      path: '/hooks/a%20b/t',
      params: { account: 'a b', token: 't' },
      query: [
        ['x', '1'],
        ['x', '2'],
        ['y', 'é'],
      ],
      body: Buffer.from('n=%ff+é').toString('hex'),
    });
  });

  it('E5 shows every value of a repeated header', async () => {
    const base = await serve([
      {
        ...page,
        handle: ({ headersDistinct }) => Promise.resolve({ status: 200, body: String(headersDistinct['x-a']?.length) }),
      },
    ]);
    const answer = await raw(base, 'GET /page HTTP/1.1\r\nhost: x\r\nx-a: 1\r\nx-a: 2\r\nconnection: close\r\n\r\n');
    expect(answer.endsWith('2')).toBe(true);
  });

  it('does not treat a disconnected caller as a fault, also if the handler ends by its signal', async () => {
    const inside = signal();
    const ended = signal();
    const base = await serve([
      {
        method: 'GET',
        path: '/search',
        async handle(request) {
          const { signal: left } = request;
          inside.give();
          await once(left, 'abort');
          queueMicrotask(ended.give);
          throw left.reason;
        },
      },
      { method: 'GET', path: '/after', handle: () => Promise.resolve({ status: 204 }) },
    ]);
    const leave = new AbortController();
    const asked = fetch(`${base}/search`, { signal: leave.signal });
    await inside.given;
    leave.abort();
    await expect(asked).rejects.toThrow();
    await ended.given;
    expect((await fetch(`${base}/after`)).status).toBe(204);
    expect(faults).toEqual([]);
  });

  it('C14 aborts its signal when the caller leaves', async () => {
    const inside = signal();
    const heard = signal();
    const base = await serve([
      {
        ...page,
        async handle(request) {
          const left = once(request.signal, 'abort');
          inside.give();
          await left;
          heard.give();
          return { status: 200 };
        },
      },
    ]);
    const leave = new AbortController();
    const asked = fetch(`${base}/page`, { signal: leave.signal });
    await inside.given;
    leave.abort();
    await expect(asked).rejects.toThrow();
    await heard.given;
  });

  it('one route may take every path and method', async () => {
    const base = await serve([{ method: '*', path: '*', handle: echo }]);
    const answer = await fetch(`${base}/any/where`, { method: 'DELETE' });
    expect(await answer.json()).toMatchObject({ method: 'DELETE', path: '/any/where' });
  });
});

describe('a refused request', () => {
  it.each([
    ['H5 an unknown path', '/other', {}, 404],
    ['H5 a path with a double slash', '//page', {}, 404],
    ['another method', '/page', { method: 'POST' }, 405],
    ['another method with a body', '/page', form('a=1'), 405],
    ['another media type', '/hooks/a/t', { ...form('{}'), headers: { 'content-type': 'application/json' } }, 415],
    ['no media type', '/hooks/a/t', { method: 'POST' }, 415],
    ['H2 an encoded body', '/hooks/a/t', form('x', { 'content-encoding': 'gzip' }), 415],
    ['H2 a body too large', '/hooks/a/t', form('x'.repeat(65)), 413],
  ])('%s, gets no body', async (_case, path, init, status) => {
    const answer = await fetch((await serve([hook, page])) + path, init);
    expect([answer.status, await answer.text()]).toEqual([status, '']);
    expect(answer.headers.get('server')).toBeNull();
  });

  it('H2 has a chunked body that is too large', async () => {
    const base = await serve([hook]);
    const head = 'POST /hooks/a/t HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\n';
    const answer = await raw(base, `${head}transfer-encoding: chunked\r\n\r\n50\r\n${'x'.repeat(80)}\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 413/);
  });

  it('with another method gets the methods of the path', async () => {
    const base = await serve([page, { ...hook, path: '/page' }]);
    const answer = await fetch(`${base}/page`, { method: 'DELETE' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST, HEAD']);
    expect((await fetch(`${base}/page`, { method: 'HEAD' })).status).toBe(200);
  });

  it('H11 whose handler fails gets an empty 500, and the fault is reported', async () => {
    const base = await serve([{ ...page, handle: () => Promise.reject(new Error('a secret')) }]);
    const answer = await fetch(`${base}/page`);
    expect([answer.status, await answer.text()]).toEqual([500, '']);
    expect(faults).toEqual([new Error('a secret')]);
  });

  it.each([
    ['nonsense', 'nonsense\r\n\r\n', 400],
    [
      'length and chunks together',
      'POST /page HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a bare line feed', 'GET /page HTTP/1.1\nhost: x\n\n', 400],
    ['a NUL in a header', 'GET /page HTTP/1.1\r\nhost: x\r\na: \u0000\r\n\r\n', 400],
    ['a header too long', `GET /page HTTP/1.1\r\nhost: x\r\na: ${'a'.repeat(9_000)}\r\n\r\n`, 431],
    ['a path with a broken escape', 'GET /%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 400],
  ])('H4 %s breaks the protocol', async (_case, text, status) => {
    const answer = await raw(await serve([page]), text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer.split('\r\n\r\n')[1]).toBe('');
  });

  it('H3 has headers that never end', async () => {
    const limits = { connectionsCheckingInterval: 20, headersTimeout: 50, requestTimeout: 60 };
    const answer = await raw(await serve([page], { limits }), 'GET /page HTTP/1.1\r\nhost:');
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
  });

  it('H3 waits on a connection, and there are more than allowed', async () => {
    const base = await serve([page], { limits: { maxConnections: 1 } });
    const { hostname, port } = new URL(base);
    const first = connect(Number(port), hostname);
    await once(first, 'connect');
    const closed = once(first, 'close');
    expect((await fetch(`${base}/page`)).status).toBe(200);
    await closed;
  });
});

it('H3 J5 a caller that broke the protocol and keeps its end of the connection open is disconnected', async () => {
  // Longer than any test: the stop ends because no connection is left.
  const { hostname, port } = new URL(await serve([page], { limits: { stopGrace: 300_000 } }));
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.resume().write('nonsense\r\n\r\n');
  await once(socket, 'end');
  await servers.pop()!.stop();
  socket.destroy();
});

describe('starting and stopping', () => {
  it('J9 a taken port is reported as such', async () => {
    const base = await serve([page]);
    const port = Number(new URL(base).port);
    const failure = await serve([page], { port }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MirrorError);
    expect(failure).toMatchObject({
      code: 'port_taken',
      message: `the test cannot listen on 127.0.0.1:${port}: another program listens there. To choose another port: --port of the test.`,
    });
  });

  it('stopping is safe before the start, and twice', async () => {
    const server = new HttpServer({
      name: 'x',
      host: '127.0.0.1',
      port: 0,
      portSetting: 'x',
      clock: systemClock,
      routes: [],
      onFault: () => undefined,
    });
    await server.stop();
    await server.start();
    await server.stop();
    await server.stop();
    expect(() => server.address).toThrow('x does not listen.');
  });

  /** A page that answers when it is told to. */
  function slowPage() {
    const inside = signal();
    const finish = signal();
    const route: HttpRoute = {
      ...page,
      async handle() {
        inside.give();
        await finish.given;
        return { status: 200, body: 'done' };
      },
    };
    return { route, inside, finish };
  }

  it('J1 a stop lets the current answer finish, and ends the connection', async () => {
    const { route, inside, finish } = slowPage();
    const asked = fetch(`${await serve([route])}/page`);
    await inside.given;
    const stopped = servers.pop()!.stop();
    finish.give();
    const answer = await asked;
    expect([await answer.text(), answer.headers.get('connection')]).toEqual(['done', 'close']);
    await stopped;
  });

  it('J1 a stop cuts off what does not finish in time', async () => {
    const { route, inside } = slowPage();
    const asked = fetch(`${await serve([route], { limits: { stopGrace: 20 } })}/page`).catch(() => 'cut');
    await inside.given;
    await servers.pop()!.stop();
    expect(await asked).toBe('cut');
  });
});

it('a handler can take over the response', async () => {
  const base = await serve([
    {
      ...page,
      handle: () => Promise.resolve((response) => response.writeHead(200).write('data: 1\n\n', () => response.end())),
    },
  ]);
  expect(await (await fetch(`${base}/page`)).text()).toBe('data: 1\n\n');
});

it('a connection stays open for hundreds of requests while there are few', async () => {
  const sockets = new Set<unknown>();
  const url = await serve([
    {
      method: 'GET',
      path: '/port',
      handle: async () => Promise.resolve({ status: 200, body: 'ok' }),
    },
  ]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  for (let count = 0; count < 300; count += 1) {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = get(`${url}/port`, { agent }, resolve);
      request.on('socket', (socket) => sockets.add(socket)).on('error', reject);
    });
    await once(response.resume(), 'close');
  }
  expect(sockets.size).toBe(1);
});

describe('L38 a host that cannot be listened on', () => {
  const failing = (code: string): void => {
    const answer = (...given: unknown[]): void =>
      (given.at(-1) as (error: Error) => void)(Object.assign(new Error(code), { code }));
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation(answer);
    onTestFinished(() => lookup.mockRestore());
  };
  const started = (host: string): Promise<void> =>
    new HttpServer({
      name: 'the listener',
      host,
      port: 0,
      portSetting: 'listener.port',
      routes: [],
      clock: systemClock,
      onFault: () => undefined,
    }).start();

  it.each(['203.0.113.9', '2001:db8::9'])(
    'is refused as settings where it is no address of this machine: %s',
    async (host) => {
      await expect(started(host)).rejects.toMatchObject({
        ...{ code: 'settings_invalid', exit: 78 },
        message: expect.stringContaining('Its host should be an address of this machine') as unknown,
      });
    },
  );

  it.each([
    ['ENOTFOUND', 'mirror.invalid', 78],
    ['EAI_AGAIN', 'mirror.example', 69],
  ])('is refused with a sentence where its name is not resolved (%s)', async (code, host, exit) => {
    failing(code);
    await expect(started(host)).rejects.toMatchObject({
      exit,
      message: expect.stringContaining(`the listener cannot listen on ${host}:0: `) as unknown,
    });
  });
});

describe('L54 requests that are sent without waiting for answers', () => {
  const one = 'GET /page HTTP/1.1\r\nhost: x\r\n\r\n';

  it.each([17, 300, 9_000])('%i at once end their connection, and no more than sixteen are handled', async (count) => {
    let handled = 0;
    const base = await serve([{ ...page, handle: (request) => ((handled += 1), echo(request)) }]);
    expect(await raw(base, one.repeat(count))).toBe('');
    expect(handled).toBeLessThanOrEqual(16);
    expect((await fetch(`${base}/page`)).status).toBe(200);
  });

  it.each([
    ['GET', '/nowhere', ''],
    ['POST', '/page', ''],
    ['POST', '/hooks/6BApk/token', 'content-type: text/plain\r\n'],
  ])('those that no handler sees count as well: %s %s', async (method, path, headers) => {
    let refused = 0;
    const base = await serve([page, hook], { onRefusal: () => (refused += 1) });
    const request = `${method} ${path} HTTP/1.1\r\nhost: x\r\n${headers}content-length: 0\r\n\r\n`;
    await raw(base, request.repeat(400));
    expect(refused).toBeLessThanOrEqual(16);
  });

  it('sixteen are answered, in their order, and more follow once they were', async () => {
    const base = await serve([page]);
    const { hostname, port } = new URL(base);
    const socket = connect(Number(port), hostname).setEncoding('latin1');
    onTestFinished(() => void socket.destroy());
    for (const round of [1, 2, 3]) {
      socket.write(
        Array.from({ length: 16 }, (_, at) => `GET /page?n=${round}.${at}. HTTP/1.1\r\nhost: x\r\n\r\n`).join(''),
      );
      let text = '';
      while (text.split('"method"').length <= 16 || !text.endsWith('}'))
        text += String((await once(socket, 'data'))[0]);
      expect([...text.matchAll(/"n","(\d+\.\d+)\."/g)].map(([, n]) => n)).toEqual(
        Array.from({ length: 16 }, (_, at) => `${round}.${at}`),
      );
    }
  });
});
