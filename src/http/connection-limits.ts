/**
 * Limits of an HTTP server: sizes, times, and connections, so that callers who keep theirs do not keep others out.
 *
 * At most 256 connections, and 32 from one remote address; trusted proxies may use all, because they forward for everybody. Who is one
 * follows from the address of the connection alone: headers such as X-Forwarded-For are not read, because anybody can write them. Beyond the
 * limit, the connection that has been idle longest is closed and the new one served, so idle ones cannot block the listener. A connection
 * that sends many requests without waiting for answers is closed: thousands fit into one packet, and all others would wait for them.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { trustedBy } from './networks.ts';

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** For one remote address that is not a trusted proxy. */
  readonly maxConnectionsPerAddress: number;
  /** Whether a proxy is at this remote address, which forwards for everybody. */
  readonly isProxy: (remoteAddress: string | undefined) => boolean;
  /** Requests after which a connection ends while more than half of `maxConnections` are open. */
  readonly maxRequestsWhenBusy: number;
  /** Requests of one connection without an answer; with one more it is closed, and the rest is not handled. */
  readonly maxUnanswered: number;
}

interface Connection {
  /** Requests without an answer. */
  readonly open: Set<IncomingMessage>;
  requests: number;
}

/**
 * Limits the connections of a server. A connection is idle while no complete request of it waits for an answer. For a new connection the
 * one that has been idle for longest is closed. Where all others are being answered, the new one is closed.
 */
export class ConnectionLimiter {
  readonly #limits: ConnectionLimits;
  /** The most recently answered last. */
  readonly #connections = new Map<Socket, Connection>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** A server whose connections are limited; `handle` gets its requests. */
  createServer(options: ServerOptions, handle: RequestListener): Server {
    const server = createServer(options, (request, response) => {
      if (this.#count(request, response)) handle(request, response);
    });
    return server.on('connection', (socket: Socket) => this.#admit(socket));
  }

  /** Whether a connection should end with its next answer: then its caller connects again, and others get their turn. */
  isToEnd(socket: Socket): boolean {
    const { maxConnections, maxRequestsWhenBusy } = this.#limits;
    const requests = this.#connections.get(socket)?.requests ?? 0;
    return requests >= maxRequestsWhenBusy && this.#connections.size > maxConnections / 2;
  }

  #admit(socket: Socket): void {
    const { isProxy, maxConnections, maxConnectionsPerAddress } = this.#limits;
    this.#connections.set(socket, { open: new Set(), requests: 0 });
    socket.once('close', () => this.#connections.delete(socket));
    const { remoteAddress } = socket;
    if (!isProxy(remoteAddress)) {
      const ofAddress = [...this.#connections.keys()].filter((other) => other.remoteAddress === remoteAddress);
      this.#closeOneOf(ofAddress, maxConnectionsPerAddress);
    }
    this.#closeOneOf([...this.#connections.keys()], maxConnections);
  }

  #closeOneOf(sockets: readonly Socket[], limit: number): void {
    if (sockets.length <= limit) return;
    const idle = sockets.find((socket) => ![...(this.#connections.get(socket)?.open ?? [])].some(isComplete));
    if (!idle) return;
    this.#connections.delete(idle);
    idle.destroy();
  }

  /** @returns whether the request may be handled. The parser goes on to the end of a packet, also after the connection was closed. */
  #count(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request;
    const connection = this.#connections.get(socket);
    if (!connection) return false;
    if (connection.open.size >= this.#limits.maxUnanswered) {
      socket.destroy();
      return false;
    }
    connection.requests += 1;
    connection.open.add(request);
    response.once('close', () => {
      connection.open.delete(request);
      if (this.#connections.delete(socket)) this.#connections.set(socket, connection);
    });
    return true;
  }
}

function isComplete({ complete }: IncomingMessage): boolean {
  return complete;
}

export interface HttpLimits extends ConnectionLimits {
  readonly connectionsCheckingInterval: number;
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  readonly maxHeaderSize: number;
  /** Requests with more headers are refused with 431; proxies add many. */
  readonly maxHeadersCount: number;
  readonly maxRequestsPerSocket: number;
  /** How long a stop waits for answers that are being sent, in milliseconds, before it closes their connections. */
  readonly stopGrace: number;
}

/** Times are in milliseconds. Without the short checking interval, Node would enforce no timeout for 15 s. */
export const defaultLimits: HttpLimits = {
  connectionsCheckingInterval: 1_000,
  headersTimeout: 5_000,
  requestTimeout: 8_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 8_192,
  maxHeadersCount: 256,
  maxRequestsPerSocket: 10_000,
  maxConnections: 256,
  maxConnectionsPerAddress: 32,
  isProxy: trustedBy([]),
  maxRequestsWhenBusy: 100,
  maxUnanswered: 16,
  stopGrace: 2_000,
};

const statuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Answers with a status and closes the connection: no timeout of the server applies to it any more, so it would stay open as long as the
 * caller keeps it.
 * @returns the status; undefined where the caller is already gone.
 */
export function refuseProtocol({ code = '' }: NodeJS.ErrnoException, socket: Socket): number | undefined {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const status = statuses[code] ?? '400 Bad Request';
  socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.destroySoon();
  return Number.parseInt(status, 10);
}
