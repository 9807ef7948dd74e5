/** Requests as bytes, for what no HTTP client would send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { ListenerTestbed } from '../testbed/listener.ts';
import { delivery, formType, signed } from './signed-delivery.ts';

/** Sends bytes as they are, and returns all that comes back before the connection ends. */
export async function send(at: ListenerTestbed, bytes: string | Buffer): Promise<string> {
  const socket = open(at);
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  await once(socket, 'close');
  return answer;
}

/** The status line of the first answer, if there is one. */
export async function raw(at: ListenerTestbed, bytes: string | Buffer): Promise<string> {
  return (await send(at, bytes)).split('\r\n', 1)[0] ?? '';
}

export function open(at: ListenerTestbed): Socket {
  const { hostname, port } = new URL(at.base);
  return connect(Number(port), hostname);
}

export const pathOf = (at: ListenerTestbed): string => new URL(at.address).pathname;

/** A valid delivery, except for these lines at the end of its head, and its body. */
export function request(at: ListenerTestbed, lines: readonly string[], body = ''): string {
  const { headers } = signed(delivery);
  const signature = `x-service-hmac-sha256: ${headers['x-service-hmac-sha256'] ?? ''}`;
  return [
    `POST ${pathOf(at)} HTTP/1.1`,
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
export async function isFine(at: ListenerTestbed): Promise<boolean> {
  return (await fetch(at.address, signed(delivery))).status === 200;
}
