/** A request as handlers see it. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

export interface HttpRequest {
  readonly method: string;
  /** As it was sent, without the query. */
  readonly path: string;
  /** What the `:name` parts of the route's path stand for, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Every value of each header, for those that may come only once. */
  readonly headersDistinct: NodeJS.Dict<string[]>;
  readonly body: Uint8Array;
  /** Aborted when the caller leaves before the answer. */
  readonly signal: AbortSignal;
}

/**
 * A request that arrived whole. What few handlers ask for is only made when asked for; by a class, because getters of an object literal
 * are made anew for each object, and would cost more than the rest of the request.
 */
export class Arrived implements HttpRequest {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(
    message: IncomingMessage,
    response: ServerResponse,
    params: Readonly<Record<string, string>>,
    body: Uint8Array = new Uint8Array(),
  ) {
    this.path = pathOf(message.url);
    this.params = params;
    this.body = body;
    this.#message = message;
    this.#response = response;
  }

  get method(): string {
    return this.#message.method ?? '';
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#message.url?.slice(this.path.length + 1));
  }

  get headers(): IncomingHttpHeaders {
    return this.#message.headers;
  }

  get headersDistinct(): NodeJS.Dict<string[]> {
    return this.#message.headersDistinct;
  }

  get signal(): AbortSignal {
    const left = new AbortController();
    this.#response.once('close', () => {
      if (!this.#response.writableFinished) left.abort(new Error('The caller left.'));
    });
    return left.signal;
  }
}

/** The path of an address as it was sent, without the query. */
export function pathOf(url = ''): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

/** The target of a request as servers are usually sent it: proxies may send the whole address (RFC 9112, 3.2.2). */
export function originForm(target = ''): string {
  const [, rest] = /^https?:\/\/[^/?#]+(.*)$/i.exec(target) ?? [];
  if (rest === undefined) return target;
  return rest.startsWith('/') ? rest : `/${rest}`;
}
