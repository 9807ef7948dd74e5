/**
 * Questions to a server whose answers come before the next turn of the event loop, as those of a file do: another thread asks them. So an oracle
 * sees one moment of a world, in which nothing goes on while it looks.
 */
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import { valuesOf } from '../../../../src/store/postgres/connection.ts';
import type { Value } from '../world-store.ts';

interface Question {
  readonly text: string;
  readonly values: readonly Value[];
}

interface Answer {
  readonly failure?: string;
  readonly fields: readonly { readonly name: string; readonly type: number }[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** The other thread. In its language, because a thread of Node.js 20 knows no other. */
const asker = `
const { workerData: { address, driver, isAnswered, port } } = require('node:worker_threads');
const { Client } = require(driver);
const client = new Client({ connectionString: address, types: { getTypeParser: () => String } });
const answerTo = async ({ text, values }) => {
  try {
    const { fields, rows } = await client.query({ text, rowMode: 'array', ...(values.length > 0 && { values }) });
    return { fields: (fields ?? []).map(({ name, dataTypeID }) => ({ name, type: dataTypeID })), rows: rows ?? [] };
  } catch ({ message }) {
    return { failure: message };
  }
};
client.connect().then(() => {
  port.on('message', async (question) => {
    port.postMessage(await answerTo(question));
    Atomics.store(isAnswered, 0, 1);
    Atomics.notify(isAnswered, 0);
  });
  port.postMessage('ready');
});`;

/** Only against hanging, in milliseconds. */
const longest = 120_000;

export class Questions {
  readonly #port: MessagePort;
  /** 1 while an answer waits at the port. */
  readonly #isAnswered: Int32Array;
  #schema = '';

  private constructor(port: MessagePort, isAnswered: Int32Array) {
    this.#port = port;
    this.#isAnswered = isAnswered;
  }

  /** Connects to the server at that address, as long as this process lives. @throws Error where it cannot be reached. */
  static async open(address: string): Promise<Questions> {
    const { port1: near, port2: port } = new MessageChannel();
    const isAnswered = new Int32Array(new SharedArrayBuffer(4));
    const driver = createRequire(import.meta.url).resolve('pg');
    const thread = new Worker(asker, {
      eval: true,
      execArgv: [],
      workerData: { address, driver, isAnswered, port },
      transferList: [port],
    });
    const failed = once(thread, 'error').then(([error]) => Promise.reject(error as Error));
    await Promise.race([once(near, 'message'), failed]);
    failed.catch(() => undefined);
    thread.unref();
    near.unref();
    return new Questions(near, isAnswered);
  }

  /** From now on the names of tables are those of this schema. */
  useSchema(schema: string): void {
    if (this.#schema !== schema) this.ask(`SET search_path TO "${schema}"; SET TimeZone TO 'UTC'`);
    this.#schema = schema;
  }

  /** The rows of one statement; several without values are one, too. @throws Error */
  ask<Row>(text: string, values: readonly Value[] = []): Row[] {
    Atomics.store(this.#isAnswered, 0, 0);
    this.#port.postMessage({ text, values } satisfies Question);
    if (Atomics.wait(this.#isAnswered, 0, 0, longest) === 'timed-out') throw new Error(`No answer: ${text}`);
    const { failure, fields, rows } = (receiveMessageOnPort(this.#port) as { readonly message: Answer }).message;
    if (failure !== undefined) throw new Error(`${failure}: ${text}`);
    return rows.map(
      (row) =>
        Object.fromEntries(
          fields.map(({ name, type }, place) => {
            const value = row[place] ?? null;
            return [name, value === null ? null : (valuesOf.get(type)?.(value) ?? value)];
          }),
        ) as Row,
    );
  }
}
