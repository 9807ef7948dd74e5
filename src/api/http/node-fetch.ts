/**
 * The subset of `fetch` that this program needs, with Node's HTTP client and kept connections, at half its cost. Redirects are returned
 * like any answer, and no proxy is used.
 */
// Default imports: their members are looked up at each call, so that tests can replace the network.
import http from 'node:http';
import https from 'node:https';
import { pipeline, type Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import type { Fetch, FetchedAnswer, FetchRequest } from './request.ts';

/** An unused connection is kept this long, in milliseconds: less than servers keep theirs. */
const keptFor = 4_000;

const decoders: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
};

/**
 * A `Fetch` with its own connections. It resolves when the headers have arrived; the signal of the request aborts it until the body has
 * ended.
 */
export function nodeFetch(): Fetch {
  const pool = { keepAlive: true, maxFreeSockets: 8, timeout: keptFor };
  const agents = { 'http:': new http.Agent(pool), 'https:': new https.Agent(pool) };

  const attempt = (url: URL, request: FetchRequest, isAgain: boolean): Promise<FetchedAnswer> =>
    new Promise((resolve, reject) => {
      const { method, body, signal } = request;
      const isSecure = url.protocol === 'https:';
      // Requests that must not be sent twice get a new connection, which the service cannot have closed yet.
      const keeps = method === 'GET' && !isAgain;
      const outgoing = (isSecure ? https : http).request(url, {
        method,
        headers: headersOf(request),
        agent: keeps ? agents[isSecure ? 'https:' : 'http:'] : false,
        signal,
      });
      outgoing.on('error', (error) => {
        if (keeps && outgoing.reusedSocket && wasClosed(error) && !signal.aborted) resolve(attempt(url, request, true));
        else reject(error);
      });
      outgoing.on('response', (incoming) => resolve(answerOf(incoming)));
      outgoing.end(body);
    });

  return (url, request) => attempt(url, request, false);
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
