/** What the service answers: as JSON, then as bytes. */
import { constants, gzipSync } from 'node:zlib';
import { httpDate } from '../../domain/clock.ts';

/** A JSON payload, an HTML page, or nothing. */
export interface Reply {
  readonly status: number;
  readonly payload?: unknown;
  readonly html?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How an answer fails on its way; `after` counts bytes of the body that still arrive. */
export type Breakage =
  { readonly kind: 'hang' | 'reset' } | { readonly kind: 'stall' | 'truncate'; readonly after: number };

/** An answer as it is sent; what writes it to the socket also carries out the breakage. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly breakage?: Breakage;
}

/** As captured; all but what each answer sets itself. */
const standingHeaders = {
  server: 'nginx',
  vary: 'Accept-Encoding',
  'x-frame-options': 'SAMEORIGIN',
  'x-xss-protection': '1; mode=block',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'self'",
  'strict-transport-security': 'max-age=31556926; includeSubDomains; preload',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'access-control-allow-origin': '*',
  via: '1.1 google',
};

/** The reply as bytes, compressed if the caller takes gzip; `now` is milliseconds since 1970. */
export function encodeReply(reply: Reply, acceptEncoding: string, now: number): Answer {
  const text = reply.html ?? (reply.payload === undefined ? '' : JSON.stringify(reply.payload));
  const plain = Buffer.from(text);
  const compress = plain.length > 0 && /\bgzip\b/.test(acceptEncoding);
  const type = reply.html === undefined ? 'application/json' : 'text/html; charset=utf-8';
  const headers: Record<string, string> = { ...standingHeaders, date: httpDate(now) };
  if (plain.length > 0) headers['content-type'] = type;
  if (compress) headers['content-encoding'] = 'gzip';
  return {
    status: reply.status,
    headers: Object.assign(headers, reply.headers),
    body: compress ? gzipSync(plain, { level: constants.Z_BEST_SPEED }) : plain,
  };
}

/** A success in the service's envelope. */
export function success(result: unknown, status = 200): Reply {
  return { status, payload: { response: { result } } };
}

/** What a browser asks before it sends a request from a page of another origin: without a token, for none goes along. */
export function preflight(methods: readonly string[]): Reply {
  return {
    status: 204,
    headers: {
      allow: [...methods, 'OPTIONS'].join(', '),
      'access-control-allow-methods': methods.join(', '),
      'access-control-allow-headers': 'Authorization, Content-Type, Api-Version',
      'access-control-max-age': '600',
    },
  };
}

/** The answer to a deletion: an empty response, or none. */
export function deleted(status: '200' | '204'): Reply {
  return status === '204' ? { status: 204 } : { status: 200, payload: { response: {} } };
}
