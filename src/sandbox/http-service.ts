/** The sandbox on a port: sends its answers, and breaks off those that are to fail. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../domain/clock.ts';
import { type HttpLimits, HttpServer, type HttpTakeover } from '../http/server.ts';
import type { Answer } from './core/reply.ts';
import type { Sandbox } from './service.ts';

/** Higher limits than those of a webhook listener. */
const limits: Partial<HttpLimits> = {
  requestTimeout: 60_000,
  keepAliveTimeout: 30_000,
  maxRequestsPerSocket: 0,
  maxConnections: 2_000,
  maxConnectionsPerAddress: 2_000,
  stopGrace: 500,
};

export function serveSandbox(
  sandbox: Sandbox,
  options: { host: string; port: number; clock: Clock; onFault: (error: unknown) => void },
): HttpServer {
  return new HttpServer({
    ...options,
    name: 'the sandbox',
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
