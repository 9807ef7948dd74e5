/** A TCP proxy between a program and a service, on which answers are cut off, sliced and slowed down. */
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listen } from './listen.ts';

export interface NetworkFaults {
  /** After so many bytes of answers on a connection it ends; undefined where it does not. */
  cutAfter?: number | undefined;
  /** How a connection ends: normally, or by a reset. */
  ending?: 'end' | 'reset';
  /** Bytes that travel together. */
  slice?: number;
}

export interface NetworkProxy {
  readonly baseUrl: string;
  /** May be changed on the way; connections look at it as bytes come. */
  readonly faults: NetworkFaults;
  /** Bytes of answers that the service sent on the latest connection. */
  sent(): number;
}

export async function proxyTo(baseUrl: string): Promise<NetworkProxy> {
  const { hostname, port } = new URL(baseUrl);
  const faults: NetworkFaults = {};
  const open = new Set<Socket>();
  let sent = 0;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    sent = 0;
    let passed = 0;
    for (const socket of [near, far]) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        near.destroy();
        far.destroy();
        open.delete(socket);
      });
    }
    near.pipe(far);
    far.on('data', (bytes) => {
      sent += bytes.length;
      const left = (faults.cutAfter ?? Infinity) - passed;
      passed += bytes.length;
      const through = bytes.subarray(0, Math.max(0, left));
      const slice = faults.slice ?? through.length;
      for (let at = 0; at < through.length; at += slice) near.write(through.subarray(at, at + slice));
      if (left > bytes.length) return;
      if (faults.ending === 'reset') near.resetAndDestroy();
      else near.end();
    });
    far.on('end', () => near.end());
  });
  const near = await listen(server);
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
  });
  return { baseUrl: `http://127.0.0.1:${near}`, faults, sent: () => sent };
}
