/** Who may stay connected: where a server has too many connections, the one that has been quiet for longest goes. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** Of one remote address. This machine's own may have them all: a proxy there speaks for everybody. */
  readonly maxConnectionsPerAddress: number;
}

/**
 * Bounds the connections of a server. A connection is quiet while no whole request of its waits for an answer: it idles, or is slow.
 * A quiet one is closed for a newcomer, rather than the newcomer refused, so that no number of connections which sit and wait
 * keeps a caller out that has something to say. Where every other one is being answered, the newcomer goes.
 */
export function limitConnections(server: Server, { maxConnections, maxConnectionsPerAddress }: ConnectionLimits): void {
  /** Every connection with its unanswered requests; whoever was answered last stands last. */
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
