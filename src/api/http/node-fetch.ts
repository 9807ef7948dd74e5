/**
 * The subset of `fetch` that this program needs, with Node's HTTP client and kept connections, at half its cost. Redirects are returned
 * like any answer. Proxies are asked for a tunnel, so that they see neither token nor data.
 */
// Default imports: their members are looked up at each call, so that tests can replace the network.
import http from 'node:http';
import https from 'node:https';
import { pipeline, type Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { ProxyFault } from './network-errors.ts';
import { needTunnel, tunnelsThrough, type ProxyOf } from './proxies.ts';
import type { Fetch, FetchedAnswer, FetchRequest } from './request.ts';

/** An unused connection is kept this long, in milliseconds: less than servers keep theirs. */
const keptFor = 4_000;

const decoders: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
};

const pool = { keepAlive: true, maxFreeSockets: 8, timeout: keptFor };

/** How requests reach their address. */
interface Route {
  /** Keeps its connections. */
  readonly kept: http.Agent;
  /** Makes a connection for each request. */
  readonly single: http.Agent | false;
  /** The host and port of the proxy on the way. */
  readonly proxy?: string;
}

/**
 * A `Fetch` with its own connections. It resolves when the headers have arrived; the signal of the request aborts it until the body has
 * ended.
 */
export function nodeFetch(proxyOf: ProxyOf = () => undefined): Fetch {
  const direct = {
    'http:': { kept: new http.Agent(pool), single: false },
    'https:': { kept: new https.Agent(pool), single: false },
  } satisfies Record<string, Route>;
  const proxied = new Map<string, Promise<Route>>();

  const routeTo = async (url: URL): Promise<Route> => {
    const proxy = proxyOf(url);
    if (!proxy) return direct[url.protocol === 'https:' ? 'https:' : 'http:'];
    const tunnels = proxied.get(proxy.href) ?? tunnelsThrough(proxy, pool);
    proxied.set(proxy.href, tunnels);
    return { ...(await tunnels), proxy: proxy.host };
  };

  const attempt = (url: URL, request: FetchRequest, route: Route, isAgain: boolean): Promise<FetchedAnswer> =>
    new Promise((resolve, reject) => {
      const { method, body, signal } = request;
      // Requests that must not be sent twice get a new connection, which the service cannot have closed yet.
      const keeps = method === 'GET' && !isAgain;
      const outgoing = (url.protocol === 'https:' ? https : http).request(url, {
        method,
        headers: headersOf(request),
        agent: keeps ? route.kept : route.single,
        signal,
      });
      outgoing.on('error', (error) => {
        if (keeps && outgoing.reusedSocket && wasClosed(error) && !signal.aborted)
          resolve(attempt(url, request, route, true));
        else reject(route.proxy === undefined ? error : new ProxyFault(route.proxy, error));
      });
      needTunnel(outgoing);
      outgoing.on('response', (incoming) => resolve(answerOf(incoming)));
      outgoing.end(body);
    });

  return async (url, request) => attempt(url, request, await routeTo(url), false);
}

function headersOf({ headers, body }: FetchRequest): Record<string, string> {
  return {
    'user-agent': 'vendor-mirror',
    'accept-encoding': 'gzip, br',
    ...headers,
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
  };
}

function answerOf(incoming: http.IncomingMessage): FetchedAnswer {
  const { headers, statusCode = 0 } = incoming;
  // The reader of the body gets the error; where nobody reads it, it does not matter.
  incoming.on('error', () => undefined);
  return {
    status: statusCode,
    headers: { get: (name) => joined(headers[name.toLowerCase()]) },
    body: decoded(incoming, headers['content-encoding']?.trim().toLowerCase() ?? ''),
  };
}

function decoded(incoming: http.IncomingMessage, encoding: string): AsyncIterable<Uint8Array> {
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding]?.() : undefined;
  // An error of either stream is passed on by the decoder, which is what is read.
  return decoder ? pipeline(incoming, decoder, () => undefined) : incoming;
}

function joined(value: string | readonly string[] | undefined): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : value.join(', ');
}

/** The service closed a kept connection just as it was reused. */
function wasClosed(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}
