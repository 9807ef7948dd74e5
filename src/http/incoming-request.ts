/** A request as handlers see it. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

export interface HttpRequest {
  readonly method: string;
  /** The path as sent, without the query. */
  readonly path: string;
  /** The values of the `:name` parts of the route's path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** All values of each header, for headers that may occur only once. */
  readonly headersDistinct: NodeJS.Dict<string[]>;
  /** Names and values in turn, as they were received. */
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
  /** Aborted when the caller disconnects before the answer is sent. */
  readonly signal: AbortSignal;
}

/**
 * A complete request. Values that few handlers need are computed on demand. It is a class because the getters of an object literal are
 * created for each object, which costs more than the rest of the request.
 */
export class ReceivedRequest implements HttpRequest {
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

  get rawHeaders(): readonly string[] {
    return this.#message.rawHeaders;
  }

  get signal(): AbortSignal {
    const disconnected = new AbortController();
    this.#response.once('close', () => {
      if (!this.#response.writableFinished) disconnected.abort(new CallerDisconnected());
    });
    return disconnected.signal;
  }
}

/** Why the signal of a request was aborted. Not a fault: nobody waits for the answer any more. */
export class CallerDisconnected extends Error {
  constructor() {
    super('The caller disconnected.');
  }
}

/** The path of a URL as sent, without the query. */
export function pathOf(url = ''): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

/** The request target in origin form; proxies may send the absolute URL (RFC 9112, 3.2.2). */
export function originForm(target = ''): string {
  const [, rest] = /^https?:\/\/[^/?#]+(.*)$/i.exec(target) ?? [];
  if (rest === undefined) return target;
  return rest.startsWith('/') ? rest : `/${rest}`;
}
