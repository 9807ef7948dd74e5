/**
 * An HTTP server with limits, by fastify: the only file that imports it.
 *
 * HTTP/1.0 and 1.1 only: a request line in HTTP/1 syntax that names HTTP/0.9 or HTTP/2.0 is refused, although the parser would accept it.
 */
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest, type HTTPMethods } from 'fastify';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../domain/clock.ts';
import { MirrorError } from '../domain/errors.ts';
import type { Service } from '../domain/concurrency.ts';
import { ConnectionLimiter, defaultLimits, refuseProtocol, type HttpLimits } from './connection-limits.ts';

/** A request as handlers see it. */
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

export interface HttpAnswer {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
}

/** Takes over the raw response: for a stream of events, or an answer that is broken on purpose. */
export type HttpTakeover = (response: ServerResponse) => void;

export interface HttpRoute {
  readonly method: 'GET' | 'POST' | '*';
  /** `/exact`, `/with/:param`, `/below/*`, or `*` for everything that no other route answers. */
  readonly path: string;
  /** Runs first; a returned status refuses the request without reading its body. */
  readonly admit?: (request: Pick<HttpRequest, 'path' | 'headers'>) => number | undefined;
  /** Media types of bodies that are accepted; any when left out. Others, and encoded bodies, are refused with 415. */
  readonly accepts?: readonly string[];
  /** Largest body in bytes; a larger one is refused with 413. */
  readonly bodyLimit?: number;
  readonly handle: (request: HttpRequest) => Promise<HttpAnswer | HttpTakeover>;
}

export type RefusedRequest = Pick<HttpRequest, 'method' | 'path' | 'headers'>;

export interface HttpServerOptions {
  /** The server's name in messages: 'the listener', 'the admin page'. */
  readonly name: string;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** What a person changes to choose another port, for the error where it is taken. */
  readonly portSetting: string;
  readonly limits?: Partial<HttpLimits>;
  readonly routes: readonly HttpRoute[];
  readonly clock: Clock;
  /** Called with what a handler threw; the caller gets a 500 without a body. */
  readonly onFault: (error: unknown) => void;
  /** Called with the status of each refusal that no handler made, and with the request where it could be read. */
  readonly onRefusal?: ((status: number, request?: RefusedRequest) => void) | undefined;
  /** Called when a stop begins, to end endless answers. */
  readonly onStop?: () => void;
}

/**
 * An HTTP server. It refuses, without a body, unknown paths (404), other methods of a known path (405), other media types (415), too large
 * bodies (413) and requests that break the protocol (400, 408, 431).
 */
export class HttpServer implements Service {
  readonly name: string;
  readonly #options: HttpServerOptions;
  readonly #limits: HttpLimits;
  #app: FastifyInstance | undefined;
  #isStopping = false;

  constructor(options: HttpServerOptions) {
    this.name = options.name;
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
  }

  /** The address it listens on, once started. */
  get address(): { readonly host: string; readonly port: number } {
    const address = this.#app?.server.address() as AddressInfo | null | undefined;
    if (!address) throw new Error(`${this.name} does not listen.`);
    return { host: address.address, port: address.port };
  }

  get listening(): boolean {
    return this.#app?.server.listening === true;
  }

  /** @throws MirrorError `port_taken`; `settings_invalid` for a host that is none of this machine. */
  async start(): Promise<void> {
    const { host, port } = this.#options;
    this.#isStopping = false;
    this.#app = createApp(this.#options, this.#limits, () => this.#isStopping);
    try {
      await listenOn(this.#app, host, port);
    } catch (error) {
      throw portError(this.#options, error);
    }
  }

  async stop(): Promise<void> {
    const { clock, onStop } = this.#options;
    const app = this.#app;
    if (!app) return;
    this.#app = undefined;
    this.#isStopping = true;
    onStop?.();
    const cancel = clock.timer(this.#limits.stopGrace, () => app.server.closeAllConnections());
    await app.close();
    await closed(app.server);
    cancel();
  }
}

/**
 * Listens without fastify on all addresses of IPv4: it would ask for the interfaces of the machine, to log them, which restrictions of a
 * service manager may forbid.
 */
async function listenOn(app: FastifyInstance, host: string, port: number): Promise<void> {
  if (host === '0.0.0.0') {
    await app.ready();
    app.server.listen({ host, port });
    await once(app.server, 'listening');
  } else await app.listen({ host, port });
}

/** Resolves when the server has ended its last connection, also where fastify did not let it listen. */
async function closed(server: Server): Promise<void> {
  if (!server.listening) return;
  const ended = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  await ended;
}

/** What is wrong with the host itself: only other settings help. */
const hostTroubles: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'no such name is known',
  EINVAL: 'that is no address',
};

const portTroubles: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'this user may not listen there',
  EAI_AGAIN: 'the name server does not answer',
};

function portError({ name, host, port, portSetting }: HttpServerOptions, cause: unknown): unknown {
  const { code = '' } = cause as NodeJS.ErrnoException;
  const [why, wrong] = [portTroubles[code], hostTroubles[code]];
  if (wrong !== undefined)
    return new MirrorError(
      'settings_invalid',
      `${name} cannot listen on ${host}:${port}: ${wrong}. Its host should be an address of this machine, such as 127.0.0.1.`,
      { cause },
    );
  if (why === undefined) return cause;
  const text = `${name} cannot listen on ${host}:${port}: ${why}. To choose another port: ${portSetting}.`;
  return new MirrorError('port_taken', text, { cause });
}

/** No route has a schema. Without this, fastify loads the packages that compile schemas at each start, more than a hundred files. */
const withoutSchemas = { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } };

