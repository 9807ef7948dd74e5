/**
 * The processes that use a mirror in PostgreSQL. Each says every ten seconds that it is there, by the clock of the server; one that has been
 * silent for thirty counts as gone. That is for manners, and never for what is true: a process that only hung, and goes on, takes numbers as
 * all others do.
 */
import { sql } from 'kysely';
import { hostname } from 'node:os';
import { parseInstant, sleep, sleptThrough, type Clock, type Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { ProcessesThere, ProcessLock } from '../files/locks.ts';
import { shortLockWait } from '../sql/database.ts';
import { statement, type Connection, type None, type Statement } from '../sql/statement.ts';
import type { PostgresDatabase } from './database.ts';

interface Seen {
  readonly name: string;
  readonly host: string;
  readonly is_daemon: number;
  readonly started_at: string;
  /** Whether it was renewed of late. */
  readonly is_there: number;
}

interface ProcessOptions {
  readonly database: PostgresDatabase;
  readonly clock: Clock;
  readonly random: Pick<Random, 'bytes'>;
  readonly program: string;
  /** Another process has become the daemon: this one must end. */
  readonly onSuperseded?: ((error: MirrorError) => void) | undefined;
}

const silence = sql`CAST(${`${limits.processSilence / 1_000} seconds`} AS interval)`;

/** All that are known, those that are gone too. */
const allSeen = (db: Connection): Statement<None, Seen> =>
  statement<None, Seen>(
    db,
    () => sql`
      SELECT name, host, is_daemon, started_at, renewed_at > clock_timestamp() - ${silence} AS is_there FROM _processes
      ORDER BY name`,
  );

/** Those that use the mirror now, for who only reads it. Runs inside a transaction. */
export async function processesThere(db: Connection): Promise<ProcessesThere> {
  const there = (await allSeen(db).all({})).filter(({ is_there }) => is_there === 1);
  const names = new Set(there.map(({ name }) => name));
  const daemon = there.find(({ is_daemon }) => is_daemon === 1);
  return { daemonSince: daemon && parseInstant(daemon.started_at), isAlive: (name) => names.has(name) };
}

/** A daemon that waits for its turn. */
export interface Standby {
  readonly signal: AbortSignal;
  /** Called once, with the machine of the other daemon. */
  readonly onWait: (host: string) => void;
}

export class PostgresProcess implements ProcessLock {
  readonly name: string;
  readonly #options: ProcessOptions;
  readonly #closing = new AbortController();
  readonly #renew: Statement<{ name: string; host: string; program: string; is_daemon: number }>;
  readonly #all: Statement<None, Seen>;
  readonly #remove: Statement<{ name: string }>;
  readonly #removeOld: Statement<None>;
  /** Those that were there at the last look, and those that it was to look for. */
  #alive: ReadonlySet<string> = new Set();
  #looked: ReadonlySet<string> = new Set();
  readonly #asked = new Set<string>();
  #isDaemon = false;
  #renewing: Promise<void> | undefined;

  constructor(options: ProcessOptions) {
    const { database, random } = options;
    const { connection: db } = database;
    this.name = Buffer.from(random.bytes(16)).toString('hex');
    this.#options = options;
    this.#renew = statement(
      db,
      (at) => sql`
        INSERT INTO _processes (name, host, program, is_daemon, started_at, renewed_at)
        VALUES (${at('name')}, ${at('host')}, ${at('program')}, ${at('is_daemon')}, clock_timestamp(), clock_timestamp())
        ON CONFLICT (name) DO UPDATE SET renewed_at = clock_timestamp(), is_daemon = excluded.is_daemon`,
    );
    this.#all = allSeen(db);
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

  /**
   * Makes this process the daemon.
   * @param standby waits while another one is there, and takes over from it
   * @throws MirrorError `already_running` where another one is, and nobody waits; the reason of the signal.
   */
  async beDaemon(standby?: Standby): Promise<void> {
    const { database, clock } = this.#options;
    for (let isTold = false; ; isTold = true) {
      const other = await database.write(() => this.#otherOrDaemon());
      if (!other) return;
      if (!standby) throw new MirrorError('already_running', `A daemon on ${other.host} works on ${database.path}.`);
      if (!isTold) standby.onWait(other.host);
      while (await database.read(() => this.#otherDaemon())) await sleep(clock, limits.standbyLooks, standby.signal);
    }
  }

  isAlive(name: string): boolean {
    if (name === this.name || this.#alive.has(name)) return true;
    // It may have begun since the last look.
    if (this.#looked.has(name)) return false;
    this.#asked.add(name);
    return true;
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
    const { clock, onSuperseded } = this.#options;
    while (await sleptThrough(clock, limits.processRenewed, this.#closing.signal)) {
      try {
        const other = await this.#say();
        if (this.#isDaemon && other)
          onSuperseded?.(new MirrorError('already_running', `A daemon on ${other.host} has taken over.`));
      } catch {
        // What needs the server says what is wrong.
      }
    }
  }

  async #otherOrDaemon(): Promise<Seen | undefined> {
    const other = await this.#otherDaemon();
    if (other) return other;
    this.#isDaemon = true;
    this.#renew.send(this.#row());
    return undefined;
  }

  /** @returns another daemon that is there. */
  #say(): Promise<Seen | undefined> {
    return this.#options.database.write(async () => {
      this.#renew.send(this.#row());
      this.#removeOld.send({});
      const seen = await this.#all.all({});
      this.#note(seen);
      return this.#daemonAmong(seen);
    });
  }

  async #otherDaemon(): Promise<Seen | undefined> {
    return this.#daemonAmong(await this.#all.all({}));
  }

  #daemonAmong(seen: readonly Seen[]): Seen | undefined {
    return seen.find(({ name, is_daemon, is_there }) => name !== this.name && is_daemon === 1 && is_there === 1);
  }

  #note(seen: readonly Seen[]): void {
    this.#alive = new Set(seen.filter(({ is_there }) => is_there === 1).map(({ name }) => name));
    this.#looked = new Set(this.#asked);
  }

  #row() {
    return { name: this.name, host: hostname(), program: this.#options.program, is_daemon: Number(this.#isDaemon) };
  }
}
