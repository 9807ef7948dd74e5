/** What a request gets that breaks the protocol: a bare status, written straight to its socket. */
import type { Socket } from 'node:net';

const statuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Refuses the request and closes the connection for good: no timeout of the server's holds for it any more, and it would last for as
 * long as the caller keeps its own end open. @returns the status; undefined where nobody is there to be told.
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
