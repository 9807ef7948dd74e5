/** A proxy as companies have them: it makes connections for those who may ask, and sees nothing of what passes. */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { listen } from './listen.ts';

export interface TunnelProxy {
  readonly port: number;
  /** Addresses that were asked for, in order. */
  readonly asked: readonly string[];
}

export interface TunnelProxyOptions {
  /** The only user and password that get a tunnel, as in `user:password`. */
  readonly login?: string;
  /** The status of all answers; default: a tunnel, or 407 without the login. */
  readonly status?: number;
}

/** Whatever name a client asks for, the tunnel ends at that port of this machine. Closed with the test. */
export async function tunnelProxy({ login, status }: TunnelProxyOptions = {}): Promise<TunnelProxy> {
  const asked: string[] = [];
  const server = createServer((_, response) => response.writeHead(400).end());
  server.on('connect', ({ url = '', headers }, near) => {
    near.on('error', () => undefined);
    asked.push(url);
    const wanted = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
    const refusal = status ?? (headers['proxy-authorization'] === wanted ? undefined : 407);
    if (refusal !== undefined) {
      near.end(`HTTP/1.1 ${refusal} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const far = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      near.pipe(far).pipe(near);
    });
    far.on('error', () => near.destroy());
    near.on('close', () => far.destroy());
  });
  return { port: await listen(server), asked };
}
