/**
 * A mirror, or its secrets, in a schema of PostgreSQL.
 *
 * As in a file, one transaction writes at a time, whichever process runs it: each takes the writers' lock of the schema with its first
 * statement. So the order of numbers, of changes and of readings rests on the same argument as in a file, and no statement had to be
 * written for two writers. The lock ends with its transaction, also where a pooler gives each transaction another session, and when its
 * process or machine dies.
 *
 * What a transaction asks first travels with its BEGIN, and a transaction that only reads waits for no COMMIT: each journey to a server counts.
 *
 * A session that failed is replaced by the next transaction; a transaction that had begun is not repeated. Once COMMIT was sent, its answer
 * is waited for on the same session: a server may wait for its standby as long as it likes, but whoever waits for us is told after the time
 * that they have that nothing is certain. A commit that the server confirms with a warning is not where a standby has it, and counts as
 * failed.
 */
import type { Socket } from 'node:net';
import type { Client, QueryResult } from 'pg';
import { sleep, type Clock } from '../../domain/clock.ts';
import { Turns } from '../../domain/concurrency.ts';
import { MirrorError } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { defaultLockWait, RefusedValue, type Database } from '../sql/database.ts';
import type { Migration } from '../sqlite/migrate.ts';
import { PostgresConnection, valuesOf, type Answer, type Sending } from './connection.ts';
import { isThere, migrate } from './migrate.ts';
import {
  confirmedOnDisk,
  connect,
  notWhereItShouldBe,
  ofServer,
  type PostgresServer,
  processIdOf,
  spokenIn,
  withoutStandby,
} from './session.ts';

export interface PostgresDatabaseOptions {
  readonly server: PostgresServer;
  readonly migrations: readonly Migration[];
  readonly clock: Clock;
  /** Whether numbers are given out there, each once for all time, whatever the server forgets; by default they are. */
  readonly givesNumbers?: boolean;
  /** How long to wait for other writers, and for a server that is away, in milliseconds; 30 s by default. */
  readonly lockWait?: number | undefined;
}

type Kind = 'read' | 'write' | 'writeWithoutSync';

export class PostgresDatabase implements Database {
  readonly path: string;
  readonly connection: PostgresConnection;
  readonly #server: PostgresServer;
  readonly #clock: Clock;
  readonly #lockWait: number;
  readonly #givesNumbers: boolean;
  readonly #turns = new Turns();
  readonly #closing = new AbortController();
  #session: Session | undefined;
  /** Why the server took nothing in the last transaction that writes; undefined where it did. */
  #refused: MirrorError | undefined;

  private constructor({ server, clock, givesNumbers = true, lockWait }: Omit<PostgresDatabaseOptions, 'migrations'>) {
    this.path = `${server.to.name}, schema ${server.schema}`;
    this.connection = new PostgresConnection();
    this.#server = server;
    this.#clock = clock;
    this.#lockWait = lockWait ?? defaultLockWait;
    this.#givesNumbers = givesNumbers;
  }

