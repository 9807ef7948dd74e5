/**
 * The subset of `fetch` that this program needs, with Node's HTTP client and kept connections, at half its cost: through the proxy that
 * the environment names, where it names one. Redirects are returned like any answer.
 *
 * A proxy is asked for a tunnel (CONNECT), so it sees neither token nor data, and an answer of its own is never taken for one of the
 * service: a 404 of a proxy must not prove that a vendor is gone. The package that makes tunnels gets user and password as a header alone:
 * it may log the address of the proxy.
 */
import http, { type Agent, type AgentOptions, type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket, TcpNetConnectOpts } from 'node:net';
import { pipeline, type Duplex } from 'node:stream';
import { connect, type ConnectionOptions } from 'node:tls';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { getProxyForUrl } from 'proxy-from-env';
import { parseInstant } from '../../domain/clock.ts';
import { hasCode, MirrorError } from '../../domain/errors.ts';
import { Addresses, eachAttempt } from '../../http/addresses.ts';
import { isLoopback } from '../../settings/addresses.ts';
import { ProxyFault, TunnelRefused, type Fetch, type FetchedAnswer, type FetchRequest } from './request.ts';

// Default imports: their members are looked up at each call, so that tests can replace the network.

/** An unused connection is kept this long, in milliseconds: less than servers keep theirs. */
const keptFor = 4_000;

const decoders: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
};

/** Whether a body with this `Content-Encoding` is what was sent before it was compressed. */
export function isDecoded(encoding: string): boolean {
  return encoding === '' || encoding === 'identity' || Object.hasOwn(decoders, encoding);
}

const pool = { keepAlive: true, maxFreeSockets: 8, timeout: keptFor };

interface Route {
  /** Keeps its connections. */
  readonly kept: http.Agent;
  /** Makes a connection for each request. */
  readonly single: http.Agent | false;
  readonly proxy?: URL;
}

type ConnectionOf = Pick<TcpNetConnectOpts, 'lookup' | 'autoSelectFamilyAttemptTimeout'>;

/**
 * A `Fetch` with its own connections. It resolves when the headers have arrived; the signal of the request aborts it until the body has
 * ended.
 */
export function nodeFetch(proxyOf: ProxyOf = () => undefined): Fetch {
  const direct = {
    'http:': { kept: new http.Agent(pool), single: false },
    'https:': { kept: new https.Agent(pool), single: false },
  } satisfies Record<string, Route>;
  const addresses = new Addresses();
  /** By proxy and time limit. */
  const proxied = new Map<string, Promise<Route>>();

  const connectionOf = (timeout: number): ConnectionOf => ({
    lookup: addresses.lookup,
    ...eachAttempt(timeout),
  });

  const routeTo = async (url: URL, timeout: number): Promise<Route> => {
    const proxy = proxyOf(url);
    if (!proxy) return direct[url.protocol === 'https:' ? 'https:' : 'http:'];
    const key = `${timeout} ${proxy.href}`;
    const tunnels = proxied.get(key) ?? tunnelsThrough(proxy, pool, connectionOf(timeout));
    proxied.set(key, tunnels);
    return { ...(await tunnels), proxy };
  };

  const attempt = (url: URL, request: FetchRequest, route: Route, isAgain: boolean): Promise<FetchedAnswer> =>
    new Promise((resolve, reject) => {
      const { method, body, timeout, signal } = request;
      // Requests that must not be sent twice get a new connection, which the service cannot have closed yet.
      const keeps = method === 'GET' && !isAgain;
      const outgoing = (url.protocol === 'https:' ? https : http).request(url, {
        method,
        headers: headersOf(request),
        agent: keeps ? route.kept : route.single,
        ...connectionOf(timeout),
        signal,
      });
      const { proxy } = route;
      if (proxy) outgoing.on('proxy', ({ socket }: { socket: Socket }) => addresses.note(proxy.hostname, socket));
      else outgoing.on('socket', (socket) => addresses.note(url.hostname, socket));
      outgoing.on('error', (error) => {
        // The service closed a kept connection just as it was reused.
        if (keeps && outgoing.reusedSocket && hasCode(error, 'ECONNRESET', 'EPIPE') && !signal.aborted)
          resolve(attempt(url, request, route, true));
        else reject(proxy ? new ProxyFault(proxy.host, error) : error);
      });
      needTunnel(outgoing);
      outgoing.on('response', (incoming) => resolve(answerOf(incoming)));
      outgoing.end(body);
    });

  return async (url, request) => attempt(url, request, await routeTo(url, request.timeout), false);
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

/** The proxy through which requests to an address go; undefined for none. */
export type ProxyOf = (url: URL) => URL | undefined;

/** The variables that name a proxy for https, in the order of their precedence. */
const variables = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];

