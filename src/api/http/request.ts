/** One HTTP exchange, limited in time and size, without redirects and without logging. Every request to the service goes through here. */
import { totalmem } from 'node:os';
import type { Clock } from '../../domain/clock.ts';
import { unlessAborted } from '../../domain/concurrency.ts';
import { MirrorError } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';

/** The part of `fetch` that is used. */
export type Fetch = (url: URL, request: FetchRequest) => Promise<FetchedAnswer>;

export interface FetchRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly redirect: 'manual';
  /** Milliseconds after which `signal` ends the request where no headers have come. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

export interface FetchedAnswer {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  /** Decoded. */
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** The share of the memory that a list may take; it is held twice while it is put together. */
const memoryShare = 1 / 16;

/**
 * The largest list, in decoded bytes: some services show all rows on one page, whatever size is asked for. @param memory of the machine, or of
 * the container, in bytes
 */
export function maxListBody(memory = (knownMemory ??= memoryHere())): number {
  return Math.min(limits.list, Math.max(limits.answer, Math.floor(memory * memoryShare)));
}

/** Read once: the system reads files to tell it, and each page of a list asks. */
let knownMemory: number | undefined;

function memoryHere(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

export interface Exchange {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The largest answer, in decoded bytes; 8 MB by default. */
  readonly maxAnswer?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ExchangeDependencies {
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** Time limit to the headers, and again to the end of the body, in milliseconds. */
  readonly timeout: number;
}

/** An answer of any status, with its body decompressed (gzip, brotli) but not parsed. */
export interface Answer {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  readonly bytes: Uint8Array;
}

/**
 * Sends one request and reads its complete answer.
 * @throws MirrorError `service_unreachable`, `service_timeout`, `redirected`, `answer_too_large`, or `answer_unreadable` where the body
 * breaks off; the reason of `signal`, unchanged, when it is aborted.
 */
export async function exchange(request: Exchange, dependencies: ExchangeDependencies): Promise<Answer> {
  const { url, signal, maxAnswer = limits.answer } = request;
  signal?.throwIfAborted();
  const stopper = new AbortController();
  const onAbort = (): void => stopper.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const deadline = (what: string): (() => void) =>
    dependencies.clock.timer(dependencies.timeout, () => stopper.abort(tooSlow(url.host, what, dependencies.timeout)));
  let disarm = deadline('did not answer');
  try {
    // Whatever the network does: a read may never settle after a damaged body.
    const answered = dependencies.fetch(url, {
      method: request.method,
      headers: { ...request.headers },
      ...(request.body !== undefined && { body: request.body }),
      redirect: 'manual',
      timeout: dependencies.timeout,
      signal: stopper.signal,
    });
    const response = await unlessAborted(answered, stopper.signal);
    disarm();
    refuseRedirect(url, response);
    disarm = deadline('began its answer but did not finish it');
    return {
      status: response.status,
      headers: response.headers,
      bytes: await unlessAborted(bodyOf(response, url.host, maxAnswer), stopper.signal),
    };
  } catch (error) {
    if (stopper.signal.aborted) throw stopper.signal.reason;
    stopper.abort();
    throw error instanceof MirrorError ? error : unreachable(url.host, error);
  } finally {
    disarm();
    signal?.removeEventListener('abort', onAbort);
  }
}

function tooSlow(host: string, what: string, timeout: number): MirrorError {
  return new MirrorError('service_timeout', `${host} ${what} within ${timeout / 1_000} s.`);
}

/** Redirects are not followed: they would send the token to another address. */
function refuseRedirect(request: URL, response: FetchedAnswer): void {
  if (response.status < 300 || response.status > 399) return;
  if (response.status === 304)
    throw new MirrorError('answer_unreadable', `${request.host} answered with status 304: not modified.`, {
      status: response.status,
      remedy:
        'No request asked whether anything was modified: a cache or proxy on the way answers so. Ask whoever runs it, and try again later.',
    });
  const location = response.headers.get('location') ?? '';
  const origin = URL.canParse(location, request.href) ? new URL(location, request).origin : undefined;
  if (origin === request.origin)
    throw new MirrorError(
      'redirected',
      `${request.host} answered with a redirect to another of its own addresses, which was not followed.`,
      {
        status: response.status,
        remedy:
          'Check the path in the settings (service.baseUrl, or tokenUrl). If it is right, something before the service answers in its place, such as the login page of a proxy.',
      },
    );
  const target = origin === undefined ? '' : ` to ${origin}`;
  throw new MirrorError('redirected', `${request.host} answered with a redirect${target}, which was not followed.`, {
    status: response.status,
  });
}

async function bodyOf({ body }: FetchedAnswer, host: string, max: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body ?? []) {
      size += chunk.byteLength;
      if (size > max) throw tooLarge(host, max);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof MirrorError) throw error;
    const code = networkCode(error);
    throw new MirrorError(
      'answer_unreadable',
      `The answer of ${host} broke off after ${size} bytes${code && ` (${code})`}.`,
      { remedy: 'It was cut off on its way, or is compressed otherwise than it says; try again later.' },
    );
  }
  const [first] = chunks;
  return chunks.length === 1 && first ? first : Buffer.concat(chunks, size);
}

