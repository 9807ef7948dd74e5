/**
 * A connection to somebody's PostgreSQL, and the only code that knows the driver, which is loaded when the first one is opened.
 *
 * Nothing waits for a server longer than its limits: for a connection, for each statement, for each lock; and the server does not wait for a
 * program that hangs inside a transaction. After an error a session is of no use: it is closed, which undoes the transaction. Everything is
 * set for one transaction, so that a pooler may give each to another connection. What a server says of values never leaves this file, because
 * it may quote them.
 */
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import type { Client, ClientConfig } from 'pg';
import { MirrorError } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { Secret } from '../../domain/secret.ts';
import type { PostgresAddress, PostgresHost } from '../../settings/addresses.ts';

export interface PostgresServer {
  readonly to: PostgresAddress;
  readonly schema: string;
  readonly password?: Secret | undefined;
}

export class PostgresSession {
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #server: PostgresServer;
  readonly #signal: AbortSignal;
  readonly #cut: () => void;
  readonly #details: string[] = [];
  readonly #warnings: string[] = [];
  #isBroken = false;

  private constructor(client: Client, socket: Socket, server: PostgresServer, signal: AbortSignal) {
    this.#client = client;
    this.#socket = socket;
    this.#server = server;
    this.#signal = signal;
    this.#cut = () => void socket.destroy();
    signal.addEventListener('abort', this.#cut, { once: true });
    client.on('notice', ({ code, message, detail }) => {
      if (detail !== undefined) this.#details.push(detail);
      if (code === notWhereItShouldBe) this.#warnings.push(message ?? '');
    });
  }

  /** The details of what the server told during the last statement. */
  get details(): readonly string[] {
    return this.#details;
  }

  /**
   * Connects; the signal cuts the connection, and whatever is under way fails.
   * @param options `limit`: how long a statement may take, in milliseconds; 0 for as long as it does
   * @throws MirrorError `postgres_refused`, `postgres_failed`.
   */
  static async open(
    server: PostgresServer,
    signal: AbortSignal,
    { limit = limits.postgresStatement }: { readonly limit?: number } = {},
  ): Promise<PostgresSession> {
    const { client, socket } = await connect(server, signal, { query_timeout: limit });
    return new PostgresSession(client, socket, server, signal);
  }

  /** As `processIdOf`. */
  get processId(): number | null {
    return processIdOf(this.#client);
  }

  /** The rows of one statement; several without values are one, too. @throws MirrorError `postgres_…` */
  async run<Row extends object>(statement: string, values?: readonly unknown[]): Promise<Row[]> {
    this.#details.length = 0;
    try {
      return (await this.#client.query<Row>(statement, values === undefined ? undefined : [...values])).rows;
    } catch (error) {
      this.#isBroken = true;
      throw ofServer(this.#server, error, this.#signal);
    }
  }

  /**
   * Runs the work in one transaction, in which the names of tables are those of the schema. An error undoes it.
   * @throws MirrorError as `run`, and `postgres_failed` where the server stored it without its standby.
   */
  async atomically<T>(work: () => Promise<T>): Promise<T> {
    const { schema } = this.#server;
    await this.run(
      `BEGIN; ${spokenIn(schema)};
       SET LOCAL statement_timeout TO ${limits.postgresStatement}; SET LOCAL lock_timeout TO ${limits.postgresLock};
       SET LOCAL idle_in_transaction_session_timeout TO ${limits.postgresStatement}`,
    );
    const result = await work();
    const warned = this.#warnings.length;
    await this.run('COMMIT');
    const [warning] = this.#warnings.splice(warned);
    if (warning !== undefined) throw withoutStandby(this.#server, warning);
    return result;
  }

  /** Ends the connection, without waiting for the server. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#cut);
    if (this.#isBroken) {
      this.#socket.destroy();
      return;
    }
    // The server need not answer.
    void this.#client.end().catch(() => undefined);
    this.#socket.destroySoon();
    this.#socket.unref();
  }
}

/**
 * What a transaction begins with, whatever a role, a database or the server may have set: the names of tables are those of the schema, and
 * values are written and read in the forms that this program knows.
 */
export function spokenIn(schema: string): string {
  return `SET LOCAL search_path TO "${schema}"; SET LOCAL TimeZone TO 'UTC'; SET LOCAL DateStyle TO 'ISO';
    SET LOCAL extra_float_digits TO 1; SET LOCAL standard_conforming_strings TO on; SET LOCAL row_security TO off`;
}

/** Lets a transaction be on disk when it is confirmed, although a role or a database may have switched that off. */
export const confirmedOnDisk = `SELECT set_config('synchronous_commit',
  CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)`;

/** What to do about a database of another encoding, which cannot be changed. */
export const asUtf8 = `Name another database: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8';`;

/** The SQLSTATE of a commit that a standby does not have, and of other warnings. */
export const notWhereItShouldBe = '01000';

/** A commit that the server confirms with a warning counts as failed. */
export function withoutStandby({ to }: PostgresServer, warning: string): MirrorError {
  return new MirrorError('postgres_failed', `${to.name} stored it without its standby: ${warning}`);
}

/** The number by which the server, or a pooler before it, named the session of a client. */
export function processIdOf(client: Client): number | null {
  return (client as { readonly processID?: number | null }).processID ?? null;
}

interface Connected {
  readonly client: Client;
  readonly socket: Socket;
}

/** The host of an address that was used last. */
const used = new WeakMap<PostgresAddress, PostgresHost>();

/**
 * Connects to the first host that answers and is what the address asks for, as libpq does: one that refuses the user or is not trusted ends the
 * search. The one that was used last comes first, so that one that does not answer holds up no further connection. All of them together take no
 * longer than one may. The signal cuts what is under way, until it is connected.
 * @throws MirrorError `postgres_failed`, which says of each host why not, `postgres_refused`; the reason of the signal.
 */
export async function connect(server: PostgresServer, signal: AbortSignal, more: ClientConfig): Promise<Connected> {
  const { to } = server;
  const reasons: string[] = [];
  for (const host of [...to.hosts].sort((a, b) => Number(used.get(to) === b) - Number(used.get(to) === a))) {
    try {
      const connected = await connectTo(host, server, signal, more);
      used.set(to, host);
      return connected;
    } catch (error) {
      if (!(error instanceof MirrorError) || error.code !== 'postgres_failed') throw error;
      reasons.push(error.message);
    }
  }
  throw new MirrorError('postgres_failed', reasons.join(' '));
}

async function connectTo(
  host: PostgresHost,
  server: PostgresServer,
  signal: AbortSignal,
  more: ClientConfig,
): Promise<Connected> {
  const { Client: Driver } = (await import('pg')).default;
  const { to } = server;
  const socket = new Socket();
  const cut = (): void => void socket.destroy();
  try {
    signal.throwIfAborted();
    signal.addEventListener('abort', cut, { once: true });
    const limit = Math.floor(limits.postgresConnect / to.hosts.length);
    const client = new Driver({ ...configOf(server, host, socket), connectionTimeoutMillis: limit, ...more });
    // Each failure also ends the statement that is under way.
    client.on('error', () => undefined);
    await client.connect();
    const unwanted = to.target === 'any' ? undefined : await unwantedAs(to.target, client, limit);
    if (unwanted !== undefined) throw new MirrorError('postgres_failed', `${host.name} ${unwanted}.`);
    return { client, socket };
  } catch (error) {
    socket.destroy();
    throw ofServer({ ...server, to: { ...to, name: host.name } }, error, signal);
  } finally {
    signal.removeEventListener('abort', cut);
  }
}

/** Why a server is not the one that is asked for; undefined where it is. */
async function unwantedAs(
  target: 'read-write' | 'primary',
  client: Client,
  limit: number,
): Promise<string | undefined> {
  // As text, which every client reads alike.
  const question = {
    text: `SELECT CASE WHEN pg_is_in_recovery() THEN 'standby'
      WHEN current_setting('transaction_read_only') = 'on' THEN 'read-only' ELSE 'read-write' END AS is`,
    query_timeout: limit,
  };
  const is = (await client.query<{ is: string }>(question)).rows[0]?.is;
  if (is === 'standby') return 'is a standby, which takes no writes';
  return is === 'read-only' && target === 'read-write' ? 'lets this user only read' : undefined;
}

function configOf({ to, password }: PostgresServer, { host, port }: PostgresHost, socket: Socket): ClientConfig {
  const { database, user, tls } = to;
  return {
    ...{ host, port, database, user },
    ...(password && { password: password.reveal() }),
    ssl: tls === 'disable' ? false : tlsOf(to, host),
    stream: () => socket,
    application_name: 'vendor-mirror',
    keepAlive: true,
  };
}

function tlsOf({ tls, rootCertificate, name }: PostgresAddress, host: string): Exclude<ClientConfig['ssl'], undefined> {
  if (tls === 'require') return { rejectUnauthorized: false };
  return {
    rejectUnauthorized: true,
    ...(rootCertificate !== undefined && { ca: authoritiesIn(rootCertificate, name) }),
    // By default, Node.js compares an address that is no name with nothing of the certificate.
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
  };
}

function authoritiesIn(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new MirrorError('postgres_refused', `${name}: the file of sslrootcert cannot be read.`, { cause: error });
  }
}

/** PostgreSQL has no text with the character NUL, nor with half of a surrogate pair: U+FFFD stands for them. */
export function textFor(text: string): string {
  return text.replaceAll('\0', '\u{FFFD}').toWellFormed();
}

/** Of these classes of SQLSTATE, what the server says names tables, roles and settings, and no values. */
const withoutValues = /^(08|25|28|3D|3F|40|42|53|54|55|57|58)/;
/** No rights, no such role, password or database; and a server that has no TLS, or a certificate that is not trusted. */
const refusals = /^(28|3D|42501)/;
const untrusted = /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL/;

const insecure = {
  disable: 'is not encrypted, and belongs on one machine or a network that you trust',
  require: 'is encrypted, but whoever is in between can pretend to be the server',
};

function withTls(mode: keyof typeof insecure): string {
  return `With sslmode=${mode} in the address, the connection ${insecure[mode]}.`;
}

/** Any error of the driver as one of ours, without values and without what was sent. */
export function ofServer({ to: { name }, schema }: PostgresServer, error: unknown, signal: AbortSignal): unknown {
  if (error instanceof MirrorError) return error;
  if (signal.aborted) return signal.reason;
  const { message, code = '' } = error as Error & { readonly code?: string };
  if (/^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code)) {
    const { table, constraint, column } = error as { table?: string; constraint?: string; column?: string };
    const place = [table, column, constraint].filter((part) => part !== undefined).join(', ');
    const said = withoutValues.test(code) ? message : `a value was refused${place === '' ? '' : ` (${place})`}`;
    const text = `${name}, schema ${schema}: ${said} (SQLSTATE ${code}).`;
    if (refusals.test(code)) return new MirrorError('postgres_refused', text);
    return new MirrorError(/^(22|23|3F|42)/.test(code) ? 'postgres_tables' : 'postgres_failed', text);
  }
  if (message.includes('password')) {
    const remedy =
      'Name a file with the password: databasePasswordFile for the mirror, passwordFile beside `to` for what is published.';
    return new MirrorError('postgres_refused', `${name} asks for a password.`, { remedy });
  }
  if (message.includes('SSL connections'))
    return new MirrorError('postgres_refused', `${name} offers no TLS.`, { remedy: withTls('disable') });
  if (untrusted.test(code))
    return new MirrorError('postgres_refused', `${name}: its certificate is not trusted (${code}).`, {
      remedy: `Name the certificate of who signed it (sslrootcert=/path/to/root.pem in the address). ${withTls('require')}`,
    });
  const said = /timeout/i.test(message)
    ? 'did not answer in time'
    : `cannot be reached, or ended the connection${code === '' ? '' : ` (${code})`}`;
  return new MirrorError('postgres_failed', `${name} ${said}.`);
}