  /**
   * Connects, and makes or migrates the schema.
   * @throws MirrorError `postgres_failed`, `postgres_refused`, `postgres_tables`, `database_newer`, `migration_failed`, `database_locked`.
   */
  static async open(options: PostgresDatabaseOptions): Promise<PostgresDatabase> {
    const database = new PostgresDatabase(options);
    try {
      await migrate(options.server, options.migrations, options.clock);
      await database.#turns.take(() => database.#connected(0));
      return database;
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** As `open`, to read what is there. @returns undefined where there is no schema yet. @throws MirrorError as `open`, and `database_older`. */
  static async openToRead(options: PostgresDatabaseOptions): Promise<PostgresDatabase | undefined> {
    const database = new PostgresDatabase(options);
    try {
      if (await isThere(options.server, options.migrations)) return database;
      await database.close();
      return undefined;
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /**
   * One more connection of a process that has opened it, made when it is first needed. A newer version may have migrated the schema since,
   * which is no matter to one that runs: it names its columns.
   */
  static again(options: Omit<PostgresDatabaseOptions, 'migrations'>): PostgresDatabase {
    return new PostgresDatabase(options);
  }

  /** Where it is. */
  get server(): PostgresServer {
    return this.#server;
  }

  write<T>(work: () => T | Promise<T>, lockWait = this.#lockWait): Promise<T> {
    return this.#transaction('write', work, lockWait);
  }

  writeWithoutSync<T>(work: () => T | Promise<T>, lockWait = this.#lockWait): Promise<T> {
    return this.#transaction('writeWithoutSync', work, lockWait);
  }

  read<T>(queries: () => T | Promise<T>): Promise<T> {
    return this.#transaction('read', queries, this.#lockWait);
  }

  readOne<T>(query: () => T | Promise<T>): Promise<T> {
    return this.read(query);
  }

  checkpoint(): Promise<void> {
    return Promise.resolve();
  }

  /** Why nothing can be written now, as far as the last transaction that writes showed; undefined while it can. */
  trouble(): MirrorError | undefined {
    return this.#refused;
  }

  /** A transaction under way is finished first, unless the server does not answer in time. */
  async close(): Promise<void> {
    this.#closing.abort(new MirrorError('interrupted', `${this.path} was closed meanwhile.`));
    const enough = new AbortController();
    sleep(this.#clock, limits.postgresCommit, enough.signal).then(
      () => this.#session?.close(),
      () => undefined,
    );
    await this.#turns.take(() => this.#drop(this.#session));
    enough.abort();
  }

  /** Runs `work` in its turn; the caller waits no longer for it than `lockWait`, and then no longer than the work may take. */
  async #transaction<T>(kind: Kind, work: () => T | Promise<T>, lockWait: number): Promise<T> {
    const clock = this.#clock;
    const deadline = clock.monotonic() + lockWait;
    const [late, turn] = [new AbortController(), new AbortController()];
    const done = this.#turns.take(async () => {
      // Whoever asked was told meanwhile that it was not done.
      late.signal.throwIfAborted();
      turn.abort(noReason);
      const asking = await this.#begun(kind, deadline);
      return await this.#finished(kind, asking, work);
    });
    const tooLate = (error: MirrorError): never => {
      late.abort(error);
      throw error;
    };
    // A report takes as long as its statements may.
    const longest = kind === 'read' ? limits.postgresStatement : limits.postgresCommit;
    const limit = sleep(clock, lockWait, turn.signal).then(
      () => tooLate(notInTime(this.path)),
      async () => {
        await sleep(clock, Math.max(0, deadline - clock.monotonic()) + longest, late.signal);
        tooLate(kind === 'read' ? notInTime(this.path) : notConfirmed(this.path));
      },
    );
    limit.catch(() => undefined);
    try {
      const result = await Promise.race([done, limit as Promise<never>]);
      // That a server can be read does not say that it takes writes.
      if (kind !== 'read') this.#refused = undefined;
      return result;
    } catch (error) {
      done.catch(() => undefined);
      if (kind !== 'read' && error instanceof MirrorError && error.code.startsWith('postgres_')) this.#refused = error;
      throw error;
    } finally {
      late.abort(noReason);
    }
  }

  /** A transaction that begins, alone among writers where it is one. */
  async #begun(kind: Kind, deadline: number): Promise<Beginning> {
    const session = await this.#connected(deadline - this.#clock.monotonic());
    const begun = this.#begunIn(session, kind, deadline);
    const beginning = new Beginning(session, begun);
    // What a pooler leads to is known when it has answered.
    if (session.isPooled !== false) await beginning.session;
    this.connection.use(beginning);
    return beginning;
  }

