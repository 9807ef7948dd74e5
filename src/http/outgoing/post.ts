/**
 * POSTs to receivers of webhooks, whose names may resolve to anything. Names are resolved here and the addresses are checked when the
 * connection is made, so that a name which changes in between cannot reach anything else. Redirects are not followed, and only the start of
 * an answer is read.
 */
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isOwnAddress, isPublicAddress } from './addresses.ts';

export interface PostRequest {
  readonly url: URL;
  /** Which addresses the name may resolve to: only this machine, or only the public internet. */
  readonly reach: 'own' | 'public';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
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

/** Resolves all addresses of a name, like `dns.lookup`. */
export type Resolve = (
  name: string,
  options: { readonly all: true },
  found: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

/** Bytes of an answer that are read at most, so that its connection can be reused. */
const mostRead = 16 * 1024;

export interface Poster {
  readonly post: Post;
  /** Closes the kept connections. */
  close(): void;
}

export function createPoster(resolve: Resolve = systemLookup): Poster {
  const pool = { keepAlive: true, maxFreeSockets: 8 };
  const agents = new Map([
    ['own', { http: new http.Agent(pool), https: new https.Agent(pool) }],
    ['public', { http: new http.Agent(pool), https: new https.Agent(pool) }],
  ]);
  const attempt = (request: PostRequest, isAgain: boolean): Promise<number> =>
    new Promise((done, failed) => {
      const { url, reach, headers, body, signal } = request;
      const isSecure = url.protocol === 'https:';
      const agent = isAgain ? false : agents.get(reach)?.[isSecure ? 'https' : 'http'];
      const outgoing = (isSecure ? https : http).request(url, {
        method: 'POST',
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
        lookup: guardedLookup(resolve, reach),
        agent,
        signal,
      });
      let status: number | undefined;
      const end = (error?: Error): void => {
        if (status !== undefined) done(status);
        else if (!isAgain && outgoing.reusedSocket && wasClosed(error)) done(attempt(request, true));
        else failed(error ?? new Error('The connection was closed.'));
      };
      outgoing.on('error', end);
      outgoing.on('response', (answer) => {
        status = answer.statusCode ?? 0;
        let read = 0;
        answer.on('data', (chunk: Buffer) => {
          read += chunk.length;
          if (read > mostRead) answer.destroy();
        });
        answer.on('error', end);
        answer.on('close', () => end());
      });
      outgoing.end(body);
    });
  return {
    async post(request) {
      request.signal.throwIfAborted();
      refuseLiteral(request);
      return attempt(request, false);
    },
    close() {
      for (const of of agents.values()) for (const agent of Object.values(of)) agent.destroy();
    },
  };
}

const isAllowed = { own: isOwnAddress, public: isPublicAddress };

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
    reach === 'own'
      ? `${name} does not lead to this machine`
      : `${name} leads to no public address, and webhooks are sent to no other network`,
  );
}

/** The receiver closed a kept connection just as it was reused. */
function wasClosed(error: Error | undefined): boolean {
  return error !== undefined && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}
