/** Many deliveries at once: pipelined, as no client of the service would send them, because that is the fastest way to send many. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { ListenerTestbed } from '../testbed/listener.ts';
import type { signed } from './signed-delivery.ts';

/** As many as the listener takes on one connection without having answered. */
const perSocket = 16;
const sockets = 8;

type Delivery = ReturnType<typeof signed>;

/** Sends every delivery, by default a hundred at a time. @returns how many answers there were of each status. */
export async function flood(
  at: Pick<ListenerTestbed, 'address'>,
  deliveries: readonly Delivery[],
  atOnce = perSocket * sockets,
): Promise<Record<number, number>> {
  const answers: Record<number, number> = {};
  const groups = Array.from({ length: Math.ceil(deliveries.length / perSocket) }, (_, index) =>
    deliveries.slice(index * perSocket, (index + 1) * perSocket),
  )[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (let next = groups.next(); !next.done; next = groups.next())
      for (const status of await pipelined(at, next.value)) answers[status] = (answers[status] ?? 0) + 1;
  };
  await Promise.all(Array.from({ length: Math.ceil(atOnce / perSocket) }, lane));
  return answers;
}

async function pipelined(at: Pick<ListenerTestbed, 'address'>, deliveries: readonly Delivery[]): Promise<number[]> {
  const { hostname, port, pathname } = new URL(at.address);
  const socket = connect(Number(port), hostname);
  let answers = '';
  socket.on('data', (chunk) => (answers += chunk.toString('latin1')));
  const last = deliveries.length - 1;
  for (const [index, { headers, body }] of deliveries.entries()) {
    const lines = Object.entries({ host: hostname, 'content-length': body.length, ...headers });
    const ending = index === last ? 'connection: close\r\n' : '';
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(`POST ${pathname} HTTP/1.1\r\n${head}${ending}\r\n${body}`);
  }
  await once(socket, 'close');
  return [...answers.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
}
