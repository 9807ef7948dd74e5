/**
 * A sandbox on a local port inside another program: for `serve`, the sandbox command and tests.
 *
 * Pages that are open in a browser of this machine may neither read nor use it: its token is random, it answers no page of another site, nor
 * under any name that such a page could make its own, and it delivers to this machine alone. `cors` and `fetch` open these again.
 */
import type { ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Clock } from '../domain/clock.ts';
import type { HttpLimits } from '../http/connection-limits.ts';
import { isLoopbackAddress } from '../http/networks.ts';
import { AddressRefused, Poster } from '../http/post.ts';
import { HttpServer, type HttpAnswer, type HttpRequest, type HttpTakeover } from '../http/server.ts';
import type { Answer } from './core/reply.ts';
import { fetchPost, type Fetch } from './delivery/delivery-sender.ts';
import { Sandbox, type SandboxOptions } from './service.ts';
import { newToken, openWorldFile } from './world-file.ts';

export interface EmbeddedOptions extends Omit<SandboxOptions, 'accounts' | 'token'> {
  /** One or more accounts, each with as many vendors at first. */
  readonly account?: string | readonly string[];
  /** Default: that of the world's last start, or a new one. */
  readonly token?: string;
  /** 127.0.0.1 unless said otherwise. */
  readonly host?: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  readonly clock: Clock;
  /** The file in which the world is kept, so that a second start finds it as it was left; default: none. */
  readonly file?: string;
  /** Carries deliveries, to any address. Without it, they go to this machine alone. */
  readonly fetch?: Fetch | undefined;
  /** Called with faults of the sandbox itself. */
  readonly onFault?: (error: unknown) => void;
}

export interface EmbeddedSandbox {
  readonly baseUrl: string;
  /** Its own name, whatever its port; empty where its world is not kept. */
  readonly id: string;
  readonly token: string;
  readonly account: string;
  readonly sandbox: Sandbox;
  readonly stop: () => Promise<void>;
}

const sandboxAccount = '6BApk';

/** Starts a sandbox. Throws `port_taken`. */
export async function startEmbeddedSandbox(options: EmbeddedOptions): Promise<EmbeddedSandbox> {
  const { clock, cors = false, host = '127.0.0.1', port = 0 } = options;
  const accounts = [options.account ?? sandboxAccount].flat();
  const world =
    options.file === undefined
      ? undefined
      : openWorldFile(options.file, options.seed ?? '', options.world?.records, options.token);
  const token = world?.token ?? options.token ?? newToken();
  const poster = new Poster();
  const sandbox = new Sandbox(
    { ...options, accounts, token, ...(world && { memory: world }) },
    { clock, post: fetchPost(options.fetch ?? toThisMachine(poster), clock) },
  );
  const onFault = options.onFault ?? (() => undefined);
  const server = serveSandbox(sandbox, { host, port, clock, cors, onFault });
  const end = (): void => {
    poster.close();
    world?.close();
  };
  try {
    await server.start();
  } catch (error) {
    sandbox.stop();
    end();
    throw error;
  }
  return {
    id: world?.id ?? '',
    baseUrl: `http://${host}:${server.address.port}`,
    token,
    account: accounts[0] ?? sandboxAccount,
    sandbox,
    stop: async () => {
      sandbox.stop();
      await server.stop();
      end();
    },
  };
}

/** Refuses every address but those of this machine, whatever a name resolves to. */
function toThisMachine(poster: Poster): Fetch {
  return async (url, { headers, body, timeout, signal }) => {
    try {
      return { status: await poster.post({ url, reach: 'loopback', headers, body, timeout, signal }) };
    } catch (error) {
      if (!(error instanceof AddressRefused)) throw error;
      throw new Error(`${error.message}; to others, the sandbox delivers only with --deliver-anywhere`, {
        cause: error,
      });
    }
  };
}

/** Higher limits than those of a webhook listener. */
const limits: Partial<HttpLimits> = {
  requestTimeout: 60_000,
  keepAliveTimeout: 30_000,
  maxRequestsPerSocket: 0,
  maxConnections: 2_000,
  maxConnectionsPerAddress: 2_000,
  stopGrace: 500,
};

/** The sandbox on a port: sends its answers, and breaks off those that are to fail. */
function serveSandbox(
  sandbox: Sandbox,
  options: { host: string; port: number; clock: Clock; cors: boolean; onFault: (error: unknown) => void },
): HttpServer {
  return new HttpServer({
    ...options,
    name: 'the sandbox',
    portSetting: '`vendor-mirror sandbox --port N`',
    limits,
    routes: [
      {
        method: '*',
        path: '*',
        async handle(request) {
          const refused = options.cors ? undefined : refuseForeign(request, options.host);
          if (refused) return refused;
          const answer = await sandbox.handle(request);
          return answer.breakage ? broken(answer) : answer;
        },
      },
    ],
  });
}

/** What is refused without `cors`: a page of another site, and a name that is not the sandbox's own. */
function refuseForeign({ headers, headersDistinct }: HttpRequest, host: string): HttpAnswer | undefined {
  const [sent = '', ...others] = headersDistinct['host'] ?? [];
  if (others.length > 0 || !isOwnName(sent, host)) return refusals[421];
  const { origin } = headers;
  return origin === undefined || /^https?:\/\/(.+)$/.exec(origin)?.[1] === sent ? undefined : refusals[403];
}

/**
 * Whether a Host header names this machine, or what it was told to listen on. Where that is open to others, also any address, and a name
 * without a dot, as containers have: no page can make these its own.
 */
function isOwnName(sent: string, host: string): boolean {
  const name = /^(?:\[([0-9a-f:.]+)\]|([\w.-]+))(?::\d+)?$/i.exec(sent);
  const own = (name?.[1] ?? name?.[2] ?? '').toLowerCase();
  if (own === 'localhost' || isLoopbackAddress(own) || own === host.toLowerCase()) return true;
  const isOpen = host !== 'localhost' && !isLoopbackAddress(host);
  return isOpen && (isIP(own) !== 0 || /^[\w-]+$/.test(own));
}

const refusals = {
  403: refusal(403, 'The sandbox answers no page of another site. Start it with --cors to let pages ask.'),
  421: refusal(
    421,
    'The sandbox answers under its own address only. Ask for that, name this one with --host, or start it with --cors.',
  ),
};

function refusal(status: number, text: string): HttpAnswer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `${text}\n` };
}

function broken({ status, headers, body, breakage }: Answer): HttpTakeover {
  return (response: ServerResponse) => {
    switch (breakage?.kind) {
      case 'reset':
        response.socket?.resetAndDestroy();
        return;
      case 'stall':
        response.writeHead(status, headers).write(body.subarray(0, breakage.after));
        return;
      case 'truncate':
        response.writeHead(status, headers).write(body.subarray(0, breakage.after), () => response.destroy());
        return;
      case 'hang':
      case undefined:
    }
  };
}
