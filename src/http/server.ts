/** An HTTP server with limits. The only file that imports fastify. */
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest, type HTTPMethods } from 'fastify';
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../domain/clock.ts';
import { MirrorError } from '../domain/errors.ts';
import { limitConnections } from './connection-limits.ts';
import { defaultLimits, type HttpLimits } from './limits.ts';
import { refuseProtocol } from './protocol-errors.ts';
import { Arrived, CallerLeft, originForm, pathOf, type HttpRequest } from './incoming-request.ts';
import type { Service } from '../domain/lifecycle.ts';

export type { HttpLimits, HttpRequest };

export interface HttpAnswer {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
}

/** Takes over the raw response: for a stream of events, or an answer that is broken on purpose. */
export type HttpTakeover = (response: ServerResponse) => void;

export interface HttpRoute {
  readonly method: 'GET' | 'POST' | '*';
  /** `/exact`, `/with/:param`, or `*` for everything. */
  readonly path: string;
  /** Runs first; a returned status refuses the request without reading its body. */
  readonly admit?: (request: Pick<HttpRequest, 'path' | 'headers'>) => number | undefined;
  /** Media types of bodies that are accepted; any when left out. Others, and encoded bodies, are refused with 415. */
  readonly accepts?: readonly string[];
  /** Largest body in bytes; a larger one is refused with 413. */
  readonly bodyLimit?: number;
  readonly handle: (request: HttpRequest) => Promise<HttpAnswer | HttpTakeover>;
}

export interface HttpServerOptions {
  /** The server's name in messages: 'the listener', 'the admin page'. */
  readonly name: string;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly routes: readonly HttpRoute[];
  readonly limits?: Partial<HttpLimits>;
  readonly clock: Clock;
  /** Called with what a handler threw; the caller gets a 500 without a body. */
  readonly onFault: (error: unknown) => void;
  /** Called when a stop begins, to end endless answers. */
  readonly onStop?: () => void;
  /** Called with the status of each refusal that no handler made. */
  readonly onRefusal?: (status: number) => void;
}

export interface HttpServer extends Service {
  /** The address it listens on, once started. */
  readonly address: { readonly host: string; readonly port: number };
  /** Whether it accepts connections. */
  readonly listening: boolean;
}

/**
 * An HTTP server. It refuses, without a body, unknown paths (404), other methods of a known path (405), other media types (415), too large
 * bodies (413) and requests that break the protocol (400, 408, 431). `start` throws MirrorError `port_taken`.
 */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const limits = { ...defaultLimits, ...options.limits };
  let app: FastifyInstance | undefined;
  let stopping = false;
  return {
    name: options.name,
    get address() {
      const address = app?.server.address() as AddressInfo | null | undefined;
      if (!address) throw new Error(`${options.name} does not listen.`);
      return { host: address.address, port: address.port };
    },
    get listening() {
      return app?.server.listening === true;
    },
    async start() {
      stopping = false;
      app = createApp(options, limits, () => stopping);
      try {
        await app.listen({ host: options.host, port: options.port });
      } catch (error) {
        throw portError(options, error);
      }
    },
    async stop() {
      const running = app;
      if (!running) return;
      app = undefined;
      stopping = true;
      options.onStop?.();
      const cancel = options.clock.timer(limits.stopGrace, () => running.server.closeAllConnections());
      await running.close();
      cancel();
    },
  };
}

const portTroubles: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'this user may not listen there',
  EADDRNOTAVAIL: 'this machine has no such address',
};

function portError({ name, host, port }: HttpServerOptions, cause: unknown): unknown {
  const why = portTroubles[(cause as NodeJS.ErrnoException).code ?? ''];
  return why ? new MirrorError('port_taken', `${name} cannot listen on ${host}:${port}: ${why}.`, { cause }) : cause;
}

/** No route has a schema. Without this, fastify loads the packages that compile schemas at each start, more than a hundred files. */
const withoutSchemas = { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } };

function refuseSchema(): never {
  throw new Error('Routes have no schemas here.');
}

function createApp(options: HttpServerOptions, limits: HttpLimits, isStopping: () => boolean): FastifyInstance {
  const tell = (status: number | undefined): void => {
    if (status !== undefined) options.onRefusal?.(status);
  };
  const app: FastifyInstance = fastify({
    schemaController: withoutSchemas,
    keepAliveTimeout: limits.keepAliveTimeout,
    requestTimeout: limits.requestTimeout,
    maxRequestsPerSocket: limits.maxRequestsPerSocket,
    http: {
      connectionsCheckingInterval: limits.connectionsCheckingInterval,
      headersTimeout: limits.headersTimeout,
      maxHeaderSize: limits.maxHeaderSize,
    },
    clientErrorHandler: (error, socket) => tell(refuseProtocol(error, socket)),
    rewriteUrl: ({ url }) => originForm(url),
    frameworkErrors: (_error, _request, reply) => void (reply as FastifyReply).code(400).send(),
  });
  limitConnections(app.server, limits);
  // Node itself would drop the headers beyond the limit, and treat the rest as all.
  app.server.maxHeadersCount = 0;

  // The parser accepts requests that claim HTTP/0.9 or HTTP/2.0, which a proxy may interpret differently.
  app.addHook('onRequest', (request, reply, done) => {
    const { httpVersionMajor, rawHeaders } = request.raw;
    if (httpVersionMajor !== 1) refuse(request, reply.header('connection', 'close'), 400);
    else if (rawHeaders.length > 2 * limits.maxHeadersCount) refuse(request, reply, 431);
    else done();
  });

  // A kept-alive connection would delay the stop until its timeout.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isStopping()) reply.header('connection', 'close');
    done(null, payload);
  });

  app.decorateRequest('handled', false);
  app.addHook('onResponse', (request, reply, done) => {
    if (!request.handled) tell(reply.statusCode);
    done();
  });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setNotFoundHandler((request, reply) => refuse(request, reply, 404));
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500 && !(error instanceof CallerLeft)) options.onFault(error);
    return reply.code(status).send();
  });
  for (const route of options.routes) addRoute(app, route);
  for (const path of new Set(options.routes.map((route) => route.path))) refuseOtherMethods(app, path, options.routes);
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
      const arrived = new Arrived(raw, reply.raw, params as Record<string, string>, body as Uint8Array | undefined);
      const answer = await route.handle(arrived);
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
  if (answered.includes('*')) return;
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
