/**
 * A PostgreSQL for the tests of one file: the server that `VENDOR_MIRROR_TEST_POSTGRES` names (the address of a superuser), or one of its
 * own, made of the programs of this machine in a folder that is removed afterwards. A test gets a database of its own.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { packageRoot } from './mirror-file.ts';
import { listen } from './network/listen.ts';

const given = process.env['VENDOR_MIRROR_TEST_POSTGRES'];

/** The folder of the server's programs; undefined where there is none. */
function programs(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

const found = programs();

/** What is missing for such tests; undefined where a server is given, or can be started. */
export const missingPostgres =
  given === undefined && found === undefined
    ? 'the programs initdb and postgres are not there, and VENDOR_MIRROR_TEST_POSTGRES names no server'
    : undefined;

/** Whether the server is one of ours: it speaks TLS, with a certificate for 127.0.0.1, and asks one user for a password. */
export const isOwnServer = given === undefined;

/** The server asks this user for a password, and no other. */
export const askedForPassword = 'asked_for_password';

/** A server refuses to run as root. */
function asOther(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const user = spawnSync('id', ['-u', 'postgres']).status === 0 ? 'postgres' : 'nobody';
  const number = (flag: string): number => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: number('-u'), gid: number('-g') };
}

export interface TestServer {
  /** Makes an empty database. @returns its address, as a superuser. */
  database(encoding?: string): Promise<string>;
}

let databases = 0;

/** Registers the start and end of the server with the tests of the file. */
export function postgresServer(): TestServer {
  let superuser = given ?? '';
  let server: ChildProcess | undefined;
  let folder: string | undefined;
  if (given === undefined && found !== undefined)
    beforeAll(async () => {
      const user = asOther();
      folder = mkdtempSync(join(tmpdir(), 'vendor-mirror-postgres-'));
      if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
      const data = join(folder, 'data');
      const options = { ...user, cwd: folder, env: { PATH: process.env['PATH'], LC_ALL: 'C' } };
      const made = ['-D', data, '-U', 'tester', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C'];
      execFileSync(join(found, 'initdb'), made, { ...options, stdio: 'pipe' });
      const hba = join(data, 'pg_hba.conf');
      writeFileSync(hba, `host all ${askedForPassword} all scram-sha-256\n${readFileSync(hba, 'utf8')}`);
      for (const name of ['valid.pem', 'key.pem']) {
        copyFileSync(join(packageRoot, 'test/fixtures/tls', name), join(folder, name));
        chmodSync(join(folder, name), 0o600);
        if (user.uid !== undefined && user.gid !== undefined) chownSync(join(folder, name), user.uid, user.gid);
      }
      const port = await freePort();
      const settings = [
        'fsync=off',
        'full_page_writes=off',
        'synchronous_commit=off',
        'listen_addresses=127.0.0.1,127.0.0.2',
        'ssl=on',
      ];
      const tls = [`ssl_cert_file=${join(folder, 'valid.pem')}`, `ssl_key_file=${join(folder, 'key.pem')}`];
      const flags = [...settings, ...tls, `port=${port}`, `unix_socket_directories=${folder}`].flatMap((setting) => [
        '-c',
        setting,
      ]);
      server = spawn(join(found, 'postgres'), ['-D', data, ...flags], {
        ...options,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      await isReady(server);
      superuser = `postgres://tester@127.0.0.1:${port}/postgres`;
    });
  afterAll(async () => {
    if (server?.exitCode === null) {
      const ended = once(server, 'exit');
      // Immediate: nothing of it is kept.
      server.kill('SIGQUIT');
      await ended;
    }
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });
  return {
    async database(encoding = 'UTF8') {
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

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

async function isReady(server: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000);
      if (log.includes('ready to accept connections')) resolve();
    });
    server.once('exit', () => reject(new Error(`The server ended: ${log}`)));
  });
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
  /** How many connections of programs are open. */
  readonly connections: number;
  /** Cuts what is open. */
  cutAll(): void;
}

/** A proxy in front of a server, until the test ends. */
export async function postgresProxy(address: string): Promise<PostgresProxy> {
  const to = new URL(address);
  const open = new Set<Socket>();
  const ofPrograms = new Set<Socket>();
  let plan = { at: Infinity, when: 'before' };
  let messages = 0;
  let answers = 0;
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
    const far = connect(Number(to.port), to.hostname);
    open.add(far);
    far.on('error', () => undefined);
    far.on('close', () => {
      open.delete(far);
      near.destroy();
    });
    near.on('close', () => far.destroy());
    let isDeaf = false;
    near.on('data', (bytes) => {
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
    get connections() {
      return ofPrograms.size;
    },
    cutAll() {
      for (const socket of open) socket.destroy();
    },
  };
  return proxy;
}
