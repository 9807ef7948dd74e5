import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { trustedBy } from '../../../src/http/networks.ts';
import { ConnectionLimiter, type ConnectionLimits } from '../../../src/http/connection-limits.ts';

interface Place {
  /** Connects as if from `address`; resolves when the server has taken the connection in, whether or not it let it stay. */
  join(address: string): Promise<Guest>;
  /** The next request whose headers have arrived. */
  nextRequest(): Promise<[IncomingMessage, ServerResponse]>;
  /** Whether a connection should end with its next answer. */
  isToEnd(socket: Socket): boolean;
}

interface Guest {
  readonly socket: Socket;
  readonly gone: Promise<unknown>;
}

const whole = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
const half = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc';

async function place(limits: Partial<ConnectionLimits>): Promise<Place> {
  let address = '';
  const unlimited = {
    maxConnections: Infinity,
    maxConnectionsPerAddress: Infinity,
    isProxy: trustedBy('private'),
    maxRequestsWhenBusy: Infinity,
    maxUnanswered: Infinity,
  };
  const limiter = new ConnectionLimiter({ ...unlimited, ...limits });
  const server = limiter.createServer({}, () => undefined);
  server.prependListener('connection', (socket: Socket) =>
    Object.defineProperty(socket, 'remoteAddress', { value: address }),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    async join(from) {
      address = from;
      const arrived = once(server, 'connection');
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      socket.on('error', () => undefined).resume();
      const gone = once(socket, 'close');
      await arrived;
      return { socket, gone };
    },
    nextRequest: () => once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>,
    isToEnd: (socket) => limiter.isToEnd(socket),
  };
}

/** Asks for something and waits until the server has been asked. */
async function ask(at: Place, { socket }: Guest, text: string): Promise<ServerResponse> {
  const asked = at.nextRequest();
  socket.write(text);
  const [request, response] = await asked;
  if (text === whole) await once(request.resume(), 'end');
  return response;
}

async function answer(response: ServerResponse): Promise<void> {
  const closed = once(response, 'close');
  response.end();
  await closed;
}

describe('H3 where one address has too many connections', () => {
  const limits = { maxConnections: 100, maxConnectionsPerAddress: 2 };

  it('the one that was idle for longest is closed, and no other', async () => {
    const at = await place(limits);
    const [other, first, second] = [await at.join('192.0.2.9'), await at.join('192.0.2.1'), await at.join('192.0.2.1')];
    const third = await at.join('192.0.2.1');
    await first.gone;
    for (const guest of [other, second, third]) await answer(await ask(at, guest, whole));
  });

  it('one that was answered since is no longer the one that was idle for longest', async () => {
    const at = await place(limits);
    const [first, second] = [await at.join('2001:db8::1'), await at.join('2001:db8::1')];
    await answer(await ask(at, first, whole));
    await at.join('2001:db8::1');
    await second.gone;
    await answer(await ask(at, first, whole));
  });

  it('one that is being answered stays open; one whose body is slow does not', async () => {
    const at = await place(limits);
    const [first, second] = [await at.join('192.0.2.1'), await at.join('192.0.2.1')];
    const response = await ask(at, first, whole);
    await ask(at, second, half);
    await at.join('192.0.2.1');
    await second.gone;
    await answer(response);
  });

  it('the new one is closed if all others are being answered', async () => {
    const at = await place(limits);
    const guests = [await at.join('192.0.2.1'), await at.join('192.0.2.1')];
    const responses = [];
    for (const guest of guests) responses.push(await ask(at, guest, whole));
    await (
      await at.join('192.0.2.1')
    ).gone;
    for (const response of responses) await answer(response);
  });

  it.each([
    '127.0.0.1',
    '127.3.2.1',
    '::1',
    '::ffff:127.0.0.1',
    '172.18.0.3',
    '::ffff:10.42.0.7',
    'fd00::3',
    'fe80::1%eth0',
  ])('L24 none is closed for a trusted proxy (%s), because it forwards for everybody', async (address) => {
    const at = await place(limits);
    const guests = [await at.join(address), await at.join(address), await at.join(address)];
    for (const guest of guests) await answer(await ask(at, guest, whole));
  });

  it('L24 no request makes its connection one of a trusted proxy', async () => {
    const at = await place(limits);
    const claims = 'x-forwarded-for: 10.0.0.1\r\nforwarded: for=127.0.0.1\r\nx-real-ip: 172.18.0.3\r\nvia: 1.1 caddy';
    const forged = whole.replace('host: x', `host: x\r\n${claims}`);
    const [first] = [await at.join('192.0.2.1'), await at.join('192.0.2.1')];
    await answer(await ask(at, first, forged));
    await at.join('192.0.2.1');
    await at.join('192.0.2.1');
    await first.gone;
  });
});

it('H3 J5 the total of connections is limited, whatever their addresses', async () => {
  const at = await place({ maxConnections: 3, maxConnectionsPerAddress: 2 });
  const guests = [];
  for (const address of ['127.0.0.1', '192.0.2.1', '192.0.2.2', '192.0.2.3']) guests.push(await at.join(address));
  await guests[0]?.gone;
  for (const guest of guests.slice(1)) await answer(await ask(at, guest, whole));
});

it('H3 a connection with many requests ends only while more than half of all connections are open', async () => {
  const at = await place({ maxConnections: 4, maxRequestsWhenBusy: 3 });
  const [first, second] = [await at.join('192.0.2.1'), await at.join('192.0.2.2')];
  const endsAfter = async (requests: number): Promise<boolean> => {
    let isToEnd = false;
    for (let asked = 0; asked < requests; asked += 1) {
      const response = await ask(at, first, whole);
      isToEnd = at.isToEnd(response.req.socket);
      await answer(response);
    }
    return isToEnd;
  };
  expect(await endsAfter(3)).toBe(false);
  const third = await at.join('192.0.2.3');
  expect(await endsAfter(1)).toBe(true);
  for (const guest of [second, third]) expect(at.isToEnd((await ask(at, guest, whole)).req.socket)).toBe(false);
});