/**
 * The proxy that the environment names for an address, as other programs read it: `HTTPS_PROXY` or `ALL_PROXY`, unless `NO_PROXY` lists the
 * host. This machine is reached without one.
 * @throws MirrorError `settings_invalid` where the variable names no HTTP proxy.
 */
export const environmentProxy: ProxyOf = (url) => {
  if (url.protocol !== 'https:' || isLoopback(url.hostname) || getProxyForUrl(url.href) === '') return undefined;
  const variable = variables.find((name) => process.env[name]) ?? '';
  const named = process.env[variable] ?? '';
  const address = named.includes('://') ? named : `http://${named}`;
  const proxy = URL.canParse(address) ? new URL(address) : undefined;
  // The value is not repeated: it may hold a password.
  if (proxy?.protocol !== 'http:' && proxy?.protocol !== 'https:')
    throw new MirrorError(
      'settings_invalid',
      `The environment variable ${variable} names no HTTP proxy; it should be like http://proxy.example.com:3128.`,
    );
  return proxy;
};

/**
 * Agents that connect through a proxy: one that keeps its connections as `pool` says, and one that does not. User and password of the proxy
 * become a header alone, because the package may log its address.
 */
async function tunnelsThrough(
  proxy: URL,
  pool: AgentOptions,
  connection: ConnectionOf,
): Promise<{ kept: Agent; single: Agent }> {
  const { HttpsProxyAgent } = await import('https-proxy-agent');
  const address = new URL(proxy);
  address.username = address.password = '';
  const login = [proxy.username, proxy.password].map(unescaped).join(':');
  const headers = login === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` };
  return {
    kept: new HttpsProxyAgent(address, { ...pool, ...connection, headers }),
    single: new HttpsProxyAgent(address, { ...connection, headers }),
  };
}

/** Without its escapes; a text with a bare % has none. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Ends a request for which a proxy gives no tunnel: the proxy's answer would be taken for one of the service. */
function needTunnel(request: ClientRequest): void {
  request.once('proxyConnect', ({ statusCode }: IncomingMessage) => {
    if (statusCode !== 200) request.destroy(new TunnelRefused(statusCode));
  });
}

/** Milliseconds for a connection and its handshake. */
const handshakeTimeout = 5_000;

/** Between which moments a certificate is valid, in milliseconds since 1970. */
export interface CertificateTimes {
  readonly from: number;
  readonly until: number;
}

/**
 * When the certificate at an address is valid; undefined where the address is not https, or no trusted
 * connection can be made; a request to the address then says why. `options` are for tests.
 */
export function certificateTimes(url: URL, options: ConnectionOptions = {}): Promise<CertificateTimes | undefined> {
  if (url.protocol !== 'https:') return Promise.resolve(undefined);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(url.port || 443),
      servername: /[^\d.:]/.test(host) ? host : '',
      ...eachAttempt(handshakeTimeout),
      ...options,
    });
    const end = (times?: CertificateTimes): void => {
      socket.destroy();
      resolve(times);
    };
    socket.setTimeout(handshakeTimeout, () => end());
    socket.once('error', () => end());
    socket.once('secureConnect', () => {
      const { valid_from, valid_to } = socket.getPeerCertificate();
      const [from, until] = [valid_from, valid_to].map((moment) => parseInstant(moment));
      end(from === undefined || until === undefined ? undefined : { from, until });
    });
  });
}
