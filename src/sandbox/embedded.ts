/** A sandbox on a local port inside another program: for `serve`, the sandbox command and tests. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../domain/clock.ts';
import type { HttpLimits } from '../http/connection-limits.ts';
import { HttpServer, type HttpTakeover } from '../http/server.ts';
import type { Answer } from './core/reply.ts';
import { fetchPost, type Fetch } from './delivery/delivery-sender.ts';
import { Sandbox, type SandboxOptions } from './service.ts';
import { openWorldFile } from './world-file.ts';

export interface EmbeddedOptions extends Omit<SandboxOptions, 'accounts' | 'token'> {
  /** One or more accounts, each with as many vendors at first. */
  readonly account?: string | readonly string[];
  readonly token?: string;
  /** 127.0.0.1 unless said otherwise. */
  readonly host?: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  readonly clock: Clock;
  /** The file in which the world is kept, so that a second start finds it as it was left; default: none. */
  readonly file?: string;
  /** Carries deliveries. */
  readonly fetch: Fetch;
  /** Called with faults of the sandbox itself. */
  readonly onFault?: (error: unknown) => void;
}

export interface EmbeddedSandbox {
  readonly baseUrl: string;
  /** Its own name, whatever its port; empty where its world is not kept. */
  readonly id: string;
  readonly token: string;
  /** The first account. */
  readonly account: string;
  readonly sandbox: Sandbox;
  readonly stop: () => Promise<void>;
}

const sandboxAccount = '6BApk';
/** Valid in sandboxes only. */
export const sandboxToken = 'sandbox-token';

/** Starts a sandbox. Throws `port_taken`. */
export async function startEmbeddedSandbox(options: EmbeddedOptions): Promise<EmbeddedSandbox> {
  const { clock, fetch, host = '127.0.0.1', port = 0, token = sandboxToken } = options;
  const accounts = [options.account ?? sandboxAccount].flat();
  const world =
    options.file === undefined ? undefined : openWorldFile(options.file, options.seed ?? '', options.world?.records);
  const sandbox = new Sandbox(
    { ...options, accounts, token, ...(world && { memory: world }) },
    { clock, post: fetchPost(fetch, clock) },
  );
  const onFault = options.onFault ?? (() => undefined);
  const server = serveSandbox(sandbox, { host, port, clock, onFault });
  try {
    await server.start();
  } catch (error) {
    sandbox.stop();
    world?.close();
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
      world?.close();
    },
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
  options: { host: string; port: number; clock: Clock; onFault: (error: unknown) => void },
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
          const answer = await sandbox.handle(request);
          return answer.breakage ? broken(answer) : answer;
        },
      },
    ],
  });
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