function tooLarge(host: string, max: number): MirrorError {
  return new MirrorError(
    'answer_too_large',
    `The answer of ${host} is larger than ${Math.floor(max / 1_048_576)} MB, which is more than it may be here.`,
  );
}

/** Network errors in words, and whether the request can have reached the service. */

/** Nobody was reached. */
const noConnection: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'its name is unknown to the name server',
  EAI_AGAIN: 'the name server does not answer',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no network',
  UND_ERR_CONNECT_TIMEOUT: 'no connection was made in time',
};

/** Whoever was reached did not prove to be the service. */
const untrusted: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its TLS certificate has expired (or the clock of this machine is wrong)',
  CERT_NOT_YET_VALID: 'its TLS certificate is not valid yet (or the clock of this machine is wrong)',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its TLS certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its TLS certificate is signed by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its TLS certificate is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its TLS certificate is signed by an unknown authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its TLS certificate is for another name',
};

/** Errors before a connection existed: the service has seen nothing of the request. */
const beforeConnection = { ...noConnection, ...untrusted };

const onConnection: Readonly<Record<string, string>> = {
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the connection was closed early',
};

/** The code of `TunnelRefused`: the status of the proxy's answer. */
const tunnelRefused = /^PROXY_(\d+)$/;

/** Certificates of an unknown authority. */
const unknownAuthority = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

const byCause: Readonly<Record<string, string>> = {
  ENOTFOUND: 'Check the spelling of the name and the name server of this machine (/etc/resolv.conf).',
  EAI_AGAIN: 'Check the name server of this machine (/etc/resolv.conf), and its network.',
  ECONNREFUSED: 'Check the port, and whether a firewall or proxy blocks it.',
  CERT_HAS_EXPIRED: 'Renew the certificate of the server; if it has not expired, set the clock of this machine.',
  CERT_NOT_YET_VALID: 'Set the clock of this machine.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Use the host name of the certificate.',
};

/** What to do about a connection that failed; undefined where its cause is not known. */
function remedyFor(code: string, proxy: string | undefined): string | undefined {
  if (unknownAuthority.has(code))
    return 'If you trust its authority, put that certificate into a file, and name the file in the environment variable NODE_EXTRA_CA_CERTS.';
  if (proxy !== undefined && (code in noConnection || tunnelRefused.test(code)))
    return 'Check the proxy in the environment variable HTTPS_PROXY, or list the host in NO_PROXY if it is reached without one.';
  return byCause[code];
}

/** How codes of a parser begin that could not read the head of an answer. */
const notHttp = 'HPE_';

/**
 * A `service_unreachable` for whatever fetch threw, or an `answer_unreadable` where something answered, but not in HTTP. The original error is
 * not kept, because it may contain headers.
 */
