/** Limits the connections of a server: where there are too many, the one that has been idle for longest is closed. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** For one remote address. Addresses of this machine are exempt: a local proxy forwards for everybody. */
  readonly maxConnectionsPerAddress: number;
}

/**
 * Limits the connections of a server. A connection is idle while no complete request of it waits for an answer. For a new connection an
 * idle one is closed, so that connections which only wait cannot keep a caller out. Where all others are being answered, the new one is
 * closed.
 */
export function limitConnections(server: Server, { maxConnections, maxConnectionsPerAddress }: ConnectionLimits): void {
  /** Each connection with its unanswered requests; the most recently answered last. */
  const connections = new Map<Socket, Set<IncomingMessage>>();

  const quietest = (among: readonly Socket[]): Socket | undefined =>
    among.find((socket) => ![...(connections.get(socket) ?? [])].some(({ complete }) => complete));

  const bound = (among: readonly Socket[], limit: number): void => {
    if (among.length <= limit) return;
    const leaving = quietest(among);
    if (!leaving) return;
    connections.delete(leaving);
    leaving.destroy();
  };

  server.on('connection', (socket: Socket) => {
    connections.set(socket, new Set());
    socket.once('close', () => connections.delete(socket));
    const { remoteAddress } = socket;
    if (!isThisMachine(remoteAddress))
      bound(
        [...connections.keys()].filter((other) => other.remoteAddress === remoteAddress),
        maxConnectionsPerAddress,
      );
    bound([...connections.keys()], maxConnections);
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    connections.get(socket)?.add(request);
    response.once('close', () => {
      const requests = connections.get(socket);
      if (!requests) return;
      requests.delete(request);
      connections.delete(socket);
      connections.set(socket, requests);
    });
  });
}

function isThisMachine(address = ''): boolean {
  return address === '::1' || address.replace(/^::ffff:/, '').startsWith('127.');
}
