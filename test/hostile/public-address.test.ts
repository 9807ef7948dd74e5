/**
 * The proxies of the runbook, in front of a listener: none of their logs contains the address of a callback, however a request is broken off; and
 * who knows an address ends no webhooks through them, and reaches nothing but the listener.
 */
import { createServer } from 'node:http';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { isMissing } from '../support/needed.ts';
import { delivery, formType, signed } from '../support/deliveries/signed-delivery.ts';
import { listen } from '../support/network/listen.ts';
import { missingProxy, proxyNames, startProxy } from '../support/network/shipped-proxies.ts';
import { until } from '../support/testbed/daemon-process.ts';
import { testbed } from '../support/testbed.ts';

const path = '/webhooks/6BApk/a-secret-part-of-an-address';
const heading = `POST ${path} HTTP/1.1\r\nHost: localhost\r\n`;
const length = 'Content-Length: 3\r\n';

/** Requests that are answered, refused by the proxy or by the listener, or never end. */
const requests = {
  whole: `${heading}${length}\r\na=b`,
  'of too large a body': `${heading}Content-Length: 2000000\r\n\r\n${'a'.repeat(2_000_000)}`,
  'of chunks without end': `${heading}Transfer-Encoding: chunked\r\n\r\n${`10000\r\n${'a'.repeat(65_536)}\r\n`.repeat(30)}`,
  'of two lengths': `${heading}${length}Content-Length: 5\r\n\r\na=bcd`,
  'of a length and of chunks': `${heading}${length}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'with a header that is none': `${heading}Bad Header\u0001: x\r\n${length}\r\na=b`,
  'with too large a header': `${heading}X: ${'a'.repeat(1_200_000)}\r\n\r\n`,
  'by way of a proxy before it': `${heading}X-Original-URI: ${path}\r\nReferer: https://localhost${path}\r\n${length}\r\na=b`,
  'by way of the same once more': `${heading}X-Original-URI: ${path}\r\n${length}\r\na=b`,
  'with a long query': `POST ${path}?${'a'.repeat(40_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  'without a host': `POST ${path} HTTP/1.1\r\n${length}\r\na=b`,
  'of another protocol': `POST ${path} HTTP/3.9\r\nHost: localhost\r\n\r\n`,
  'of no method': `p0st! ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  'with a bad escape': `POST ${path}/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  'of a path above all': `POST /../..${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  'that ends within its headers': `${heading}Conte`,
  'that ends within its body': `${heading}${length}\r\na`,
};

/** Sends bytes, and leaves when anything is answered, or at once. */
async function send(port: number, bytes: string, awaitsAnswer: boolean): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false });
  // A reset is an answer, too.
  const ended = new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve));
  socket.once('data', () => socket.destroySoon());
  if (awaitsAnswer) socket.write(bytes, 'latin1');
  else socket.end(bytes, 'latin1');
  await ended;
}

/** Sends all of it, and reads until the connection is closed, or until that many answers have begun. */
async function exchange(port: number, bytes: string, answers = Infinity): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false });
  let read = '';
  const ended = new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve));
  socket.setEncoding('latin1').on('data', (text: string) => {
    read += text;
    if (read.split('HTTP/1.1 ').length > answers) socket.destroy();
  });
  socket.write(bytes, 'latin1');
  await ended;
  return read;
}