export function unreachable(host: string, error: unknown): MirrorError {
  const code = networkCode(error);
  const proxy = error instanceof ProxyFault ? error.proxy : undefined;
  const where = proxy === undefined ? host : `${host} through the proxy ${proxy}`;
  if (code.startsWith(notHttp)) {
    const what = code === 'HPE_HEADER_OVERFLOW' ? 'larger headers than HTTP programs take' : 'what is not correct HTTP';
    return new MirrorError('answer_unreadable', `${where} answered with ${what} (${code}).`, {
      remedy:
        'Check the port and the path in service.baseUrl. If they are right, ask whoever runs the service, or a proxy before it.',
    });
  }
  const attempts = attemptsOf(error);
  const each = attempts.map(({ address, code }) => `${address}: ${wordsFor(code)}`).join('; ');
  return new MirrorError('service_unreachable', `Could not reach ${where}: ${each || wordsFor(code)}.`, {
    // Where each address was tried, there was no connection.
    cause: new NetworkFault(code, proxy, attempts.length > 0),
    remedy: remedyFor(code, proxy),
  });
}

function wordsFor(code: string): string {
  const status = tunnelRefused.exec(code)?.[1];
  if (status === '407') return 'the proxy requires a user name and a password (407)';
  if (status !== undefined) return `the proxy made no connection to it and answered ${status}`;
  if (/^(ERR_SSL_|EPROTO$)/.test(code)) return `it does not speak TLS as this program does (${code})`;
  return beforeConnection[code] ?? onConnection[code] ?? `the connection failed${code && ` (${code})`}`;
}

/** The proxy gave no tunnel, but an answer of its own. */
export class TunnelRefused extends Error {
  override readonly name = 'TunnelRefused';
  readonly code: string;

  constructor(status = 0) {
    super(`The proxy answered ${status}.`);
    this.code = `PROXY_${status}`;
  }
}

/** What went wrong on the way through a proxy, which `proxy` names by host and port. */
export class ProxyFault extends Error {
  override readonly name = 'ProxyFault';
  readonly proxy: string;

  constructor(proxy: string, cause: unknown) {
    super('The request failed on its way through a proxy.', { cause });
    this.proxy = proxy;
  }
}

/** The code of a network error (ECONNRESET, …) without any data of the request. */
class NetworkFault extends Error {
  override readonly name = 'NetworkFault';
  readonly code: string;
  readonly proxy: string | undefined;
  readonly isUnconnected: boolean;

  constructor(code: string, proxy: string | undefined, isUnconnected: boolean) {
    super(code || 'unknown');
    this.code = code;
    this.proxy = proxy;
    this.isUnconnected = isUnconnected;
  }
}

/** Whether the failed request certainly did not reach the service, so that even a creation may be retried. */
export function neverArrived(error: MirrorError): boolean {
  return (
    error.cause instanceof NetworkFault &&
    (error.cause.isUnconnected || error.cause.code in beforeConnection || tunnelRefused.test(error.cause.code))
  );
}

/** What became of each address of a name that has several. */
function attemptsOf(error: unknown): { readonly address: string; readonly code: string }[] {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1)
    if (at instanceof AggregateError)
      return at.errors.flatMap((one: unknown) =>
        one instanceof Error && 'address' in one && typeof one.address === 'string'
          ? [{ address: one.address, code: networkCode(one) }]
          : [],
      );
  return [];
}

/** The code of the innermost cause. fetch wraps its errors, and several addresses give an AggregateError. */
export function networkCode(error: unknown): string {
  let code = '';
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const named: unknown = 'code' in at ? at.code : undefined;
    const bundled: unknown = at instanceof AggregateError ? at.errors[0] : undefined;
    if (typeof named === 'string' && /^[A-Z][A-Z0-9_]{0,60}$/.test(named)) code = named;
    else if (bundled instanceof Error) code = networkCode(bundled) || code;
  }
  return code;
}