function refuseSchema(): never {
  throw new Error('Routes have no schemas here.');
}

function createApp(
  { routes, onFault, onRefusal }: HttpServerOptions,
  limits: HttpLimits,
  isStopping: () => boolean,
): FastifyInstance {
  const connections = new ConnectionLimiter(limits);
  const app: FastifyInstance = fastify({
    schemaController: withoutSchemas,
    serverFactory(handle) {
      const server = connections.createServer(limits, handle);
      server.maxRequestsPerSocket = limits.maxRequestsPerSocket;
      // Node itself would drop the headers beyond the limit, and treat the rest as all.
      server.maxHeadersCount = 0;
      return server;
    },
    clientErrorHandler: (error, socket) => {
      const status = refuseProtocol(error, socket);
      if (status !== undefined) onRefusal?.(status);
    },
    rewriteUrl: ({ url }) => originForm(url),
    frameworkErrors: (_error, _request, reply) => void (reply as FastifyReply).code(400).send(),
  });

  // The parser accepts requests that claim HTTP/0.9 or HTTP/2.0, which a proxy may interpret differently.
  app.addHook('onRequest', (request, reply, done) => {
    const { httpVersionMajor, rawHeaders } = request.raw;
    if (httpVersionMajor !== 1) refuse(request, reply.header('connection', 'close'), 400);
    else if (rawHeaders.length > 2 * limits.maxHeadersCount) refuse(request, reply, 431);
    else done();
  });

  // A kept-alive connection would delay the stop until its timeout.
  app.addHook('onSend', (request, reply, payload, done) => {
    if (isStopping() || connections.isToEnd(request.raw.socket)) reply.header('connection', 'close');
    done(null, payload);
  });

  app.decorateRequest('handled', false);
  app.addHook('onResponse', (request, reply, done) => {
    const { handled, method, url, headers } = request;
    if (!handled) onRefusal?.(reply.statusCode, { method, path: pathOf(url), headers });
    done();
  });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setNotFoundHandler((request, reply) => refuse(request, reply, 404));
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500 && !(error instanceof CallerDisconnected)) onFault(error);
    return reply.code(status).send();
  });
  for (const route of routes) addRoute(app, route);
  for (const path of new Set(routes.map((route) => route.path)))
    if (!path.endsWith('*')) refuseOtherMethods(app, path, routes);
  return app;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the request reached a handler. */
    handled: boolean;
  }
}

function addRoute(app: FastifyInstance, route: HttpRoute): void {
  app.route({
    method: route.method === '*' ? (app.supportedMethods as HTTPMethods[]) : route.method,
    url: route.path,
    ...(route.bodyLimit === undefined ? {} : { bodyLimit: route.bodyLimit }),
    onRequest: (request, reply, done) => {
      const { headers } = request;
      const status =
        route.admit?.({ path: pathOf(request.url), headers }) ?? (readable(headers, route.accepts) ? 0 : 415);
      if (status) refuse(request, reply, status);
      else done();
    },
    handler: async (request, reply) => {
      request.handled = true;
      const { raw, params, body } = request;
      const received = new ReceivedRequest(
        raw,
        reply.raw,
        params as Record<string, string>,
        body as Uint8Array | undefined,
      );
      const answer = await route.handle(received);
      if (typeof answer !== 'function')
        return reply
          .code(answer.status)
          .headers(answer.headers ?? {})
          .send(answer.body);
      reply.hijack();
      answer(reply.raw);
      return reply;
    },
  });
}

function refuseOtherMethods(app: FastifyInstance, path: string, routes: readonly HttpRoute[]): void {
  const answered: string[] = routes.filter((route) => route.path === path).map(({ method }) => method);
  if (answered.includes('GET')) answered.push('HEAD');
  app.route({
    method: app.supportedMethods.filter((method) => !answered.includes(method)),
    url: path,
    onRequest: (request, reply) => void refuse(request, reply.header('allow', answered.join(', ')), 405),
    handler: (_request, reply) => reply,
  });
}

function readable(headers: IncomingHttpHeaders, accepts: readonly string[] | undefined): boolean {
  if (!accepts) return true;
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return accepts.includes(type) && headers['content-encoding'] === undefined;
}

/** Answers with the status alone; does not wait for a body that is still arriving. */
function refuse({ headers }: FastifyRequest, reply: FastifyReply, status: number): FastifyReply {
  const bodyComes = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (bodyComes) reply.header('connection', 'close');
  return reply.code(status).send();
}

/**
 * A complete request. Values that few handlers need are computed on demand. It is a class because the getters of an object literal are
 * created for each object, which costs more than the rest of the request.
 */
class ReceivedRequest implements HttpRequest {
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
class CallerDisconnected extends Error {
  constructor() {
    super('The caller disconnected.');
  }
}

/** The path of a URL as sent, without the query. */
function pathOf(url = ''): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

/** The request target in origin form; proxies may send the absolute URL (RFC 9112, 3.2.2). */
function originForm(target = ''): string {
  const [, rest] = /^https?:\/\/[^/?#]+(.*)$/i.exec(target) ?? [];
  if (rest === undefined) return target;
  return rest.startsWith('/') ? rest : `/${rest}`;
}
