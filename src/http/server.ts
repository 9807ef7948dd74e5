/**
 * An HTTP server with limits.
 *
 * HTTP/1.0 and 1.1 only: a request line in HTTP/1 syntax that names HTTP/0.9 or HTTP/2.0 is refused, although the parser would accept it.
 */
import type { FastifyInstance } from 'fastify';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../domain/clock.ts';
import { MirrorError } from '../domain/errors.ts';
import type { Service } from '../domain/lifecycle.ts';
import {
  createApp,
  type AppOptions,
  type HttpAnswer,
  type HttpRoute,
  type HttpTakeover,
  type HttpRequest,
} from './fastify-app.ts';
import { defaultLimits, type HttpLimits } from './connection-limits.ts';

export type { HttpAnswer, HttpLimits, HttpRequest, HttpRoute, HttpTakeover };

export interface HttpServerOptions extends Pick<AppOptions, 'routes' | 'onFault' | 'onRefusal'> {
  /** The server's name in messages: 'the listener', 'the admin page'. */
  readonly name: string;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly limits?: Partial<HttpLimits>;
  readonly clock: Clock;
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

  /** Whether it accepts connections. */
  get listening(): boolean {
    return this.#app?.server.listening === true;
  }

  /** @throws MirrorError `port_taken`. */
  async start(): Promise<void> {
    const { host, port, routes, onFault, onRefusal } = this.#options;
    this.#isStopping = false;
    const isStopping = (): boolean => this.#isStopping;
    this.#app = createApp({ routes, limits: this.#limits, onFault, onRefusal, isStopping });
    try {
      await this.#app.listen({ host, port });
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
    cancel();
  }
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
