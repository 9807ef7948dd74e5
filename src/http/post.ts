/**
 * POSTs to receivers of webhooks, whose names may resolve to anything. Names are resolved here and the addresses are checked when the
 * connection is made, so that a name which changes in between cannot reach anything else. Redirects are not followed, and only the start of
 * an answer is read.
 *
 * HTTP proxies set in the environment are not used, because the proxy would resolve the name.
 */
import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { hasCode } from '../domain/errors.ts';
import { Addresses, eachAttempt, type Resolve } from './addresses.ts';
import { isLoopbackAddress, isPublicAddress } from './networks.ts';

export interface PostRequest {
  readonly url: URL;
  /** Which addresses the name may resolve to: only this machine, or only the public internet. */
  readonly reach: 'loopback' | 'public';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Milliseconds after which `signal` ends the request. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Sends a request.
 * @returns the HTTP status of the answer.
 * @throws AddressRefused, or the network error, which is also thrown when the signal is aborted.
 */
export type Post = (request: PostRequest) => Promise<number>;

/** The name resolves to an address that may not be reached. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** Bytes of an answer that are read at most, so that its connection can be reused. */
const maxRead = 16 * 1024;

export class Poster {
  readonly #addresses: Addresses;
  /** By reach: a kept connection leads to an address that was checked for its reach only. */
  readonly #agents = { loopback: agents(), public: agents() };

  constructor(resolve?: Resolve) {
    this.#addresses = new Addresses(resolve);
  }

  /** A field, because senders get it without the poster. */
  readonly post: Post = async (request) => {
    request.signal.throwIfAborted();
    refuseLiteral(request);
    return this.#attempt(request, false);
  };

  close(): void {
    for (const { http, https } of Object.values(this.#agents)) for (const agent of [http, https]) agent.destroy();
  }

  #attempt(request: PostRequest, isAgain: boolean): Promise<number> {
    return new Promise((done, failed) => {
      const { url, reach, headers, body, timeout, signal } = request;
      const isSecure = url.protocol === 'https:';
      const outgoing = (isSecure ? https : http).request(url, {
        method: 'POST',
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
        lookup: guardedLookup(this.#addresses.all, reach),
        ...eachAttempt(timeout),
        agent: isAgain ? false : this.#agents[reach][isSecure ? 'https' : 'http'],
        signal,
      });
      let status: number | undefined;
      const end = (error?: Error): void => {
        if (status !== undefined) done(status);
        // The receiver closed a kept connection just as it was reused.
        else if (!isAgain && outgoing.reusedSocket && hasCode(error, 'ECONNRESET', 'EPIPE'))
          done(this.#attempt(request, true));
        else failed(error ?? new Error('The connection was closed.'));
      };
      outgoing.on('socket', (socket) => this.#addresses.note(url.hostname, socket));
      outgoing.on('error', end);
      outgoing.on('response', (answer) => {
        status = answer.statusCode ?? 0;
        let read = 0;
        answer.on('data', (chunk: Buffer) => {
          read += chunk.length;
          if (read > maxRead) answer.destroy();
        });
        answer.on('error', end);
        answer.on('close', () => end());
      });
      outgoing.end(body);
    });
  }
}

function agents(): { readonly http: http.Agent; readonly https: https.Agent } {
  const pool = { keepAlive: true, maxFreeSockets: 8 };
  return { http: new http.Agent(pool), https: new https.Agent(pool) };
}

const isAllowed = { loopback: isLoopbackAddress, public: isPublicAddress };

/** A host that is an IP address is never looked up, so it is checked here. */
function refuseLiteral({ url, reach }: PostRequest): void {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isAllowed[reach](host)) throw refused(host, reach);
}

function guardedLookup(resolve: Resolve, reach: PostRequest['reach']): LookupFunction {
  return (name, { all }, found) =>
    resolve(name, { all: true }, (error, addresses) => {
      const allowed = error ? [] : addresses.filter(({ address }) => isAllowed[reach](address));
      const [first] = allowed;
      const problem = error ?? (first ? null : refused(name, reach));
      if (all) found(problem, allowed);
      else found(problem, first?.address ?? '', first?.family);
    });
}

function refused(name: string, reach: PostRequest['reach']): AddressRefused {
  return new AddressRefused(
    reach === 'loopback'
      ? `${name} does not resolve to this machine`
      : `${name} does not resolve to a public address, and webhooks are sent only to those`,
  );
}
