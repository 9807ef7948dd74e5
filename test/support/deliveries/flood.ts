/** Many deliveries at once: pipelined, as no client of the service would send them, because that is the fastest way to send many. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { signed } from '../testbed/webhook-testbed.ts';
import { type Hall } from '../testbed/webhook-testbed.ts';

/** As many as the listener takes on one connection. */
const perSocket = 100;
const sockets = 8;

type Letter = ReturnType<typeof signed>;

/** Sends every delivery, some hundreds at a time. @returns how many answers there were of each status. */
export async function flood(
  place: Pick<Hall, 'address'>,
  letters: readonly Letter[],
  lanes = sockets,
): Promise<Record<number, number>> {
  const answers: Record<number, number> = {};
  const groups = Array.from({ length: Math.ceil(letters.length / perSocket) }, (_, index) =>
    letters.slice(index * perSocket, (index + 1) * perSocket),
  )[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (let next = groups.next(); !next.done; next = groups.next())
      for (const status of await pipelined(place, next.value)) answers[status] = (answers[status] ?? 0) + 1;
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return answers;
}

async function pipelined(place: Pick<Hall, 'address'>, letters: readonly Letter[]): Promise<number[]> {
  const { hostname, port, pathname } = new URL(place.address);
  const socket = connect(Number(port), hostname);
  let answers = '';
  socket.on('data', (chunk) => (answers += chunk.toString('latin1')));
  const last = letters.length - 1;
  for (const [index, { headers, body }] of letters.entries()) {
    const lines = Object.entries({ host: hostname, 'content-length': body.length, ...headers });
    const ending = index === last ? 'connection: close\r\n' : '';
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(`POST ${pathname} HTTP/1.1\r\n${head}${ending}\r\n${body}`);
  }
  await once(socket, 'close');
  return [...answers.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
}
