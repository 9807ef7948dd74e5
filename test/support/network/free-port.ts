import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const given = new Set<number>();

/**
 * A port that nobody listens on or was given, and none that the system gives to those who connect (Linux: 32768 and up): a daemon
 * that is started again must find it free. It lies above all ports that `fetch` refuses (the last is 10080).
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_081, 32_768);
    if (given.has(port)) continue;
    const server = createServer();
    const isFree = once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.listen(port, '127.0.0.1');
    if (!(await isFree)) continue;
    await once(server.close(), 'close');
    given.add(port);
    return port;
  }
}
