/**
 * The network, by node's own HTTP client on connections that are kept: as much of `fetch` as this program needs, at half its cost. Redirects
 * are answers like any other, and no proxy is asked.
 */
// By default imports: their members are looked up when they are called, so that a test can stand in for the network.
import http from 'node:http';
import https from 'node:https';
import { pipeline, type Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import type { Fetch, FetchedAnswer, FetchRequest } from './request.ts';

/** Milliseconds for which a connection is kept without a request: less than servers keep theirs. */
const keptFor = 4_000;

const decoders: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
};

/** A network with connections of its own. It resolves with the head of an answer, and is stopped by the signal of the request until its end. */
export function nodeFetch(): Fetch {
  const pool = { keepAlive: true, maxFreeSockets: 8, timeout: keptFor };
  const agents = { 'http:': new http.Agent(pool), 'https:': new https.Agent(pool) };

  const attempt = (url: URL, request: FetchRequest, isAgain: boolean): Promise<FetchedAnswer> =>
    new Promise((resolve, reject) => {
      const { method, body, signal } = request;
      const isSecure = url.protocol === 'https:';
      // What must not be sent twice gets a connection that nobody can have closed before.
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
  // Whoever reads the body hears of it; an answer whose body nobody reads may end as it likes.
  incoming.on('error', () => undefined);
  return {
    status: statusCode,
    headers: { get: (name) => joined(headers[name.toLowerCase()]) },
    body: decoded(incoming, headers['content-encoding']?.trim().toLowerCase() ?? ''),
  };
}

function decoded(incoming: http.IncomingMessage, encoding: string): AsyncIterable<Uint8Array> {
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding]?.() : undefined;
  // A failure of either is a failure of the decoder, which is what is read.
  return decoder ? pipeline(incoming, decoder, () => undefined) : incoming;
}

function joined(value: string | readonly string[] | undefined): string | null {
  return value === undefined ? null : [value].flat().join(', ');
}

/** The service closed a kept connection just as it was used again. */
function wasClosed(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}
