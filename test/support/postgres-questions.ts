/**
 * Questions to a server whose answers come before the next turn of the event loop, as those of a file do: another thread asks them. So an oracle
 * sees one moment of a world, in which nothing goes on while it looks.
 */
import { createRequire } from 'node:module';
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import { valuesOf } from '../../src/store/postgres/connection.ts';

interface Question {
  /** From 1. */
  readonly number: number;
  /** Of the server. */
  readonly address: string;
  /** Where names of tables lead to. */
  readonly schema: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

interface Answer {
  readonly number: number;
  readonly failure?: string;
  readonly fields: readonly { readonly name: string; readonly type: number }[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/**
 * The other thread, with one session for each address. In its language, because a thread of Node.js 20 knows no other. A server may end a session,
 * as it does when its database is dropped.
 */
const asker = `
const { workerData: { driver, answered, port } } = require('node:worker_threads');
const { Client } = require(driver);
const sessions = new Map();
const sessionAt = async (address) => {
  const known = sessions.get(address);
  if (known) return known;
  const client = new Client({ connectionString: address, types: { getTypeParser: () => String } });
  const session = { client, schema: undefined };
  client.on('error', () => sessions.delete(address));
  await client.connect();
  sessions.set(address, session);
  return session;
};
const answerTo = async ({ address, schema, text, values }) => {
  try {
    const session = await sessionAt(address);
    if (session.schema !== schema) await session.client.query(\`SET search_path TO "\${schema}"; SET TimeZone TO 'UTC'\`);
    session.schema = schema;
    const { fields, rows } = await session.client.query({ text, rowMode: 'array', ...(values.length > 0 && { values }) });
    return { fields: (fields ?? []).map(({ name, dataTypeID }) => ({ name, type: dataTypeID })), rows: rows ?? [] };
  } catch ({ message }) {
    return { failure: message };
  }
};
port.on('message', async (question) => {
  const { number } = question;
  port.postMessage({ number, ...(await answerTo(question)) });
  Atomics.store(answered, 0, number);
  Atomics.notify(answered, 0);
});`;

/** Only against hanging, in milliseconds. */
const longest = 120_000;

interface Asker {
  readonly port: MessagePort;
  /** The number of the question that was answered last. */
  readonly answered: Int32Array;
}

let started: Asker | undefined;
let asked = 0;

/** Lives as long as this process. */
function start(): Asker {
  const { port1: near, port2: port } = new MessageChannel();
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const driver = createRequire(import.meta.url).resolve('pg');
  const thread = new Worker(asker, {
    eval: true,
    execArgv: [],
    workerData: { driver, answered, port },
    transferList: [port],
  });
  thread.unref();
  near.unref();
  return { port: near, answered };
}

/** Answers to others before it are of no use any more. */
function answerIn(port: MessagePort, number: number): Answer {
  for (;;) {
    const { message } = receiveMessageOnPort(port) as { readonly message: Answer };
    if (message.number === number) return message;
  }
}

/**
 * The rows of one statement, with values as SQLite gives them; several statements without values are one, too.
 * @param address of the server, as the driver takes it
 * @throws Error
 */
export function askNow<Row>(address: string, schema: string, text: string, values: readonly unknown[] = []): Row[] {
  const { port, answered } = (started ??= start());
  const number = (asked += 1);
  port.postMessage({ number, address, schema, text, values } satisfies Question);
  for (let last = answered[0]!; last !== number; last = Atomics.load(answered, 0))
    if (Atomics.wait(answered, 0, last, longest) === 'timed-out') throw new Error(`No answer: ${text}`);
  const { failure, fields, rows } = answerIn(port, number);
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

/** The same, with `?` for each value in turn. */
export function askAsFile<Row>(address: string, schema: string, sql: string, values: readonly unknown[]): Row[] {
  let place = 0;
  return askNow(
    address,
    schema,
    sql.replaceAll('?', () => `$${++place}`),
    values,
  );
}