function post(path: string, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({
    host: 'localhost',
    'content-type': formType,
    'content-length': body.length,
    ...headers,
  });
  return `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

const closing = 'Connection: close\r\n\r\n';

/** What is to lead past the proxy or the listener, to the admin port or to another path. */
function detours(path: string, adminPort: number): string[] {
  const admin = `127.0.0.1:${adminPort}`;
  const inner = `GET /metrics HTTP/1.1\r\nHost: ${admin}\r\n${closing}`;
  const start = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`;
  return [
    ...['/', '/metrics', '/api/status', '/readyz', '/healthz/../metrics', '/%2e%2e/metrics', '//metrics'].map(
      (one) => `GET ${one} HTTP/1.1\r\nHost: localhost\r\n${closing}`,
    ),
    `GET http://${admin}/metrics HTTP/1.1\r\nHost: ${admin}\r\n${closing}`,
    `GET /metrics HTTP/1.1\r\nHost: ${admin}\r\n${closing}`,
    `GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Host: ${admin}\r\nX-Original-URL: /metrics\r\n${closing}`,
    `CONNECT ${admin} HTTP/1.1\r\nHost: ${admin}\r\n${closing}`,
    `GET /metrics HTTP/1.1\r\nHost: localhost\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nConnection: Upgrade, HTTP2-Settings\r\n\r\n${inner}`,
    // Where proxy and listener see the end of a body at different places, the rest is a request of its own.
    `${start}Content-Length: ${inner.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
    `${start}Content-Length: 4\r\nTransfer-Encoding: xchunked\r\n\r\na=b\r\n${inner}`,
    `${start}Content-Length: 4\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
    `${start}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${inner}`,
    `${start}Content-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
    `${start}Content-Length: +0\r\n\r\n${inner}`,
    `${start}Transfer-Encoding: chunked\r\n\r\n0;\n\r\n\r\n${inner}`,
    `POST ${path}%20HTTP/1.1%0d%0aHost:%20x%0d%0a%0d%0a${encodeURIComponent(inner)} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n${closing}`,
  ];
}

describe.each(proxyNames)('L52 %s, as the runbook shows it', (name) => {
  it.skipIf(isMissing(missingProxy(name)))('logs no address of a callback', async () => {
    let arrived = 0;
    // Every other request is broken off, which proxies call an error.
    const listener = await listen(
      createServer((request, response) => {
        arrived += 1;
        if (arrived % 2 === 0) response.destroy();
        else request.resume().on('end', () => response.end());
      }),
    );
    const proxy = await startProxy(name, listener);
    for (let round = 0; round < 2; round++)
      for (const [kind, request] of Object.entries(requests)) await send(proxy.port, request, !kind.includes(' end'));
    expect(arrived).toBeGreaterThan(1);
    expect(await proxy.end()).not.toContain('a-secret-part');
  });

  it.skipIf(isMissing(missingProxy(name)))(
    'L52 L54 lets a stranger who knows an address neither end webhooks nor reach anything else',
    async () => {
      const service = await testbed({ level: 'sandbox', vendors: 3 });
      const at = await testbed({ level: 'program', service, listens: true });
      const daemon = await at.serveUntilSwept();
      const callbacks = service.sandbox.callbacks(service.account);
      await until(() => callbacks.all().some(({ verified }) => verified));
      const before = callbacks.all();
      const { uri, verifier } = before[0]!;
      const { pathname } = new URL(uri);
      const proxy = await startProxy(name, at.listenerPort);
      const send = ({ headers, body }: ReturnType<typeof signed>, more = 1): Promise<string> =>
        exchange(proxy.port, post(pathname, body, headers).repeat(more), more);
      const { vendorid } = service.sandbox.vendors(service.account).all()[0]!;
      let edits = 0;
      const isHeard = async (): Promise<void> => {
        const vendor_name = `Edited ${(edits += 1)}`;
        service.sandbox.vendors(service.account).edit(Number(vendorid), { vendor_name });
        expect(await send(signed({ ...delivery, object_id: String(vendorid) }, verifier))).toMatch(/^HTTP\/1.1 200 /);
        await until(() => at.query('SELECT 1 FROM vendors WHERE vendor_name = ?', vendor_name).length > 0);
      };
      await isHeard();

      for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
        expect(await send(signed(delivery, key))).toMatch(/^HTTP\/1.1 401 /);
      for (const id of [undefined, before[0]!.id, 1, 999_999])
        for (let code = 0; code < 6; code++) {
          const about = { account_id: service.account, ...(id !== undefined && { object_id: String(id) }) };
          const body = new URLSearchParams({
            name: 'callback.verify',
            verifier: `strange-${code}`,
            ...about,
          }).toString();
          expect(await exchange(proxy.port, post(pathname, body), 1)).toMatch(/^HTTP\/1.1 (200|403) /);
        }
      await isHeard();

      await send(signed(delivery, 'many at once'), 300);
      const halves = Array.from({ length: 50 }, () => {
        const socket = connect({
          port: proxy.port,
          host: '127.0.0.1',
          servername: 'localhost',
          rejectUnauthorized: false,
        });
        socket.on('error', () => undefined).write(post(pathname, 'a='.repeat(500)).slice(0, -900));
        return socket;
      });
      await Promise.all(halves.map((socket) => new Promise((resolve) => socket.once('secureConnect', resolve))));
      await isHeard();
      for (const socket of halves) socket.destroy();

      for (const detour of detours(pathname, at.adminPort)) {
        const read = await exchange(proxy.port, detour);
        expect(read, detour).not.toMatch(/vendor_mirror_|safe_as_of|accounts|HTTP\/1.1 (101|2\d\d [^]*HTTP)/);
      }
      await isHeard();

      expect(callbacks.all()).toEqual(before);
      const token = pathname.split('/').at(-1)!;
      expect(await daemon.end()).toBe(0);
      expect(daemon.stderr()).not.toContain(token);
      expect(await proxy.end()).not.toContain(token);
    },
  );
});
