/**
 * The processes that use a mirror in PostgreSQL. Each says every ten seconds that it is there, by the clock of the server; one that has been
 * silent for thirty counts as gone. One of the daemons works. That is for manners, and never for what is true: one that only hung, and goes
 * on, takes numbers as all others do, until it notices that another has taken over.
 */
import { sql } from 'kysely';
import { hostname } from 'node:os';
import { parseInstant, sleep, sleptThrough, type Clock, type Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { ProcessLock, ProcessesThere, Roles, ServingProcess, Work } from '../../domain/processes.ts';
import { shortLockWait } from '../sql/database.ts';
import { statement, type Connection, type None, type Statement } from '../sql/statement.ts';
import type { PostgresDatabase } from './database.ts';

interface Seen {
  readonly name: string;
  readonly host: string;
  readonly program: string;
  readonly is_daemon: number;
  readonly listens: number;
  readonly may_work: number;
  readonly started_at: string;
  /** Whether it was renewed of late. */
  readonly is_there: number;
}

interface ProcessOptions {
  readonly database: PostgresDatabase;
  readonly clock: Clock;
  readonly random: Pick<Random, 'bytes'>;
  readonly program: string;
}

const silence = sql`CAST(${`${limits.processSilence / 1_000} seconds`} AS interval)`;

const isThere = sql`renewed_at > clock_timestamp() - ${silence}`;

/** All that are known, those that are gone too. */
const allSeen = (db: Connection): Statement<None, Seen> =>
  statement<None, Seen>(
    db,
    () => sql`
      SELECT name, host, program, is_daemon, listens, may_work, started_at,
        ${isThere} AS is_there
      FROM _processes ORDER BY started_at, name`,
  );

/** Those that use the mirror now, for who only reads it. Runs inside a transaction. */
export async function processesThere(db: Connection): Promise<ProcessesThere> {
  const there = (await allSeen(db).all({})).filter(({ is_there }) => is_there === 1);
  const names = new Set(there.map(({ name }) => name));
  const serving = there.filter(isServing);
  const [daemon] = [...serving.filter(({ is_daemon }) => is_daemon === 1), ...serving];
  return {
    daemonSince: daemon && parseInstant(daemon.started_at),
    isAlive: (name) => names.has(name),
    serving: serving.map(asServing),
  };
}

function isServing({ is_there, is_daemon, listens, may_work }: Seen): boolean {
  return is_there === 1 && is_daemon + listens + may_work > 0;
}

function asServing({ host, program, is_daemon, listens, may_work, started_at }: Seen): ServingProcess {
  return {
    ...{ host, version: program, since: started_at },
    ...{ works: is_daemon === 1, listens: listens === 1, may_work: may_work === 1 },
  };
}

/** A daemon that waits for its turn. */
export interface Standby {
  readonly signal: AbortSignal;
  /** Called once, with the machine of the other daemon. */
  readonly onWait: (host: string) => void;
  /** Called where another one has taken over, with its machine: this one was silent for too long. */
  readonly onSuperseded: (host: string) => void;
}

export class PostgresProcess implements ProcessLock {
  readonly name: string;
  readonly #options: ProcessOptions;
  readonly #closing = new AbortController();
  readonly #renew: Statement<Omit<Seen, 'started_at' | 'is_there'>>;
  readonly #all: Statement<None, Seen>;
  readonly #isThere: Statement<{ name: string }, { is_there: number }>;
  readonly #remove: Statement<{ name: string }>;
  readonly #removeOld: Statement<None>;
  #roles = { listens: 0, may_work: 0 };
  #isDaemon = false;
  #onSuperseded: Standby['onSuperseded'] | undefined;
  /** The machine of another daemon that worked at the last look. */
  #worker: string | null = null;
  #renewing: Promise<void> | undefined;

  constructor(options: ProcessOptions) {
    const { database, random } = options;
    const { connection: db } = database;
    this.name = Buffer.from(random.bytes(16)).toString('hex');
    this.#options = options;
    this.#renew = statement(
      db,
      (at) => sql`
        INSERT INTO _processes (name, host, program, is_daemon, listens, may_work, started_at, renewed_at)
        VALUES (${at('name')}, ${at('host')}, ${at('program')}, ${at('is_daemon')}, ${at('listens')}, ${at('may_work')},
          clock_timestamp(), clock_timestamp())
        ON CONFLICT (name) DO UPDATE SET renewed_at = clock_timestamp(), is_daemon = excluded.is_daemon,
          listens = excluded.listens, may_work = excluded.may_work`,
    );
    this.#all = allSeen(db);
    this.#isThere = statement(
      db,
      (at) => sql`SELECT ${isThere} AS is_there FROM _processes WHERE name = ${at('name')}`,
    );
    this.#remove = statement(db, (at) => sql`DELETE FROM _processes WHERE name = ${at('name')}`);
    this.#removeOld = statement(
      db,
      () => sql`DELETE FROM _processes WHERE renewed_at < clock_timestamp() - 10 * ${silence}`,
    );
  }

  /** Says that this process is there, and goes on saying so. */
  async start(): Promise<void> {
    await this.#say();
    this.#renewing = this.#repeat();
  }

  /** Says what this process does as a daemon. */
  async serve({ listens, mayWork }: Roles): Promise<void> {
    this.#roles = { listens: Number(listens), may_work: Number(mayWork) };
    await this.#say();
  }

  /** Whether this process works, and on which machine work is done, as it was at the last look. */
  get work(): Work {
    return { isHere: this.#isDaemon, host: this.#isDaemon ? hostname() : this.#worker };
  }

  /**
   * Makes this process the daemon that works.
   * @param standby waits while another one is there, and takes over from it
   * @throws MirrorError `already_running` where another one is, and nobody waits; the reason of the signal.
   */
  async beDaemon(standby?: Standby): Promise<void> {
    const { database, clock } = this.#options;
    for (let isTold = false; ; isTold = true) {
      const other = await database.write(() => this.#otherOrDaemon());
      if (!other) {
        this.#isDaemon = true;
        this.#worker = null;
        this.#onSuperseded = standby?.onSuperseded;
        return;
      }
      this.#worker = other.host;
      if (!standby) throw new MirrorError('already_running', `A daemon on ${other.host} works on ${database.path}.`);
      if (!isTold) standby.onWait(other.host);
      while (await database.read(() => this.#otherDaemon())) await sleep(clock, limits.standbyLooks, standby.signal);
    }
  }

  /** Another one may work from now on. */
  async endDaemon(): Promise<void> {
    if (!this.#isDaemon) return;
    this.#isDaemon = false;
    await this.#options.database.write(() => this.#renew.send(this.#row()), shortLockWait);
  }

  /** Those that serve the mirror now. */
  async serving(): Promise<readonly ServingProcess[]> {
    const { database } = this.#options;
    return (await database.readOne(() => processesThere(database.connection))).serving ?? [];
  }

  /** Whether that process uses this mirror now. */
  async isThere(name: string): Promise<boolean> {
    return this.#options.database.readOne(() => this.isAlive(name));
  }

  async isAlive(name: string): Promise<boolean> {
    return name === this.name || (await this.#isThere.get({ name }))?.is_there === 1;
  }

  release(): void {
    this.#closing.abort();
  }

  /** This process is there no longer. */
  async stop(): Promise<void> {
    this.#closing.abort();
    await this.#renewing;
    await this.#options.database
      .write(() => this.#remove.send({ name: this.name }), shortLockWait)
      .catch(() => undefined);
  }

  async #repeat(): Promise<void> {
    const { clock } = this.#options;
    while (await sleptThrough(clock, limits.processRenewed, this.#closing.signal)) {
      // What needs the server says what is wrong.
      await this.#say().catch(() => undefined);
    }
  }

  async #otherOrDaemon(): Promise<Seen | undefined> {
    const other = await this.#otherDaemon();
    if (!other) this.#renew.send({ ...this.#row(), is_daemon: 1 });
    return other;
  }

  /** Says that it is there. Where another one has taken over, this one is the daemon no longer: the other need not make way in turn. */
  async #say(): Promise<void> {
    const other = await this.#options.database.write(async () => {
      const seen = await this.#all.all({});
      const daemon = this.#daemonAmong(seen);
      this.#renew.send({ ...this.#row(), ...(daemon && { is_daemon: 0 }) });
      this.#removeOld.send({});
      return daemon;
    });
    this.#worker = other?.host ?? null;
    if (!this.#isDaemon || !other) return;
    this.#isDaemon = false;
    this.#onSuperseded?.(other.host);
  }

  async #otherDaemon(): Promise<Seen | undefined> {
    return this.#daemonAmong(await this.#all.all({}));
  }

  #daemonAmong(seen: readonly Seen[]): Seen | undefined {
    return seen.find(({ name, is_daemon, is_there }) => name !== this.name && is_daemon === 1 && is_there === 1);
  }

  #row() {
    const { program } = this.#options;
    return { name: this.name, host: hostname(), program, is_daemon: Number(this.#isDaemon), ...this.#roles };
  }
}