  /** The session in which it has begun: another one where that is gone. */
  async #begunIn(first: Session, kind: Kind, deadline: number): Promise<Session> {
    for (
      let tries = 1, session = first;
      ;
      tries++, session = await this.#connected(deadline - this.#clock.monotonic())
    ) {
      try {
        await session.begin(kind, Math.max(1, deadline - this.#clock.monotonic()));
        return session;
      } catch (error) {
        const isGone = session.isGone;
        this.#drop(session);
        // A server that was started again has ended the session; nothing of this transaction was sent yet.
        if (!isGone || tries > maxTries || this.#clock.monotonic() >= deadline) throw error;
      }
    }
  }

  async #finished<T>(kind: Kind, beginning: Beginning, work: () => T | Promise<T>): Promise<T> {
    const { connection } = this;
    try {
      const result = await work();
      const session = await beginning.session;
      beginning.assertSameHistory();
      // After a failure COMMIT undoes the transaction.
      const committed = session.commit();
      committed.catch(() => undefined);
      await connection.settled();
      if (kind !== 'read') await committed;
      return result;
    } catch (error) {
      // The first failure of the transaction is the reason of all others.
      await connection.settled().catch(() => undefined);
      const session = await beginning.session;
      const first = session.failure ?? error;
      if (session.isGone || !(await session.rolledBack())) this.#drop(session);
      throw first;
    } finally {
      connection.use(undefined);
    }
  }

  /** The session, or a new one: tried again until `left` milliseconds have passed. */
  async #connected(left: number): Promise<Session> {
    if (this.#session?.isGone === false) return this.#session;
    this.#drop(this.#session);
    const deadline = this.#clock.monotonic() + left;
    for (let tries = 1; ; tries++) {
      try {
        this.#closing.signal.throwIfAborted();
        return (this.#session = await Session.open(this.#server, this.#closing.signal, this.#givesNumbers));
      } catch (error) {
        const isAway = error instanceof MirrorError && error.code === 'postgres_failed';
        const pause = Math.min(1_000, 50 * 2 ** tries);
        if (!isAway || this.#clock.monotonic() + pause >= deadline) throw error;
        await sleep(this.#clock, pause, this.#closing.signal);
      }
    }
  }

  #drop(session: Session | undefined): void {
    session?.close();
    if (this.#session === session) this.#session = undefined;
  }
}

/** Whoever waits is only told to stop: an error of its own would cost more than all else about it. */
const noReason = new Error('It is over.');

/** How often a transaction begins anew because its session is gone. */
const maxTries = 3;

function notInTime(path: string): MirrorError {
  return new MirrorError('postgres_failed', `${path} did not answer in time.`);
}

function notConfirmed(path: string): MirrorError {
  return new MirrorError('postgres_failed', `${path} did not confirm in time; it may still store what was sent.`);
}

/**
 * A transaction whose BEGIN need not be answered yet. What is asked meanwhile was sent behind it; where the session turns out to be gone, it
 * is sent again in the one in which the transaction has begun.
 */
class Beginning implements Sending {
  /** The session in which it has begun. */
  readonly session: Promise<Session>;
  #current: Session;
  #isBegun = false;
  /** What the work relied on before. */
  #relied: object | undefined;

  constructor(first: Session, session: Promise<Session>) {
    this.#current = first;
    this.session = session.then((begun) => {
      this.#isBegun = true;
      return (this.#current = begun);
    });
    // It is awaited before COMMIT.
    this.session.catch(() => undefined);
  }

  async send(name: string | undefined, text: string, values: readonly unknown[]): Promise<Answer> {
    const asked = this.#current;
    const answer = asked.send(name, text, values);
    if (this.#isBegun) return answer;
    answer.catch(() => undefined);
    const session = await this.session;
    return session === asked ? answer : session.send(name, text, values);
  }

  get history(): object {
    return (this.#relied = this.#current.history);
  }

  recovered(): unknown {
    return this.#current.recovered();
  }

  /** @throws MirrorError where the work relied on a session that turned out to be gone. */
  assertSameHistory(): void {
    if (this.#relied && this.#relied !== this.#current.history)
      throw new MirrorError('postgres_failed', 'The server was started again while a transaction began.');
  }
}

interface ServerHistory {
  /** Which start of the server it is; undefined before the first transaction that writes. */
  readonly server: unknown;
}

class Session implements Sending {
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #server: PostgresServer;
  readonly #signal: AbortSignal;
  #isGone = false;
  #isGathering = false;
  /** The first that failed since the transaction began. */
  #failure: unknown;
  readonly #givesNumbers: boolean;
  #isPooled: boolean | undefined;
  /** Another object where the server, or a pooler behind which there are several, may have lost the last commits. */
  history: ServerHistory = { server: undefined };
  readonly #warnings: string[] = [];

  private constructor(
    client: Client,
    socket: Socket,
    server: PostgresServer,
    signal: AbortSignal,
    givesNumbers: boolean,
  ) {
    this.#client = client;
    this.#socket = socket;
    this.#server = server;
    this.#signal = signal;
    this.#givesNumbers = givesNumbers;
    client.on('end', () => (this.#isGone = true));
    client.on('error', () => (this.#isGone = true));
    client.on('notice', ({ code, message }) => {
      if (code === notWhereItShouldBe) this.#warnings.push(message ?? '');
    });
  }

  /** @throws MirrorError `postgres_failed`, `postgres_refused`. */
  static async open(server: PostgresServer, signal: AbortSignal, givesNumbers: boolean): Promise<Session> {
    const types = { getTypeParser: (type: number) => valuesOf.get(type) ?? String };
    const { client, socket } = await connect(server, signal, { types: types, pipeline: true });
    return new Session(client, socket, server, signal, givesNumbers);
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Whether it leads to a pooler, which may give each transaction to another session; undefined before the first. */
  get isPooled(): boolean | undefined {
    return this.#isPooled;
  }

  get failure(): unknown {
    return this.#failure;
  }

  /** Everything is set for one transaction, so that a pooler may give each to another session. */
  async begin(kind: Kind, lockWait: number): Promise<void> {
    this.#failure = undefined;
    const { schema } = this.#server;
    const isNew = this.#isPooled === undefined;
    const statements = [
      kind === 'read' ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN ISOLATION LEVEL READ COMMITTED',
      ...(isNew ? ['SELECT pg_backend_pid() AS pid'] : []),
      spokenIn(schema),
      `SET LOCAL lock_timeout TO ${Math.ceil(lockWait)}`,
      `SET LOCAL statement_timeout TO ${limits.postgresStatement}`,
      `SET LOCAL idle_in_transaction_session_timeout TO ${limits.postgresStatement}`,
      ...(kind === 'writeWithoutSync' ? ['SET LOCAL synchronous_commit TO off'] : []),
      ...(kind === 'write' ? [confirmedOnDisk] : []),
      ...(kind === 'read'
        ? []
        : [`SELECT pg_advisory_xact_lock(hashtextextended('vendor-mirror writes ${schema}', 0))`]),
      ...(kind === 'read' || !this.#givesNumbers ? [] : ['SELECT _note_server() AS server']),
    ];
    const answers = (await this.#query(statements.join('; '))) as unknown as readonly QueryResult<object>[];
    // A pooler names its own sessions to its clients.
    if (isNew) this.#isPooled = (answers[1]?.rows[0] as { pid: number } | undefined)?.pid !== processIdOf(this.#client);
    const [noted] = answers.at(-1)?.rows ?? [];
    if (noted && 'server' in noted && noted.server !== this.history.server) this.history = noted;
  }

  async commit(): Promise<void> {
    const warned = this.#warnings.length;
    await this.#query('COMMIT');
    const [warning] = this.#warnings.splice(warned);
    if (warning !== undefined) throw withoutStandby(this.#server, warning);
  }

  /** Undoes the transaction. @returns whether the session can be used again. */
  rolledBack(): Promise<boolean> {
    return this.#query('ROLLBACK').then(
      () => true,
      () => false,
    );
  }

  async send(name: string | undefined, text: string, values: readonly unknown[]): Promise<Answer> {
    const answer = await this.#query(text, this.#isPooled === false ? name : undefined, values);
    return { rows: answer.rows, changed: answer.rowCount ?? 0 };
  }

  recovered(): unknown {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** Ends the connection, without waiting for the server. */
  close(): void {
    this.#isGone = true;
    void this.#client.end().catch(() => undefined);
    this.#socket.destroySoon();
    this.#socket.unref();
  }

  /** What is asked before anything else can happen is written at once: otherwise writing costs more than all else about a statement. */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    const { stream } = (this.#client as unknown as { readonly connection: Gathering }).connection;
    stream.cork();
    process.nextTick(() => {
      this.#isGathering = false;
      stream.uncork();
    });
  }

  async #query(text: string, name?: string, values?: readonly unknown[]) {
    this.#gather();
    try {
      const bound = values === undefined || (values.length === 0 && name === undefined) ? {} : { values: [...values] };
      return await this.#client.query<object>({ text, ...(name !== undefined && { name }), ...bound });
    } catch (error) {
      const known = catalogued(this.#server, error, this.#signal);
      if (!isOfStatement(error)) this.#isGone = true;
      this.#failure ??= known;
      throw known;
    }
  }
}

interface Gathering {
  readonly stream: { cork(): void; uncork(): void };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Whether a statement failed, and the session goes on: class 57 and 08 end it; and a server that only reads may have another beside it. */
function isOfStatement(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(codeOf(error)) && !/^(08|57P|25006)/.test(codeOf(error));
}

function catalogued(server: PostgresServer, error: unknown, signal: AbortSignal): unknown {
  const known = ofServer(server, error, signal);
  if (!(known instanceof MirrorError)) return known;
  const { to, schema } = server;
  if (codeOf(error) === lockTimedOut)
    return new MirrorError(
      'database_locked',
      `Another program writes to ${to.name}, schema ${schema}, and does not end.`,
    );
  return /^2[23]/.test(codeOf(error)) ? new RefusedValue('postgres_tables', known.message) : known;
}

const lockTimedOut = '55P03';
