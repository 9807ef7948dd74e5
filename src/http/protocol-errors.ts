/** Answers requests that break the protocol: a bare status, written to the socket. */
import type { Socket } from 'node:net';

const statuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Answers with a status and closes the connection: no timeout of the server applies to it any more, so it would stay open as long as the
 * caller keeps it.
 * @returns the status; undefined where the caller is already gone.
 */
export function refuseProtocol({ code = '' }: NodeJS.ErrnoException, socket: Socket): number | undefined {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const status = statuses[code] ?? '400 Bad Request';
  socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.destroySoon();
  return Number.parseInt(status, 10);
}
