/**
 * A PostgreSQL for the tests of one file: the server that `VENDOR_MIRROR_TEST_POSTGRES` names (the address of a superuser), or one of its
 * own, made of the programs of this machine in a folder that is removed afterwards. A test gets a database of its own.
 */
import { EventEmitter, once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { startServer, missingPostgres, type StartedServer } from './postgres-server.ts';
import { listen } from './network/listen.ts';

export interface TestServer {
  /** Makes an empty database. @returns its address, as a superuser. */
  database(encoding?: string): Promise<string>;
}

let databases = 0;

/** Registers the start and end of the server with the tests of the file. */
export function postgresServer(): TestServer {
  let server: StartedServer | undefined;
  if (missingPostgres === undefined)
    beforeAll(async () => {
      server = await startServer();
    });
  afterAll(() => server?.stop());
  return {
    async database(encoding = 'UTF8') {
      const superuser = server?.address ?? '';
      const name = `test_${process.pid}_${++databases}`;
      await askPostgres(
        superuser,
        `CREATE DATABASE ${name} TEMPLATE template0 ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C'`,
      );
      onTestFinished(async () => {
        await askPostgres(superuser, `DROP DATABASE ${name} WITH (FORCE)`);
      });
      const address = new URL(superuser);
      address.pathname = `/${name}`;
      return String(address);
    },
  };
}

/** The rows of one statement, on a connection of its own. */
export async function askPostgres<Row extends object = Record<string, unknown>>(
  address: string,
  statement: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client(address);
  client.on('error', () => undefined);
  await client.connect();
  try {
    const answer =
      values.length === 0 ? await client.query<Row>(statement) : await client.query<Row>(statement, values);
    return answer.rows;
  } finally {
    await client.end();
  }
}

export interface PostgresProxy {
  /** The address through the proxy. */
  readonly address: string;
  /** Open: passed on. Down: connections are refused by a reset. Hanging: taken, and never answered. */
  mode: 'open' | 'down' | 'hanging';
  /** Cuts the connection at the message of this number from now on, counted from 0: before the server has it, or before its answer comes. */
  cut(at: number, when: 'before' | 'after'): void;
  /** How many messages were sent since `cut` was called last. */
  readonly messages: number;
  /** Resolves once that many were. */
  sent(count: number): Promise<void>;
  /** How many pieces of answers programs were given. */
  readonly answers: number;
  /** Resolves once that many were. */
  answered(count: number): Promise<void>;
  /**
   * How often a program sent something after an answer: so many times it waited for the server, or a few more, where the server began to answer
   * before all had been sent.
   */
  readonly journeys: number;
  /** How many connections of programs are open. */
  readonly connections: number;
  /** Cuts what is open. */
  cutAll(): void;
  /** Cuts what is open; from now on it leads to the server of this address. */
  turnTo(address: string): void;
}

/** A proxy in front of a server, until the test ends. */
export async function postgresProxy(address: string): Promise<PostgresProxy> {
  let to = new URL(address);
  const open = new Set<Socket>();
  const ofPrograms = new Set<Socket>();
  let plan = { at: Infinity, when: 'before' };
  let messages = 0;
  let answers = 0;
  let journeys = 0;
  let isAnswered = true;
  const traffic = new EventEmitter();
  const server = createServer((near) => {
    for (const sockets of [open, ofPrograms]) sockets.add(near);
    near.on('error', () => undefined);
    near.on('close', () => [open, ofPrograms].forEach((sockets) => sockets.delete(near)));
    if (proxy.mode === 'down') {
      near.resetAndDestroy();
      return;
    }
    if (proxy.mode === 'hanging') return;
    const far = connect({ port: Number(to.port), host: to.hostname, noDelay: true });
    near.setNoDelay(true);
    open.add(far);
    far.on('error', () => undefined);
    far.on('close', () => {
      open.delete(far);
      near.destroy();
    });
    near.on('close', () => far.destroy());
    let isDeaf = false;
    near.on('data', (bytes) => {
      if (isAnswered) journeys += 1;
      isAnswered = false;
      const isCut = messages++ === plan.at;
      traffic.emit('sent');
      if (isCut && plan.when === 'before') {
        near.destroy();
        return;
      }
      isDeaf = isCut;
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      if (isDeaf) near.destroy();
      else if (proxy.mode !== 'hanging') near.write(bytes);
      answers += 1;
      isAnswered = true;
      traffic.emit('answered');
    });
  });
  const port = await listen(server);
  onTestFinished(() => proxy.cutAll());
  const through = new URL(address);
  through.port = String(port);
  through.hostname = '127.0.0.1';
  const proxy: PostgresProxy = {
    address: String(through),
    mode: 'open',
    cut(at, when) {
      messages = 0;
      plan = { at, when };
    },
    get messages() {
      return messages;
    },
    async sent(count) {
      while (messages < count) await once(traffic, 'sent');
    },
    get answers() {
      return answers;
    },
    async answered(count) {
      while (answers < count) await once(traffic, 'answered');
    },
    get journeys() {
      return journeys;
    },
    get connections() {
      return ofPrograms.size;
    },
    cutAll() {
      for (const socket of open) socket.destroy();
    },
    turnTo(other) {
      to = new URL(other);
      proxy.cutAll();
    },
  };
  return proxy;
}

/** The address of the database for a role of its own, which owns what it makes there, and is no superuser. */
export async function asOwner(address: string, name: string): Promise<string> {
  const role = `${name}_${process.pid}`;
  await askPostgres(address, `CREATE ROLE ${role} LOGIN`);
  onTestFinished(async () => {
    await askPostgres(address, `DROP OWNED BY ${role} CASCADE`);
    await askPostgres(address, `DROP ROLE ${role}`);
  });
  const owner = new URL(address);
  await askPostgres(address, `GRANT CREATE ON DATABASE ${owner.pathname.slice(1)} TO ${role}`);
  owner.username = role;
  return String(owner);
}
