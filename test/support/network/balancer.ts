/** What stands before several listeners, as load balancers do: each connection goes to the next of them that takes it. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listen } from './listen.ts';

/** @returns its address. */
export async function balancerOf(ports: readonly number[]): Promise<string> {
  const open = new Set<Socket>();
  let next = 0;
  const taken = async (): Promise<Socket | undefined> => {
    for (let tries = 1; tries <= ports.length; tries += 1) {
      const far = connect(ports[next++ % ports.length] ?? 0, '127.0.0.1');
      const isOpen = await once(far, 'connect').then(
        () => true,
        () => false,
      );
      if (isOpen) return far;
    }
    return undefined;
  };
  const server = createServer({ pauseOnConnect: true }, (near) => {
    open.add(near);
    near.on('error', () => undefined);
    near.on('close', () => open.delete(near));
    void taken().then((far) => {
      if (!far) {
        near.resetAndDestroy();
        return;
      }
      far.on('error', () => undefined);
      far.on('close', () => near.destroy());
      near.on('close', () => far.destroy());
      near.pipe(far);
      far.pipe(near);
    });
  });
  const port = await listen(server);
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
  });
  return `http://127.0.0.1:${port}`;
}
