/** Servers of node:http on a free port of this machine. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Resolves with the port once the server listens. */
export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

export function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
