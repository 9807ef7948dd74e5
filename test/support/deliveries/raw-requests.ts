/** Requests as bytes, for what no HTTP client would send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { delivery, formType, signed, type Hall } from '../testbed/webhook-testbed.ts';

/** Sends bytes as they are, and returns all that comes back before the connection ends. */
export async function send(place: Hall, bytes: string | Buffer): Promise<string> {
  const socket = open(place);
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  await once(socket, 'close');
  return answer;
}

/** The status line of the first answer, if there is one. */
export async function raw(place: Hall, bytes: string | Buffer): Promise<string> {
  return (await send(place, bytes)).split('\r\n', 1)[0] ?? '';
}

export function open(place: Hall): Socket {
  const { hostname, port } = new URL(place.base);
  return connect(Number(port), hostname);
}

export const pathOf = (place: Hall): string => new URL(place.address).pathname;

/** A delivery in good order, but for these lines at the end of its head, and for its body. */
export function request(place: Hall, lines: readonly string[], body = ''): string {
  const { headers } = signed(delivery);
  const signature = `x-service-hmac-sha256: ${headers['x-service-hmac-sha256'] ?? ''}`;
  return [
    `POST ${pathOf(place)} HTTP/1.1`,
    'host: x',
    'connection: close',
    `content-type: ${formType}`,
    signature,
    ...lines,
    '',
    body,
  ].join('\r\n');
}

/** Whether a genuine delivery is taken. */
export async function isFine(place: Hall): Promise<boolean> {
  return (await fetch(place.address, signed(delivery))).status === 200;
}
