/** What the service answers: as JSON or as a refusal in the error form of its world, then as bytes. */
import { constants, gzipSync } from 'node:zlib';
import { httpDate } from '../../domain/clock.ts';
import type { World } from './worlds.ts';

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

/** As captured; all but what each answer sets itself, and but what opens answers to pages of other sites. */
const standingHeaders = {
  server: 'nginx',
  vary: 'Accept-Encoding',
  'x-frame-options': 'SAMEORIGIN',
  'x-xss-protection': '1; mode=block',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'self'",
  'strict-transport-security': 'max-age=31556926; includeSubDomains; preload',
  'referrer-policy': 'strict-origin-when-cross-origin',
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

/** The parts of the service, each with an error form of its own. */
export type Area = 'accounting' | 'events' | 'auth';

/** The part that a path belongs to, whether or not something is there. */
export function areaOf(path: string): Area {
  const [, first] = path.split('/', 2);
  return first === 'events' || first === 'auth' ? first : 'accounting';
}

interface RefusalFacts {
  readonly status: number;
  /** The accounting area's own number. */
  readonly errno: number;
  readonly message: string;
  readonly object?: string;
  readonly field?: string;
  readonly value?: string;
  /** Lines of the events form. */
  readonly details?: readonly string[];
  /** Methods that would be allowed. */
  readonly allow?: readonly string[];
}

/** Refusals of the service, in the error form of its world. */
export class Refusal extends Error {
  readonly facts: RefusalFacts;

  constructor(facts: RefusalFacts) {
    super(facts.message);
    this.facts = facts;
  }
}

const semantic = 'The request was well-formed but was unable to be followed due to semantic errors.';

/** 422 about one field of a body. */
export function invalid(errno: number, object: string, field: string, problem: string, value?: string): Refusal {
  const facts = { status: 422, errno, object, field, message: problem, details: [`${field}: ${problem}`] };
  return new Refusal(value === undefined ? facts : { ...facts, value });
}

export function unknownResource(object: string, field: string, value: string): Refusal {
  const name = object.charAt(0).toUpperCase() + object.slice(1).replaceAll('_', ' ');
  return new Refusal({ status: 404, errno: 1012, object, field, value, message: `${name} not found.` });
}

export function denied(errno: number, message: string): Refusal {
  return new Refusal({ status: 403, errno, message });
}

export function unsupported(method: string, allow: readonly string[]): Refusal {
  return new Refusal({ status: 405, errno: 405, message: `Method ${method} is not allowed here.`, allow });
}

/** 404 for a path at which there is nothing. */
export function nothingThere(): Refusal {
  return new Refusal({ status: 404, errno: 404, message: 'Requested resource could not be found.' });
}

/** The refusal as this world words it on a path of this area. */
export function refusalReply({ facts }: Refusal, area: Area, world: World): Reply {
  const reply = wordedReply(facts, area, world);
  return facts.allow ? { ...reply, headers: { allow: facts.allow.join(', ') } } : reply;
}

const forms = { accounting: accountingForm, events: eventsForm, auth: authForm, rpc: rpcForm };

/** The refusal in the area's own form. */
export function areaReply({ facts }: Refusal, area: Area): Reply {
  return { status: facts.status, payload: forms[area](facts) };
}

function wordedReply(facts: RefusalFacts, area: Area, { errorForm }: World): Reply {
  if (errorForm === 'html') return htmlPage(facts.status);
  const isIn200 = errorForm === 'in200' || errorForm === 'object200';
  if (isIn200 && area === 'accounting')
    return { status: 200, payload: accountingForm(facts, errorForm === 'object200') };
  const others = isIn200 ? 'events' : errorForm;
  const form = area === 'auth' || errorForm === 'accounting' ? area : others;
  return { status: facts.status, payload: forms[form](facts) };
}

/** What a gateway in front of the service answers with. */
export function htmlPage(status: number): Reply {
  return { status, html: `<html>\n<head><title>${status}</title></head>\n<body><h1>${status}</h1></body>\n</html>\n` };
}

function accountingForm({ errno, field, message, object, value }: RefusalFacts, asObject = false): unknown {
  const error = dropUndefined({ errno, field, message, object, value });
  return { response: { errors: asObject ? error : [error] } };
}

function eventsForm({ status, message, details }: RefusalFacts): unknown {
  if (status === 404) return { errno: 404, message: 'Requested resource could not be found.' };
  return dropUndefined({ errno: status, message: status === 422 ? semantic : message, details });
}

function authForm({ status, message }: RefusalFacts): unknown {
  const errors: Record<number, string> = { 403: 'access_denied', 404: 'not_found', 429: 'slow_down' };
  return { error: errors[status] ?? 'invalid_request', error_description: message };
}

const rpcCodes: Record<number, number> = { 400: 3, 401: 16, 403: 7, 404: 5, 405: 12, 415: 3, 422: 3 };

function rpcForm({ status, errno, field, message, object, value }: RefusalFacts): unknown {
  return {
    code: rpcCodes[status] ?? 2,
    message: `Request failed with status_code: ${status}`,
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: String(errno),
        domain: 'accounting.api.service.example',
        metadata: dropUndefined({ object, message, value, field }),
      },
    ],
  };
}

function dropUndefined(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
