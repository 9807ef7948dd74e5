/** Sends deliveries over kept connections, one at a time on each, and waits for their answers. */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

/** A connection that carries one delivery at a time, and a new one wherever the other side has closed it. */
export class Line {
  readonly #port: number;
  #socket: Socket | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** Resolves when the delivery is acknowledged. @throws Error where it is refused. */
  async send(delivery: Buffer): Promise<void> {
    const head = (await this.#exchange(delivery)) ?? (await this.#exchange(delivery));
    if (!head?.startsWith('HTTP/1.1 200')) throw new Error(`Not acknowledged: ${String(head)}`);
    if (/\r\nconnection: close\r\n/i.test(head)) this.end();
  }

  end(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  /** The head of the answer; undefined where the connection was closed before there was one. */
  async #exchange(delivery: Buffer): Promise<string | undefined> {
    if (!this.#socket?.writable) {
      this.#socket = connect(this.#port, '127.0.0.1').setNoDelay(true);
      await once(this.#socket, 'connect');
    }
    const socket = this.#socket;
    return new Promise((resolve) => {
      const onClose = (): void => resolve(undefined);
      socket.once('close', onClose);
      socket.once('error', onClose);
      socket.once('data', (bytes) => {
        socket.off('close', onClose);
        socket.off('error', onClose);
        resolve(bytes.toString('latin1'));
      });
      socket.write(delivery);
    });
  }
}

/** Sends `count` deliveries as fast as they are acknowledged. @returns how many were, a second. */
export async function rush(
  port: number,
  deliveries: readonly Buffer[],
  connections: number,
  count: number,
): Promise<number> {
  let sent = 0;
  const lane = async (): Promise<void> => {
    const line = new Line(port);
    while (sent < count) await line.send(deliveries[sent++ % deliveries.length]!);
    line.end();
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: connections }, lane));
  return (count / (performance.now() - begun)) * 1_000;
}

/**
 * Sends deliveries at a steady rate over so many connections, opened before, for as long as `during` takes.
 * @returns the milliseconds that each waited for its acknowledgement, from the moment it was due.
 */
export async function stream(
  port: number,
  deliveries: readonly Buffer[],
  { connections, perSecond, during }: { connections: number; perSecond: number; during: () => Promise<unknown> },
): Promise<number[]> {
  const waits: number[] = [];
  const lines = Array.from({ length: connections }, () => new Line(port));
  await Promise.all(lines.map((line, index) => line.send(deliveries[index % deliveries.length]!)));
  const state = { sent: 0, over: false };
  const over = during().finally(() => (state.over = true));
  const begun = performance.now();
  const lane = async (line: Line): Promise<void> => {
    while (!state.over) {
      const due = begun + state.sent * (1_000 / perSecond);
      const delivery = deliveries[state.sent++ % deliveries.length]!;
      const early = due - performance.now();
      if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
      await line.send(delivery);
      waits.push(performance.now() - due);
    }
    line.end();
  };
  await Promise.all([over, ...lines.map(lane)]);
  return waits;
}
